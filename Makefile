# Needs Python 3.11 or newer and nothing else: everything is installed into .venv (VENV=... for another place).
#   make demo         install gode and watch it at work
#   make test         format, lint, types, tests
#   make test-slow    the tests that take more than two seconds each
#   make test-bounds  the fast tests, with compiled code that checks the bounds of its arrays
#   make test-torch   types and tests of what needs torch, which is installed
#   make test-wheel   build a wheel, run the demo from it (PYTHONS="/path/to/python3.13 ..." to choose)
#   make results      repeat every table of results (QUICK=1: a small part of each; DATA=DIR: measured records)
#   make docs         build the pages into docs/_build/html
PYTHON ?= python3
PYTHONS ?=
VENV ?= .venv

BIN := $(VENV)/bin
# All targets take the newest versions: types are checked against those with which the demo runs.
# Python compiles what it imports, which is far less than what pip would compile.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile \
  --upgrade --upgrade-strategy eager
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest

QUICK ?=
DATA ?=

# Compiled bytecode is kept, whatever the machine sets: the tests start hundreds of processes.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo docs results test test-slow test-bounds test-torch test-wheel lint format coverage clean clean-cache

demo: $(VENV)/.installed
	@$(BIN)/gode demo

docs: $(VENV)/.installed-docs
	@$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

test: lint
	@echo "Running the tests ..."
	@$(PYTEST) -m "not slow" -n 2 --dist worksteal

test-slow: $(VENV)/.installed-dev
	@echo "Running the slow tests ..."
	@$(PYTEST) -m slow -n 2 --dist worksteal

# Code that writes outside an array ends a process only sometimes. The cache of such code is one of its own.
test-bounds: export NUMBA_BOUNDSCHECK := 1
test-bounds: export NUMBA_CACHE_DIR := $(abspath $(VENV))/bounds
test-bounds: $(VENV)/.installed-dev
	@echo "Running the tests with bounds that are checked ..."
	@$(PYTEST) -m "not slow" -n 2 --dist worksteal --ignore tests/test_numba_cache.py

test-torch: $(VENV)/.installed-torch
	@echo "Checking types, running the tests that need torch ..."
	@$(BIN)/mypy $$(grep -rlE --include='*.py' '^(import|from) torch' src)
	@$(PYTEST) -m torch -n 2 $$(grep -rlE --include='test_*.py' 'mark\.torch' tests)

results: $(VENV)/.installed-dev
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m gode_bench.results $(if $(QUICK),--quick) $(if $(DATA),--data $(DATA))

test-wheel:
	@$(PYTHON) scripts/try_wheel.py $(PYTHONS)

lint: $(VENV)/.installed-dev
	@echo "Checking format, lint and types ..."
	@$(BIN)/ruff format --check
	@$(BIN)/ruff check
	@$(BIN)/mypy

format: $(VENV)/.installed-dev
	@$(BIN)/ruff check --fix-only
	@$(BIN)/ruff format

coverage: $(VENV)/.installed-dev
	@$(BIN)/python -m pytest --cov

clean-cache: # of compiled kernels
	find src -name '*.nb[ic]' -delete

clean: clean-cache
	rm -rf $(VENV) docs/_build build dist .coverage htmlcov .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

# One stamp per set of extras, all of which hold the first; renewed when pyproject.toml or the rules here change.
$(VENV)/.installed: EXTRAS :=
$(VENV)/.installed-dev: EXTRAS := [dev]
$(VENV)/.installed-torch: EXTRAS := [test,train]
$(VENV)/.installed-docs: EXTRAS := [docs]
# The tests run the benchmarks, too, which are a package of their own.
$(VENV)/.installed-dev $(VENV)/.installed-torch: BENCH := --editable ./benchmarks

$(addprefix $(VENV)/,.installed .installed-dev .installed-torch .installed-docs): pyproject.toml benchmarks/pyproject.toml Makefile
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "gode needs Python 3.11 or newer; name one with: make PYTHON=python3.12 ..."; exit 1; }
	@echo "Installing gode$(EXTRAS) into $(VENV), which takes a minute or two the first time ..."
	@test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV)
	@$(INSTALL) --editable '.$(EXTRAS)' $(BENCH)
	@touch $(VENV)/.installed $@

# Needs Python 3.11 or newer and nothing else: everything is installed into .venv.
#   make demo        install gode and watch it at work
#   make docs        build the pages into docs/_build/html
#   make test        format, lint, types, tests (TORCH=1 installs torch too)
PYTHON ?= python3
TORCH ?= 0

VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# The last numba with the small llvmlite, 42 MB instead of 60, for those who only want to look.
SMALL := 'numba<0.62; python_version < "3.14"'
DEV := $(if $(filter 1,$(TORCH)),dev-torch,dev)

.PHONY: demo docs test test-slow lint format coverage train-env clean clean-cache

demo: $(VENV)/.installed
	@$(BIN)/gode demo

docs: $(VENV)/.installed-docs
	@$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

test: lint
	@echo "Running the tests ..."
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -m "not slow" -n 2

test-slow: $(VENV)/.installed-$(DEV)
	@$(BIN)/python -m pytest -m slow

lint: $(VENV)/.installed-$(DEV)
	@echo "Checking format, lint and types ..."
	@$(BIN)/ruff format --check
	@$(BIN)/ruff check
	@$(BIN)/mypy

format: $(VENV)/.installed-$(DEV)
	@$(BIN)/ruff check --fix-only
	@$(BIN)/ruff format

coverage: $(VENV)/.installed-$(DEV)
	@$(BIN)/python -m pytest --cov

train-env: $(VENV)/.installed-train

clean-cache: # compiled kernels that are called by others keep their old form otherwise
	find src -name '*.nb[ic]' -delete

clean: clean-cache
	rm -rf $(VENV) docs/_build build dist .coverage htmlcov .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

# One stamp per set of extras; each is renewed when pyproject.toml changes.
$(VENV)/.installed: EXTRAS :=
$(VENV)/.installed-dev: EXTRAS := [dev]
$(VENV)/.installed-dev-torch: EXTRAS := [dev,train]
$(VENV)/.installed-train: EXTRAS := [train]
$(VENV)/.installed-docs: EXTRAS := [docs]

$(VENV)/.installed $(VENV)/.installed-dev $(VENV)/.installed-dev-torch $(VENV)/.installed-train $(VENV)/.installed-docs: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "gode needs Python 3.11 or newer; name one with: make PYTHON=python3.12 ..."; exit 1; }
	@echo "Installing gode$(EXTRAS) into $(VENV), which takes a minute or two the first time ..."
	@test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV)
	@$(INSTALL) --editable '.$(EXTRAS)' $(if $(EXTRAS),,$(SMALL))
	@touch $@

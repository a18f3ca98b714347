import os
import subprocess
import sys

import pytest

from gode.cli.running import STAGES, _ProgressLines, compiling_ahead
from gode.discovery import Step
from gode.equation import parse_equation
from gode.search.archive import Stage
from gode.search.workers import cores
from gode.solve.explicit import solve_explicit
from gode.solve.implicit import solve_implicit
from gode.solve.solution import compile_solvers, solve


def test_what_is_compiled_ahead_is_what_every_solution_uses():
    """One compiled form for all: with inputs, sensitivities, either order; doses and delays have another."""
    compile_solvers()
    before = [list(kernel.overloads) for kernel in (solve_explicit, solve_implicit)]
    t = [0.0, 0.5, 1.0]
    for text, start in (("u'' + u = F", [1.0, 0.0]), ("u'^3 + u' + u = F", [1.0]), ("u' = 2*u", [1.0])):
        solve(
            parse_equation(text, inputs=("F",)), t, start, inputs={"F": [0.0, 1.0, 0.0]}, sensitivities=True
        )
    assert [list(kernel.overloads) for kernel in (solve_explicit, solve_implicit)] == before


def test_nothing_is_compiled_ahead_where_it_is_already(monkeypatch):
    compile_solvers()
    monkeypatch.setattr("subprocess.Popen", None)  # a call would fail
    with compiling_ahead():
        pass


FIRST_RUN = """
import subprocess
from gode.cli.running import compiling_ahead

class Watched(subprocess.Popen):
    seen = []
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.seen.append(self)

subprocess.Popen = Watched
with compiling_ahead():
    (helper,) = Watched.seen
    assert helper.poll() is None
assert helper.poll() is not None
"""


@pytest.mark.skipif(cores() < 2, reason="a single core compiles one thing after the other")
def test_a_first_run_starts_one_process_and_ends_it(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", FIRST_RUN]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_stage_has_words_and_a_system_stands_on_one_line():
    assert set(STAGES) == set(Stage)
    lines = _ProgressLines()
    lines.update(Step(Stage.COUPLING, 3, 2, "x' = y\ny' = -x"))
    assert lines.best == "x' = y; y' = -x"

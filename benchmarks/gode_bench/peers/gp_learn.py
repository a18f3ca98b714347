"""gplearn: genetic programming; constants change by mutation only."""

import re
import warnings

import numpy as np
from gplearn.genetic import SymbolicRegressor

from gode_bench.peers.notation import infix
from gode_bench.peers.peer import PeerTask

FUNCTIONS = ("add", "sub", "mul", "div", "neg", "sin", "cos", "log")
POPULATION = 1000
GENERATIONS = 20


def find(task: PeerTask) -> str:
    """Return the best program; target and columns are scaled, as its constants lie between -1 and 1."""
    size = float(np.std(task.target)) or 1.0
    scales = np.maximum(np.max(np.abs(task.columns), axis=0), 1e-12)
    regressor = SymbolicRegressor(
        population_size=POPULATION,
        generations=GENERATIONS,
        function_set=FUNCTIONS,
        metric="rmse",
        parsimony_coefficient=1e-3,
        n_jobs=1,
        random_state=task.seed,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        regressor.fit(task.columns / scales, task.target / size)
    names = {
        f"X{i}": f"({name}/{scale!r})"
        for i, (name, scale) in enumerate(zip(task.names, scales.tolist(), strict=True))
    }
    right = infix(str(regressor._program))
    right = re.sub(r"\bX\d+\b", lambda found: names[found[0]], right)
    return task.equation(f"{size!r}*({right})")

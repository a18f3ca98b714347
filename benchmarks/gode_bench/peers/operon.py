"""pyoperon: genetic programming with local search; its model is the one of least description length."""

import warnings

import numpy as np
from pyoperon.sklearn import SymbolicRegressor

from gode_bench.peers.peer import PeerTask

SYMBOLS = "add,sub,mul,div,sin,cos,exp,log,constant,variable"
EVALUATIONS = 300_000
DIGITS = 12


def find(task: PeerTask) -> str:
    """Return the model that pyoperon selects from its front of accuracy against length."""
    size = float(np.std(task.target)) or 1.0
    regressor = SymbolicRegressor(
        allowed_symbols=SYMBOLS,
        objectives=["mse", "length"],
        optimizer_iterations=5,
        max_length=30,
        max_evaluations=EVALUATIONS,
        population_size=1000,
        pool_size=1000,
        model_selection_criterion="minimum_description_length",
        uncertainty=[max(task.deviation, 1e-3 * size)],
        n_threads=1,
        random_state=task.seed + 1,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        regressor.fit(task.columns, task.target)
    return task.equation(regressor.get_model_string(regressor.model_, DIGITS, list(task.names)))

"""PySR: symbolic regression in Julia, where it is installed."""

import warnings

from pysr import PySRRegressor

from gode_bench.peers.peer import PeerTask


def find(task: PeerTask) -> str:
    """Return the equation that PySR calls best, after as many iterations as the paper gave it."""
    regressor = PySRRegressor(
        niterations=40,
        binary_operators=["+", "-", "*", "/"],
        unary_operators=["sin", "cos", "exp", "log"],
        model_selection="best",
        parallelism="serial",
        deterministic=True,
        random_state=task.seed,
        progress=False,
        verbosity=0,
        temp_equation_file=True,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        regressor.fit(task.columns, task.target, variable_names=list(task.names))
    return task.equation(str(regressor.get_best()["equation"]))

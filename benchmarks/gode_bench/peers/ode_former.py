"""ODEFormer: a pretrained transformer from trajectories to autonomous equations, where it is installed."""

import re

from odeformer.model import SymbolicTransformerRegressor

from gode.errors import DataError
from gode_bench.peers.peer import PeerTask

SCALAR = re.compile(r"x_0")


def find(task: PeerTask) -> str:
    """Return its first candidate.

    Raises:
        DataError: for a second-order, forced or repeated measurement, which its equations cannot express.
    """
    if task.order != 1 or task.force is not None or task.several:
        raise DataError("ODEFormer writes first-order equations of one trajectory without inputs only")
    transformer = SymbolicTransformerRegressor(from_pretrained=True)
    transformer.set_model_args({"beam_size": 50, "beam_temperature": 0.1})
    candidates = transformer.fit([task.t], [task.u[:, None]])
    best = next((c for c in candidates[0] if c is not None), None)
    if best is None:
        raise DataError("ODEFormer returns no candidate")
    return task.equation(SCALAR.sub("u", str(best.infix()).split("|")[0]))

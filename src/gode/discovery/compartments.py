"""What pharmacologists ask of a linear law with doses: clearance, half-lives, volume.

With x' = A x between doses, an amount D into state d gives state m the area D (-A^-1)_md under its curve. Its
clearance is the dose over that area, its terminal half-life log 2 over the slowest rate of A, and its volume
the clearance over that rate.
"""

import numpy as np

from gode.arrays import Float
from gode.data import Dataset
from gode.data.doses import DOSE
from gode.discovery.constants import STEP
from gode.discovery.natural_forms import ROUNDING
from gode.equation import Law
from gode.equation.skeleton import shown_name
from gode.equation.system import make_law, moving_law
from gode.equation.tape import compile_tape, evaluate
from gode.fitting.population import NORMAL_95
from gode.selection import Candidate


def told_of_doses(best: Candidate, dataset: Dataset) -> list[str]:
    """Return a sentence on clearance, half-life and volume for each measured state of a dosed linear law."""
    law = moving_law(best.equation)
    dosed = {dose.channel for run in dataset.runs for dose in run.doses}
    inputs = {shown_name(name, law.skeleton.called) for name in law.skeleton.inputs}
    plain = set(law.skeleton.orders) == {1} and DOSE not in inputs
    if len(dosed) != 1 or not plain or _matrix(law) is None:
        return []
    into = dosed.pop() // 3
    seen = [s for s in range(len(law.states)) if s not in dataset.hidden and s != into]
    return [sentence for state in seen for sentence in _sentence(best, dataset, into, state)]


def _sentence(best: Candidate, dataset: Dataset, into: int, state: int) -> list[str]:
    values = _quantities(best.equation, into, state)
    if values is None:
        return []
    constants = np.array(best.equation.constants)
    slopes = np.zeros((len(constants), len(values)))
    for i, value in enumerate(constants):
        moved = constants.copy()
        moved[i] += STEP * (abs(value) or 1.0)
        other = _quantities(make_law(best.equation.skeleton, moved), into, state)
        if other is None:
            return []
        slopes[i] = (other - values) / (moved[i] - value)
    with np.errstate(over="ignore", invalid="ignore"):
        errors = np.sqrt(np.maximum(np.einsum("ik,ij,jk->k", slopes, best.covariance, slopes), 0.0))
    if not np.all(np.isfinite(errors)) or np.any(errors > np.abs(values)):
        return []
    shown = best.equation.skeleton.shown_states
    of_whom = " of the mean of all runs" if best.own is not None else ""
    words = [f"{value:.4g} ± {NORMAL_95 * error:.2g}" for value, error in zip(values, errors, strict=True)]
    return [
        f"after a dose into {shown[into]}, {shown[state]}{of_whom} has the clearance {words[0]} (dose over "
        f"the area under its curve), the terminal half-life {words[1]} and the volume {words[2]}"
    ]


def _quantities(law: Law, into: int, state: int) -> Float | None:
    """Return clearance, terminal half-life and volume; None where the law does not decay."""
    a = _matrix(moving_law(law))
    if a is None:
        return None
    rates = -np.linalg.eigvals(a)
    if np.any(rates.real <= 0) or np.any(np.abs(rates.imag) > ROUNDING * np.abs(rates.real)):
        return None
    area = -np.linalg.inv(a)[state, into]
    if not area > 0:
        return None
    slowest = float(rates.real.min())
    return np.array([1 / area, np.log(2) / slowest, 1 / area / slowest])


def _matrix(law: Law) -> Float | None:
    """Return A (d, d) of a law x' = A x, None if it is another."""
    d = len(law.states)
    points = np.vstack([np.zeros(d), np.eye(d), 2 * np.eye(d), np.ones(d), np.full(d, 3.0)]).T
    at_rest, late = _slopes(law, points, 0.0), _slopes(law, points, 1.0)
    if at_rest is None or late is None or not np.allclose(at_rest, late, rtol=ROUNDING, atol=0.0):
        return None
    a = at_rest[:, 1 : d + 1] - at_rest[:, :1]
    size = float(np.abs(a).max()) or 1.0
    linear = np.allclose(at_rest, a @ points, rtol=0.0, atol=ROUNDING * size * 3 * d)
    return a if linear and abs(np.linalg.det(a / size)) > 0 else None


def _slopes(law: Law, points: Float, t: float) -> Float | None:
    """Return the right-hand sides (d, n) at some points (d, n), without inputs; None if not defined."""
    skeleton, rows = law.skeleton, []
    for own, equation in enumerate(law.equations):
        terms = equation.skeleton.rhs_terms
        if terms is None:
            return None
        names = skeleton.seen(own)
        columns = np.zeros((len(names), points.shape[1]))
        columns[0] = t
        columns[1 : 1 + 3 * len(points) : 3] = points
        tape = compile_tape(terms, names, equation.skeleton.n_constants)
        found = evaluate(tape, equation.constants, columns)
        if not found.finite:
            return None
        rows.append(found.value)
    return np.array(rows)

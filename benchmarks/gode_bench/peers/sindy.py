"""PySINDy: sequentially thresholded least squares over polynomials and sines.

The columns are scaled to unit size, so that one list of thresholds serves all problems. Threshold and
library are chosen by the Bayesian information criterion. The variance of the smoother is added to that of the
residuals, and neighbouring residuals count as one: otherwise the largest library always wins.
"""

import warnings
from collections.abc import Iterator, Sequence

import numpy as np
import pysindy as ps

from gode.arrays import Float
from gode.errors import DataError
from gode_bench.peers.notation import product
from gode_bench.peers.peer import PeerTask

THRESHOLDS = tuple(np.geomspace(1e-3, 1.0, 13).tolist())
RIDGE = 0.05
DEPENDENT = 10  # neighbouring residuals of a smooth curve that count as one
DEGREES = (1, 2, 3, 5)
DEGREE_WITH_TIME = 3

Model = tuple[float, str]  # criterion and right-hand side


def find(task: PeerTask) -> str:
    """Return the sparse sum of terms with the best criterion."""
    best: Model = (np.inf, "")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for features, labels in _libraries(task):
            best = min(best, _sparsest(features, labels, task))
    if not best[1]:
        raise DataError("no threshold leaves a term")
    return task.equation(best[1])


def _libraries(task: PeerTask) -> Iterator[tuple[Float, list[str]]]:
    """Yield columns and their names: powers and sines of the state and of time; a force enters linearly."""
    state = [name for name in ("u", "v") if name in task.names]
    for degree in DEGREES:
        powers = ps.PolynomialLibrary(degree=degree)
        yield _with_force(task, state, powers)
        yield _with_force(task, state, powers + ps.FourierLibrary(n_frequencies=1))
    if "t" in task.names:
        powers = ps.PolynomialLibrary(degree=DEGREE_WITH_TIME)
        yield _with_force(task, [*state, "t"], powers)
        yield _with_force(task, [*state, "t"], powers + ps.FourierLibrary(n_frequencies=1))


def _with_force(
    task: PeerTask, names: Sequence[str], library: "ps.feature_library.base.BaseFeatureLibrary"
) -> tuple[Float, list[str]]:
    x = task.columns[:, [task.names.index(name) for name in names]]
    features = np.asarray(library.fit_transform(x))
    labels = list(library.get_feature_names(list(names)))
    if task.force is None:
        return features, labels
    return np.column_stack([features, task.force]), [*labels, "F"]


def _sparsest(features: Float, labels: list[str], task: PeerTask) -> Model:
    """Return the criterion and the text of the best threshold."""
    sizes = np.linalg.norm(features, axis=0) / len(features) ** 0.5
    usable = np.isfinite(sizes) & (sizes > 0)
    scale = float(np.std(task.target)) or 1.0
    scaled, wanted = features[:, usable] / sizes[usable], task.target / scale
    names = [label for label, here in zip(labels, usable, strict=True) if here]
    n, variance = len(wanted) / DEPENDENT, (task.deviation / scale) ** 2 + 1e-12
    best: Model = (np.inf, "")
    for threshold in THRESHOLDS:
        c = np.asarray(ps.STLSQ(threshold=threshold, alpha=RIDGE).fit(scaled, wanted[:, None]).coef_)[0]
        if np.any(c):
            mse = float(np.mean((scaled @ c - wanted) ** 2))
            criterion = n * np.log(mse + variance) + np.count_nonzero(c) * np.log(n)
            best = min(best, (criterion, _text(c * scale / sizes[usable], names)))
    return best


def _text(c: Float, labels: list[str]) -> str:
    terms = zip(c.tolist(), labels, strict=True)
    return " + ".join(f"({value!r})*{product(label)}" for value, label in terms if value != 0)

"""PySINDy: sequentially thresholded least squares over polynomials and waves.

The columns are scaled to unit size, so that one list of thresholds serves all problems; the threshold and the
candidate functions are chosen by the Bayesian information criterion on the smoothed derivative.
"""

import warnings
from collections.abc import Iterator

import numpy as np
import pysindy as ps

from gode.arrays import Float
from gode.benchmarks.peers.notation import product
from gode.benchmarks.peers.task import PeerTask
from gode.errors import DataError

THRESHOLDS = tuple(np.geomspace(1e-3, 1.0, 13).tolist())
RIDGE = 1e-6
MAX_FEATURES = 60
DEGREES = (5, 4, 3, 2)


def find(task: PeerTask) -> str:
    """Return the sparse sum of terms with the best criterion."""
    best = (np.inf, "")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for names, library in _libraries(task):
            x = task.columns[:, [task.names.index(name) for name in names]]
            features = np.asarray(library.fit_transform(x))
            labels = library.get_feature_names(list(names))
            best = min(best, _sparsest(features, labels, task.target))
    if not best[1]:
        raise DataError("no threshold leaves a term")
    return task.equation(best[1])


def _libraries(
    task: PeerTask,
) -> Iterator[tuple[tuple[str, ...], "ps.feature_library.base.BaseFeatureLibrary"]]:
    """Yield libraries in the state alone and with time: polynomials as high as stays small, and waves."""
    state = tuple(name for name in task.names if name != "t")
    for names in dict.fromkeys((state, task.names)):
        degree = next(d for d in DEGREES if _n_monomials(len(names), d) <= MAX_FEATURES)
        polynomials = ps.PolynomialLibrary(degree=degree)
        yield names, polynomials
        yield names, polynomials + ps.FourierLibrary(n_frequencies=1)


def _n_monomials(n: int, degree: int) -> int:
    count = 1
    for i in range(1, n + 1):
        count = count * (degree + i) // i
    return count


def _sparsest(features: Float, labels: list[str], target: Float) -> tuple[float, str]:
    """Return the criterion and the text of the best threshold."""
    sizes = np.linalg.norm(features, axis=0) / len(target) ** 0.5
    usable = np.isfinite(sizes) & (sizes > 0)
    scale = float(np.std(target)) or 1.0
    scaled, wanted = features[:, usable] / sizes[usable], target / scale
    names = [label for label, here in zip(labels, usable, strict=True) if here]
    best = (np.inf, "")
    for threshold in THRESHOLDS:
        optimizer = ps.STLSQ(threshold=threshold, alpha=RIDGE)
        c = np.asarray(optimizer.fit(scaled, wanted[:, None]).coef_)[0]
        if not np.any(c):
            continue
        sse = float(np.sum((scaled @ c - wanted) ** 2))
        n = len(target)
        criterion = n * np.log(sse / n + 1e-12) + np.count_nonzero(c) * np.log(n)
        best = min(best, (criterion, _text(c * scale / sizes[usable], names)))
    return best


def _text(c: Float, labels: list[str]) -> str:
    terms = zip(c.tolist(), labels, strict=True)
    return " + ".join(f"({value!r})*{product(label)}" for value, label in terms if value != 0)

"""What was held back of the end of each run: how well a law foretells it, and laws ranked by that."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gode.arrays import Float
from gode.data.columns import channel_names
from gode.data.noise import NoiseKind
from gode.discovery.simulate import Scenario, simulate
from gode.fitting.noise import noise_models
from gode.fitting.prepare import Prepared
from gode.selection import Candidate

# A law is off if its rms residual exceeds both this multiple of the noise and this fraction of the standard
# deviation, in a fit as in a test; set by hand so that fits that look right by eye pass.
POOR_MISFIT = 2.0
POOR_FRACTION = 0.05


@dataclass(frozen=True)
class Forecast:
    """How far a law is off on what was held back."""

    misfit: float  # root mean square over the noise; infinite where the law has no solution
    fraction: float  # root mean square over the spread of the data
    n: int

    @property
    def is_failed(self) -> bool:
        """Whether the law does not foretell what was held back."""
        return self.misfit > POOR_MISFIT and self.fraction > POOR_FRACTION

    @property
    def words(self) -> str:
        """The result in a sentence."""
        seen = f"{self.n} values at the end that were held back from the fit"
        if not np.isfinite(self.misfit):
            return f"It has no solution along the {seen}: it fails this test."
        verdict = "fails" if self.is_failed else "passes"
        return f"On the {seen}, it is off by {self.misfit:.2g} times the noise: it {verdict} this test."


def forecast_of(candidate: Candidate, prepared: Prepared, noise: Float) -> Forecast | None:
    """Return how far a law is off on what was held back; None where nothing was.

    Args:
        noise: (3 d,) standard deviation of each channel.
    """
    if not prepared.dataset.held:
        return None
    squares = _squares(candidate, prepared, noise)
    parts = np.hstack([run.observed for run in prepared.dataset.runs])
    spread = [float(np.std(row[np.isfinite(row)])) if np.isfinite(row).any() else 1.0 for row in parts]
    rest = _squares(candidate, prepared, np.array([each or 1.0 for each in spread]))
    return Forecast(float(np.sqrt(np.mean(squares))), float(np.sqrt(np.mean(rest))), len(squares))


def best_foretold_first(order: Sequence[Candidate], prepared: Prepared) -> list[Candidate]:
    """Return laws by how well they foretell what was held back.

    Those that do as well as the best within one standard error of the difference come first, in the order
    that they have, which is that of the criterion; the others follow by their errors. The standard error is
    that of the paired differences of squared residuals (Breiman and others, 1984, for trees).
    """
    squares = [_squares(c, prepared, prepared.noise) for c in order]
    errors = [float(np.mean(each)) for each in squares]
    best = squares[int(np.argmin(errors))]
    if not np.isfinite(best).all():
        return list(order)
    near = [bool(_as_good(each, best)) for each in squares]
    others = sorted((i for i, as_good in enumerate(near) if not as_good), key=lambda i: errors[i])
    return [c for c, as_good in zip(order, near, strict=True) if as_good] + [order[i] for i in others]


def remark_on_ranking(first: Candidate, by_criterion: Candidate) -> list[str]:
    """Return a sentence where another law than that of the criterion foretells better what was held back."""
    if first.equation.skeleton.structure == by_criterion.equation.skeleton.structure:
        return []
    other = "; ".join(by_criterion.equation.lines(4))
    return [
        f"laws are ranked by what was held back, which this one foretells better than {other}, the law with "
        "the least criterion on the rest"
    ]


def _as_good(squares: Float, best: Float) -> bool:
    if not np.isfinite(squares).all():
        return False
    more = squares - best
    return bool(np.mean(more) <= np.std(more) / np.sqrt(len(more)))


def _squares(candidate: Candidate, prepared: Prepared, noise: Float) -> Float:
    """Return the squared residuals over the noise of all that was held back; infinite without a solution."""
    dataset = prepared.dataset
    whole = replace(prepared, dataset=dataset.with_held())
    parts = []
    for i, rest in enumerate(dataset.held):
        values = simulate(candidate, whole, Scenario(rest.t, run=i)).values
        sigma = noise[:, None] * _relative_noise(prepared, i, values)
        with np.errstate(over="ignore", invalid="ignore"):
            found = ((rest.observed - values) / sigma) ** 2
        found = np.where(np.isfinite(values), found, np.inf)
        parts.append(found[np.isfinite(rest.observed)])
    return np.concatenate(parts)


def _relative_noise(prepared: Prepared, number: int, values: Float) -> Float:
    """Return the noise (channels, n) where a run was held back, over that of its channel.

    It follows from standard errors that were given, or from how the noise grows with the value.
    """
    whole, rest = prepared.whole, prepared.dataset.held[number]
    out = np.ones(values.shape)
    models = noise_models(whole.dataset, prepared.smooths)
    for i, name in enumerate(channel_names(prepared.dataset.states)):
        if rest.sd is not None and np.isfinite(rest.sd[i]).any() and whole.profiles:
            ratios = whole.profiles[number][i] / whole.dataset.runs[number].sd[i]  # type: ignore[index]
            out[i] = np.nanmedian(ratios) * rest.sd[i]
        elif name in models and models[name].kind is not NoiseKind.ADDITIVE:
            out[i] = models[name].sigma(values[i]) / prepared.noise[i]
    return out

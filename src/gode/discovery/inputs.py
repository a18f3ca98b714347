"""Whether an input that changes at every sample is held between its samples, as the data decide.

The samples alone do not distinguish the output of a controller from a rough signal, but the response does: a
held input acts half a step later. Simple models are fitted to the trajectory with the input held and with a
spline; if holding it fits clearly better, it is held. One model has two lags even where a first-order
equation is sought, as a missing lag would look like half a step.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from gode.data import Dataset, Interpolation, Samples
from gode.equation import LawSkeleton, Skeleton, parse_skeleton
from gode.fitting import fit_constants
from gode.fitting.covariance import CERTAIN
from gode.fitting.population import own_places
from gode.fitting.prepare import Prepared, assemble, inputs_seen, view
from gode.fitting.target import condensed
from gode.fitting.trajectory_fit import Shot, shoot
from gode.search.settings import Settings

LAGS = "u'' = C + C*u' + C*u + {C*F}"
PLAIN = {  # by order: models that follow most plants closely enough to see half a step; F is all that is seen
    1: ("u' = C + C*u + {C*F}", "u' = C + C*u + C*u^2 + C*u^3 + {C*F} + {C*u*F}", LAGS),
    2: (LAGS, "u'' = C + C*u' + C*u + C*u^2 + C*u^3 + {C*F}"),
}
ROUGH = 0.3  # An input is rough if a spline through every second sample errs by this share of its changes.
WORDS = {
    Interpolation.HOLD: "is held between its samples",
    Interpolation.LINEAR: "is joined by lines between its samples",
    Interpolation.CUBIC: "is joined by a cubic spline between its samples",
}


def with_held_input(
    prepared: Prepared,
    settings: Settings,
    given: LawSkeleton | None = None,
    late: Callable[[Dataset], Dataset] = lambda dataset: dataset,
) -> Prepared:
    """Return the data with the input held, if that was not specified and fits clearly better.

    Args:
        given: a law whose equations are tried besides the simple ones.
        late: makes the inputs as late as they act.
    """
    samples = list(_samples(prepared.dataset))
    if not samples or not all(_is_open(each) for each in samples):
        return prepared
    runs = tuple(replace(run, interpolation=Interpolation.HOLD) for run in prepared.dataset.runs)
    dataset = replace(prepared.dataset, runs=runs)
    tried = (_closest(late(each), prepared, settings, given) for each in (prepared.dataset, dataset))
    spline, steps = tried
    gains = [_gain(*pair) for pair in zip(spline, steps, strict=True)]
    if None in gains or sum(gain for gain in gains if gain) < CERTAIN**2:  # that an input is held
        return prepared
    floor, individual = settings.selection.floor, bool(settings.individual)
    return assemble(
        dataset, condensed(dataset), prepared.smooths, settings.order, floor, individual=individual
    )


def input_words(dataset: Dataset, settings: Settings) -> list[str]:
    """Return a sentence on the interpolation of the input and its reason; none without samples."""
    samples = list(_samples(dataset))
    if not samples:
        return []
    kinds = {each.resolved for each in samples}
    if len(kinds) > 1:
        return ["The input is held between its samples in the runs in which it changes by single jumps."]
    (kind,) = kinds
    why = ""
    if settings.interpolation != Interpolation.AUTO:
        why = ", as you chose"
    elif kind is Interpolation.HOLD and samples[0].interpolation is Interpolation.AUTO:
        why = ", since it changes by single jumps"
    elif kind is Interpolation.HOLD:
        why = ", since that explains the data much better than a spline"
    elif all(_is_open(each) for each in samples):
        why = (
            ", though it changes at every sample: held, it explains the data no better (hold says otherwise)"
        )
    return [f"The input {WORDS[kind]}{why}."]


def _samples(dataset: Dataset) -> Iterator[Samples]:
    for run in dataset.runs:
        for signal in run.signals.values():
            if isinstance(signal, Samples) and np.ptp(signal.values) > 0:
                yield signal


def _is_open(samples: Samples) -> bool:
    """Tell whether the interpolation is open and samples cannot be predicted from their neighbours."""
    if samples.interpolation is not Interpolation.AUTO or samples.resolved is Interpolation.HOLD:
        return False
    from scipy.interpolate import CubicSpline

    t, y = samples.t, samples.values
    between = slice(1, 2 * ((len(t) - 1) // 2), 2)
    missed = y[between] - CubicSpline(t[::2], y[::2])(t[between])
    return bool(np.sum(missed**2) / max(len(missed), 1) > ROUGH**2 * np.mean(np.diff(y) ** 2))


def _gain(spline: Shot | None, steps: Shot | None) -> float | None:
    """Return twice the log of the likelihood ratio of holding the input; None where that has no solution."""
    if steps is None:
        return None
    return (
        np.inf
        if spline is None
        else steps.independent * np.log(max(spline.sse, 1e-300) / max(steps.sse, 1e-300))
    )


def _closest(
    dataset: Dataset, prepared: Prepared, settings: Settings, given: LawSkeleton | None
) -> list[Shot | None]:
    """Return the best trajectory fit of the simple models to each state, where one can be solved."""
    seen = inputs_seen(dataset, 1)
    skeletons = _models(settings.order, seen)
    others = [[part] for part in given.parts] if given else [[] for _ in dataset.states]
    tried = [[*skeletons, *more] for more in others]
    shots: list[list[Shot]] = [[] for _ in dataset.states]
    for order in sorted({skeleton.order for each in tried for skeleton in each}):
        floor = settings.selection.floor
        whole = assemble(dataset, condensed(dataset), prepared.smooths, order, floor)
        for index, found in enumerate(shots):
            here = view(whole, index, order, floor)
            for skeleton in (each for each in tried[index] if each.order == order):
                start = fit_constants(skeleton, here.problems[0], config=settings.constants).equation
                if start is not None:
                    places, how = own_places(skeleton, settings.individual), settings.shooting
                    found.append(shoot(skeleton, start.constants, here.target, places, config=how))
    solved = [[shot for shot in found if shot.equation is not None] for found in shots]
    return [min(found, key=lambda shot: shot.sse, default=None) for found in solved]


def simple_models(order: int, seen: tuple[str, ...]) -> list[Skeleton]:
    """Return the simple models of just this order, in which these inputs act."""
    return [model for model in _models(order, seen) if model.order == order]


def _models(order: int, seen: tuple[str, ...]) -> list[Skeleton]:
    return [parse_skeleton(_with_inputs(text, seen), inputs=seen) for text in PLAIN[order]]


def _with_inputs(text: str, names: Sequence[str]) -> str:
    """Return a model with each term in braces once for each name in place of F."""
    return re.sub(r"{(.*?)}", lambda term: " + ".join(term[1].replace("F", name) for name in names), text)

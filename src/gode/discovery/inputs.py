"""Whether an input that changes at every sample is held between its samples, as the data decide.

The samples alone do not distinguish the output of a controller from a rough signal, but the response does: a
held input acts half a step later. Simple models are fitted to the trajectory with the input held and with a
spline; if holding it fits clearly better, it is held. One model has two lags even where a first-order
equation is sought, as a missing lag would look like half a step.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from gode.data import Dataset, Interpolation, Samples
from gode.equation import Skeleton, parse_skeleton
from gode.fitting import fit_constants
from gode.fitting.group import shoot_law
from gode.fitting.individuals import own_places
from gode.fitting.long_records import condensed
from gode.fitting.prepare import Prepared, assemble
from gode.fitting.shooting import Shot
from gode.search.settings import Settings

LAGS = "u'' = C + C*u' + C*u + C*F"
PLAIN = {  # by order: models that follow most plants closely enough to see half a step
    1: ("u' = C + C*u + C*F", "u' = C + C*u + C*u^2 + C*u^3 + C*F + C*u*F", LAGS),
    2: (LAGS, "u'' = C + C*u' + C*u + C*u^2 + C*u^3 + C*F"),
}
ROUGH = 0.3  # error of a spline through every second sample, as a share of the change between samples
SURE = 9.0  # twice the log of the likelihood ratio above which an input is held
WORDS = {
    Interpolation.HOLD: "is held between its samples",
    Interpolation.LINEAR: "is joined by lines between its samples",
    Interpolation.CUBIC: "is joined by a cubic spline between its samples",
}


def with_held_input(prepared: Prepared, settings: Settings, given: Skeleton | None = None) -> Prepared:
    """Return the data with the input held, if that was not specified and fits clearly better.

    Args:
        given: an equation to try besides the simple ones.
    """
    samples = list(_samples(prepared.dataset))
    if not samples or not all(_is_open(each) for each in samples):
        return prepared
    runs = tuple(replace(run, interpolation=Interpolation.HOLD) for run in prepared.dataset.runs)
    dataset = replace(prepared.dataset, runs=runs)
    tried = (_closest(each, prepared, settings, given) for each in (prepared.dataset, dataset))
    spline, steps = tried
    if steps is None:
        return prepared
    gain = np.inf if spline is None else np.log(spline.sse / max(steps.sse, 1e-300))
    if steps.independent * gain < SURE:
        return prepared
    floor, own = settings.selection.floor, bool(settings.individual)
    return assemble(dataset, condensed(dataset), prepared.smooths, settings.order, floor, individual=own)


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


def _closest(dataset: Dataset, prepared: Prepared, settings: Settings, given: Skeleton | None) -> Shot | None:
    """Return the best trajectory fit of the simple models, if one can be solved."""
    skeletons = [*map(parse_skeleton, PLAIN[settings.order]), *([] if given is None else [given])]
    shots = []
    for order in sorted({skeleton.order for skeleton in skeletons}):
        here = assemble(dataset, condensed(dataset), prepared.smooths, order, settings.selection.floor)
        for skeleton in skeletons:
            if skeleton.order != order:
                continue
            start = fit_constants(skeleton, here.problems[0], config=settings.constants).equation
            if start is not None:
                own = own_places(skeleton, settings.individual)
                shots.append(shoot_law(skeleton, start.constants, here.target, own, config=settings.shooting))
    solved = [shot for shot in shots if shot.equation is not None]
    return min(solved, key=lambda shot: shot.sse, default=None)

"""Whether the residuals of the law named speak for noise of another kind than that which was taken.

The kind of noise is decided on smoothed data, before any law is known. With a law the residuals say more: it
is fitted again under noise of each kind, and with residuals r and noise in proportion to s the likelihood is

    -2 log L  =  n log(sum (r/s)^2 / n)  +  2 sum log s.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from gode.arrays import Float
from gode.choices import NoiseChoice
from gode.data.noise import FLOOR, MIXED, SURE
from gode.discovery.framing import display_name
from gode.discovery.quality import SLIGHT_MISFIT
from gode.discovery.simulate import Scenario, simulate
from gode.fitting.prepare import Prepared
from gode.fitting.target import Target
from gode.fitting.trajectory_fit import shoot
from gode.search.settings import Settings
from gode.selection import Candidate, judge

RATIOS = {
    NoiseChoice.CONSTANT: np.inf,
    NoiseChoice.PROPORTIONAL: FLOOR,
    NoiseChoice.COMBINED: MIXED,
}  # of the constant part of the noise to the other, for each kind


def remark_on_noise(candidate: Candidate, prepared: Prepared, settings: Settings) -> list[str]:
    """Return a sentence for each state whose residuals noise of another kind explains clearly better."""
    dataset = prepared.whole.dataset
    given = any(run.sd is not None or run.limits is not None for run in dataset.runs)
    if dataset.noise != NoiseChoice.AUTO or given or not candidate.rms < SLIGHT_MISFIT or candidate.own:
        return []
    return [words for s in range(len(dataset.states)) for words in _told(candidate, prepared, settings, s)]


def _told(candidate: Candidate, prepared: Prepared, settings: Settings, state: int) -> Iterator[str]:
    curves = _curves(candidate, prepared, state)
    observed = [run.observed[3 * state] for run in prepared.whole.dataset.runs]
    if not all(np.isfinite(u).any() and (curve > 0).all() for u, curve in zip(observed, curves, strict=True)):
        return
    now = _deviance(candidate, prepared, state, [profile[3 * state] for profile in _profiles(prepared)])
    gains = {}
    for kind, ratio in RATIOS.items():
        profiles = [each.copy() for each in _profiles(prepared)]
        size = float(np.sqrt(np.mean(np.concatenate(curves) ** 2)))
        for profile, curve in zip(profiles, curves, strict=True):
            shape = np.sqrt(curve**2 + (ratio * size) ** 2) / size if np.isfinite(ratio) else 1.0
            profile[3 * state] = shape
        other = _fitted(candidate, prepared, settings, replace(prepared.whole, profiles=tuple(profiles)))
        if other is not None:
            gains[kind] = now - _deviance(other, prepared, state, [each[3 * state] for each in profiles])
    best = max(gains, key=lambda kind: gains[kind], default=None)
    if best is not None and gains[best] > SURE:
        name = display_name(prepared.dataset, prepared.dataset.states[state])
        yield (
            f"the residuals of {name} speak for {best} noise, and not for that which was taken, by "
            f"{gains[best]:.3g} in twice the log-likelihood: --noise {best}"
        )


def _profiles(prepared: Prepared) -> Sequence[Float]:
    """Return the noise (channels, n) of each reading over that of its channel, of each run."""
    whole = prepared.whole
    return whole.profiles or [np.ones(run.observed.shape) for run in whole.dataset.runs]


def _curves(candidate: Candidate, prepared: Prepared, state: int) -> list[Float]:
    """Return the solution of the law at the readings of each run."""
    runs = prepared.whole.dataset.runs
    solved = [simulate(candidate, prepared, Scenario(run.t, run=i)) for i, run in enumerate(runs)]
    return [np.asarray(each.values[3 * state]) for each in solved]


def _fitted(candidate: Candidate, prepared: Prepared, settings: Settings, target: Target) -> Candidate | None:
    """Return the law fitted again, to readings with other noise."""
    law, initial = candidate.equation, candidate.initial
    shot = shoot(law.skeleton, law.constants, target, config=settings.shooting, start=initial)
    return judge(shot, prepared.floor, settings.selection, prepared.columns)


def _deviance(candidate: Candidate, prepared: Prepared, state: int, shapes: Sequence[Float]) -> float:
    """Return -2 log of the likelihood of the readings of a state, with noise in proportion to `shapes`."""
    residuals, logs = [], []
    curves = _curves(candidate, prepared, state)
    for run, curve, shape in zip(prepared.whole.dataset.runs, curves, shapes, strict=True):
        seen = np.isfinite(run.observed[3 * state])
        scale = shape[seen] / run.roots[seen]
        residuals.append((run.observed[3 * state] - curve)[seen] / scale)
        logs.append(np.log(scale))
    r = np.concatenate(residuals)
    square = max(float(np.mean(r**2)), np.finfo(float).tiny)  # An exact fit leaves none.
    return float(len(r) * np.log(square) + 2 * np.sum(np.concatenate(logs)))

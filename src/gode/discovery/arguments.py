"""Arrays as a user passes them to checked runs: arrays for one run, lists of arrays for several."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from gode.arrays import Series
from gode.data import Dataset, Interpolation, Run, make_run
from gode.errors import DataError
from gode.fitting.prepare import input_values
from gode.search.settings import INPUT

Force = str | Callable[[float], float] | Series  # a formula in t, a function of it, or samples


def make_dataset(
    t: Series,
    u: Series | None = None,
    velocity: Series | None = None,
    acceleration: Series | None = None,
    force: Force | None = None,
    initial: Series | None = None,
    *,
    interpolation: Interpolation = Interpolation.AUTO,
    labels: Mapping[str, str] | None = None,
    names: tuple[str, ...] = (),
) -> Dataset:
    """Return the checked runs of what a user passed: arrays for one run, lists of arrays for several.

    A callable input that is held or interpolated linearly is evaluated at the times of the data.

    Args:
        labels: names and units of the columns.
        names: of the runs, if there are several.
    """
    if not _holds_runs(t):
        run = _run(t, u, velocity, acceleration, force, initial, interpolation=interpolation, label="")
        return Dataset((run,), labels or {})
    assert isinstance(t, list | tuple)
    named = {"u": u, "velocity": velocity, "acceleration": acceleration, "force": force, "initial": initial}
    called = names or ([f"run {i}" for i in range(len(t))] if len(t) > 1 else [""])
    parts = {name: _per_run(values, name, len(t)) for name, values in named.items()}
    runs = [
        _run(times, *(part[i] for part in parts.values()), interpolation=interpolation, label=called[i])
        for i, times in enumerate(t)
    ]
    return Dataset(tuple(runs), labels or {}, names)


def _holds_runs(t: object) -> bool:
    if not isinstance(t, list | tuple) or len(t) == 0:
        return False
    try:
        return np.ndim(t[0]) > 0
    except ValueError:  # a list of unequal lists, which is refused where numbers are read
        return True


def _per_run(values: object, name: str, n: int) -> list[object]:
    if values is None or isinstance(values, str) or callable(values):
        return [values] * n
    if not isinstance(values, list | tuple) or len(values) != n:
        raise DataError(f"t holds {n} runs, so {name} must be a list of {n} arrays, one for each run")
    return list(values)


def _run(
    t: object,
    u: object,
    velocity: object,
    acceleration: object,
    force: object,
    initial: object,
    *,
    interpolation: Interpolation,
    label: str,
) -> Run:
    inputs = {} if force is None else {INPUT: force}
    run = make_run(
        t,  # type: ignore[arg-type]
        u=u,  # type: ignore[arg-type]
        velocity=velocity,  # type: ignore[arg-type]
        acceleration=acceleration,  # type: ignore[arg-type]
        inputs=inputs,
        initial=initial,  # type: ignore[arg-type]
        interpolation=interpolation,
        label=label,
    )
    sampled = interpolation in (Interpolation.HOLD, Interpolation.LINEAR) and callable(force)
    return replace(run, inputs=dict(input_values(run, run.t))) if sampled else run

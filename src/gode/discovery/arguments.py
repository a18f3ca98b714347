"""Data as a user passes them to checked runs: arrays for one run, lists of arrays for several."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from gode.arrays import Series
from gode.data import Dataset, Interpolation, Run, make_run
from gode.data.columns import STATES, check_alike
from gode.data.distinct import check_distinct
from gode.discovery.states import by_name, check_names, initial_of, shape_of, state_names, table_of
from gode.equation.system import input_seen
from gode.errors import DataError
from gode.fitting.prepare import input_values
from gode.search.settings import INPUT

Known = str | Callable[[float], float] | Series  # a formula in t, a function of it, or samples
Force = Known | Mapping[str, Known]  # one known input, or several by their names
Signals = Series | Mapping[str, Series] | Sequence[Mapping[str, Series]]  # of the states


def make_dataset(
    t: Series,
    u: Signals | None = None,
    velocity: Signals | None = None,
    acceleration: Signals | None = None,
    force: Force | None = None,
    initial: Signals | None = None,
    *,
    names: Sequence[str] | None = None,
    interpolation: Interpolation = Interpolation.AUTO,
    labels: Mapping[str, str] | None = None,
    run_names: tuple[str, ...] = (),
    hidden: bool = False,
) -> Dataset:
    """Return the checked runs of what a user passed: arrays for one run, lists of arrays for several.

    Several states are the columns of an array (n, d), of a DataFrame or of a mapping, and are called as there
    or as `names` says. A single state is called u, its own name is a label. A callable input that is held or
    interpolated linearly is evaluated at the times of the data.

    Args:
        names: of the states.
        labels: names and units of the columns.
        run_names: if there are several runs.
        hidden: whether there may be states that were never measured.
    """
    several = _holds_runs(t)
    times = list(t) if several else [t]  # type: ignore[arg-type]
    given = {"u": u, "velocity": velocity, "acceleration": acceleration, "force": force, "initial": initial}
    if several:
        parts = {name: _per_run(values, name, len(times)) for name, values in given.items()}
    else:
        parts = {name: [values] for name, values in given.items()}
    called = run_names or ([f"run {i}" for i in range(len(times))] if len(times) > 1 else [""])
    channels = [parts[name] for name in ("u", "velocity", "acceleration")]
    states = state_names([part[0] for part in channels], names)
    inputs = [_inputs(part) for part in parts["force"]]
    check_alike([tuple(own) for own in inputs], "inputs")
    named = {
        role: name for role, values in (("time", times), *parts.items()) if (name := _name_of(values[0]))
    }
    shown = {**_labels(states, tuple(inputs[0]), named), **(labels or {})}
    if len(states) == 1:
        inputs = [{input_seen(i, 1): v for i, v in enumerate(own.values())} for own in inputs]
    else:
        check_names(tuple(inputs[0]), "known input", states)
    rows = zip(times, *channels, inputs, parts["initial"], called, strict=True)
    read = partial(
        _run, states=states, renamed=names is not None, interpolation=interpolation, hidden=hidden
    )
    runs = [read(*row) for row in rows]
    if len(states) > 1:
        check_distinct(runs, states)
    return Dataset(tuple(runs), shown, run_names if several else (), STATES if len(states) == 1 else states)


def _holds_runs(t: object) -> bool:
    if not isinstance(t, list | tuple) or len(t) == 0:
        return False
    try:
        return np.ndim(t[0]) > 0
    except ValueError:  # a list of unequal lists, which is refused where numbers are read
        return True


def _per_run(values: object, name: str, n: int) -> list[object]:
    """Return what belongs to each of `n` runs; of a mapping each entry is a list of them."""
    if values is None or isinstance(values, str) or callable(values):
        return [values] * n
    if isinstance(values, Mapping):
        parts = {key: _per_run(part, f"{name} of {key}", n) for key, part in values.items()}
        return [{key: part[i] for key, part in parts.items()} for i in range(n)]
    if not isinstance(values, list | tuple) or len(values) != n:
        raise DataError(f"t holds {n} runs, so {name} must be a list of {n} arrays, one for each run")
    return list(values)


def _inputs(force: object) -> dict[str, object]:
    """Return the known inputs of one run by their names."""
    if force is None:
        return {}
    named = by_name(force, "force")
    return {INPUT: force} if named is None else named


def _labels(states: tuple[str, ...], inputs: tuple[str, ...], named: Mapping[str, str]) -> dict[str, str]:
    """Return the names of a single state and its inputs, which are called u, F, v1, ... in its equation.

    Args:
        named: the names of Series by the arguments that they were passed for.
    """
    time = {role: name for role, name in named.items() if role == "time"}
    if len(states) > 1:
        return time
    keys = ["force", *(input_seen(i, 1) for i in range(1, len(inputs)))]
    given = {role: name for role, name in named.items() if role != "initial"}
    own = {"u": states[0], **dict(zip(keys, inputs, strict=False))}
    own = {key: name for key, name in own.items() if name not in ("u", INPUT)}
    return {key: name for key, name in {**given, **own}.items() if name not in ("t", key)}


def _name_of(values: object) -> str:
    """Return the name of a Series; empty where there is none."""
    name = getattr(values, "name", None) if hasattr(values, "__array__") else None
    return name if isinstance(name, str) else ""


def _run(
    t: object,
    u: object,
    velocity: object,
    acceleration: object,
    inputs: Mapping[str, object],
    initial: object,
    label: str,
    *,
    states: tuple[str, ...],
    renamed: bool,
    interpolation: Interpolation,
    hidden: bool,
) -> Run:
    where, n = f"{label}: " if label else "", math.prod(shape_of(t))
    tables = [
        table_of(values, states, f"{where}{what}", n, renamed=renamed)
        for what, values in (("x", u), ("velocity", velocity), ("acceleration", acceleration))
    ]
    run = make_run(
        t,  # type: ignore[arg-type]
        u=tables[0],  # type: ignore[arg-type]
        velocity=tables[1],  # type: ignore[arg-type]
        acceleration=tables[2],  # type: ignore[arg-type]
        inputs=inputs,
        initial=initial_of(initial, states, where),  # type: ignore[arg-type]
        interpolation=interpolation,
        label=label,
        states=states,
        hidden=hidden,
    )
    if interpolation not in (Interpolation.HOLD, Interpolation.LINEAR):
        return run
    sampled = input_values(run, run.t) if any(map(callable, inputs.values())) else {}
    return replace(run, inputs={k: sampled[k] if callable(v) else v for k, v in run.inputs.items()})

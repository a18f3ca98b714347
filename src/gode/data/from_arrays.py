"""Data as a user passes them to a checked Dataset: arrays for one run, lists of arrays for several."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gode.arrays import Float, Force, Series, Signals
from gode.data.columns import INPUT, STATES, channel_names, check_alike, check_increasing
from gode.data.dataset import (
    MIN_POINTS,
    Dataset,
    Input,
    Interpolation,
    Limits,
    Run,
    chosen_interpolation,
    plain_label,
    with_units,
)
from gode.data.doses import Dose, check_times, doses_of_runs, make_doses
from gode.data.states import (
    as_numbers,
    as_seconds,
    by_name,
    check_names,
    column_alone,
    filled,
    initial_of,
    limits_of,
    state_names,
    table_of,
    values_at,
)
from gode.equation.system import names_in_law
from gode.errors import DataError

CHANNELS = ("u", "velocity", "acceleration")  # the arguments of what was measured, by order
# No value may be larger, nor the largest of a channel smaller than the inverse: squares of values, and
# products of a few, then stay within the range of floats.
MAX_SIZE = 1e100
# Two times nearly coincide if they are closer than this fraction of the record. Set by hand, well above
# rounding.
LEAST_STEP = 1e-9
# Two columns are the same but for rounding if they differ by less than this fraction of their largest value,
# which is some thousand times what one rounding makes of it.
ROUNDING = 1e-12


def make_dataset(
    t: Series,
    u: Signals | None = None,
    velocity: Signals | None = None,
    acceleration: Signals | None = None,
    force: Force | None = None,
    initial: Signals | None = None,
    *,
    doses: object = None,
    names: Sequence[str] | None = None,
    interpolation: Interpolation = Interpolation.AUTO,
    labels: Mapping[str, str] | None = None,
    units: Mapping[str, str] | None = None,
    run_names: tuple[str, ...] = (),
    sd: float | Signals | None = None,
    below: float | Signals | None = None,
    above: float | Signals | None = None,
    all_read: bool = False,
) -> Dataset:
    """Return the checked runs of what a user passed: arrays for one run, lists of arrays for several.

    Several states are the columns of an array (n, d), of a DataFrame or of a mapping, and are called as there
    or as `names` says. A single state is called u and its inputs F, v1, ...; their own names are labels. A
    callable input that is held or interpolated linearly is evaluated at the times of the data.

    Args:
        doses: rows (state, time, amount) or (state, time, amount, duration), or a table of them; of several
            runs a list of these, or the same for all.
        names: of the states.
        labels: names and units of the columns, by t and the names of states and inputs.
        units: of t, states and inputs, by their names.
        run_names: if there are several runs.
        sd: standard errors of the readings, of the same form as u, or one number for all of them.
        below, above: limits of readings of u of which only these are known.
        all_read: whether a state that is passed must have a reading, as where no equation names it.
    """
    several = _holds_runs(t)
    times = list(t) if several else [t]  # type: ignore[arg-type]
    given = {
        "u": u,
        "velocity": velocity,
        "acceleration": acceleration,
        "force": force,
        "initial": initial,
    }
    parts = {
        name: _per_run(values, name, len(times)) if several else [values] for name, values in given.items()
    }
    parts["sd"] = _for_all_runs(sd, "sd", t)
    dosed = doses_of_runs(doses, len(times))
    limits = [_for_all_runs(given, name, t) for name, given in (("below", below), ("above", above))]
    states = state_names([parts[name][0] for name in CHANNELS], names)
    inputs = [_inputs(part) for part in parts["force"]]
    check_alike([tuple(of_run) for of_run in inputs], "inputs")
    columns = names_in_law(states, tuple(inputs[0]))
    in_equation = tuple(columns[name] for name in states)
    check_names([columns[name] for name in inputs[0]], "known input", in_equation)
    also = {plain_label((labels or {}).get(columns[name], name)): name for name in states}
    called = run_names or ([f"run {i}" for i in range(len(times))] if len(times) > 1 else [""])
    runs = []
    for i, (time, label) in enumerate(zip(times, called, strict=True)):
        where = f"{label}: " if label else ""
        n = len(_times(time, where))
        errors = filled(parts["sd"][i], states, np.ones((n, len(states))), f"{where}sd")
        u_i, velocity_i, acceleration_i, sd_i = (
            table_of(values, states, f"{where}{word}", n, renamed=names is not None)
            for word, values in (*((name, parts[name][i]) for name in CHANNELS), ("sd", errors))
        )
        run = make_run(
            time,  # type: ignore[arg-type]
            u=u_i,
            velocity=velocity_i,
            acceleration=acceleration_i,
            inputs={columns[name]: value for name, value in inputs[i].items()},
            initial=initial_of(parts["initial"][i], states, where),  # type: ignore[arg-type]
            interpolation=interpolation,
            doses=make_doses(dosed[i], states, where, also),
            label=label,
            states=states,
            sd=sd_i,
            limits=(
                limits_of(limits[0][i], u_i, states, f"{where}below"),
                limits_of(limits[1][i], u_i, states, f"{where}above"),
            ),
        )
        runs.append(_sampled(run))
    _check_distinct(runs, states)
    passed = {"t": times[0], **{argument: values[0] for argument, values in parts.items()}}
    shown = _labels(columns, passed, labels or {})
    dataset = Dataset(tuple(runs), shown, run_names if several else (), in_equation)
    _check_hidden(dataset)
    if all_read:
        _check_read(dataset, states, [values for name in CHANNELS for values in parts[name]])
    return with_units(dataset, units) if units else dataset


def dataset_of_call(
    t: Series, u: Signals | None, options: Mapping[str, Any], names: Sequence[str] | None
) -> Dataset:
    """Return the data of a call of `gode.discover` or `gode.fit`, by its options."""
    arguments = ("velocity", "acceleration", "force", "initial", "doses", "units", "sd", "below", "above")
    dataset = make_dataset(
        t,
        u,
        **{name: options[name] for name in arguments},
        names=names,
        interpolation=chosen_interpolation(options["hold"], options["interpolation"]),
        all_read="hidden" in options and not options["frame"],
    )
    return replace(dataset, keep_outliers=options["keep_outliers"], noise=options["noise"])


def make_run(
    t: ArrayLike,
    *,
    u: ArrayLike | None = None,
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
    inputs: Mapping[str, object] | None = None,
    initial: ArrayLike | None = None,
    interpolation: Interpolation = Interpolation.AUTO,
    doses: Sequence[Dose] = (),
    label: str = "",
    states: tuple[str, ...] = STATES,
    sd: ArrayLike | None = None,
    limits: tuple[Float | None, Float | None] = (None, None),
) -> Run:
    """Return a checked run; rows without a time or without any observation are dropped.

    A run with doses begins at the first of them, if that comes before all readings; one with known initial
    values at its first time, even if nothing was read there. Dates and durations of any unit become seconds
    from the first.

    Args:
        u, velocity, acceleration: (n,) of one state, (n, d) of several.
        initial: of each state its value (d,) or its value and slope (d, 2), also as (2 d,).
        sd: standard errors of the lowest derivative that was measured of each state, (n,) or (n, d).
        limits: below and above which readings of the states lie (n, d), NaN where that is not known; of these
            readings only the limits are kept.

    Raises:
        DataError: with a sentence that says what to do.
    """
    where = f"{label}: " if label else ""
    time = _times(t, where)
    observed = np.full((3 * len(states), len(time)), np.nan)
    for k, measured in enumerate((u, velocity, acceleration)):
        if measured is not None:
            observed[k::3] = _channels(measured, channel_names(states)[k::3], where, len(time))
    errors = None if sd is None else _errors(sd, observed, states, where)
    known = _without_limited(time, observed, limits, states, where)
    signals = {name: _input(value, name, where, len(time)) for name, value in (inputs or {}).items()}
    start = _initial(initial, states, where)
    keep = np.isfinite(time) & np.isfinite(observed).any(axis=0)
    if np.isfinite(start).any():
        keep[np.flatnonzero(np.isfinite(time))[:1]] = keep.any()
    for signal in signals.values():
        if isinstance(signal, np.ndarray):
            keep &= np.isfinite(signal)
    if not keep.any():
        raise DataError(
            f"{where}nothing is observed: every value is missing; pass u, velocity or acceleration"
        )
    first = [dose.t for dose in doses if dose.t < np.min(time[keep])][:1]
    if first and first[0] in time:
        keep |= time == first[0]
    elif first:
        time = np.append(first, time)
        observed = _with_first(observed)
        errors = None if errors is None else _with_first(errors)
        signals = {k: _from_first(v) for k, v in signals.items()}
        keep = np.append(True, keep)
    run = Run(
        t=time[keep],
        observed=observed[:, keep],
        initial=start,
        inputs={k: v[keep] if isinstance(v, np.ndarray) else v for k, v in signals.items()},
        interpolation=interpolation,
        doses=tuple(doses),
        sd=None if errors is None else errors[:, keep],
        limits=known,
    )
    check_times(run.doses, float(run.t[-1]), where)
    _check_times(run.t, where)
    _check_units_of_time(run, where)
    _check_enough(run, states, where)
    return run


def _times(t: object, where: str) -> Float:
    """Return the times of a run; of dates and durations the seconds from the first."""
    dated = as_seconds(t)
    return _numbers(t if dated is None else dated[0], "t", where, None)  # type: ignore[arg-type]


def _with_first(rows: Float) -> Float:
    """Return rows of readings with one more time before them, at which nothing was read."""
    return np.column_stack([np.full(len(rows), np.nan), rows])


def _from_first(signal: Input) -> Input:
    """Return samples with the first of them at one more time, before it."""
    return np.append(signal[:1], signal) if isinstance(signal, np.ndarray) else signal


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


def _for_all_runs(values: object, name: str, t: Series) -> list[object]:
    """Return what is known of the readings of each run; a number holds for all of them."""
    several = _holds_runs(t)
    n = len(t) if several else 1  # type: ignore[arg-type]
    if isinstance(values, Mapping):
        parts = {key: _for_all_runs(part, f"{name} of {key}", t) for key, part in values.items()}
        return [{key: part[i] for key, part in parts.items()} for i in range(n)]
    is_one = not several or (not isinstance(values, list | tuple) and np.ndim(values) == 0)  # type: ignore[arg-type]
    return [values] * n if is_one else _per_run(values, name, n)


def _without_limited(
    t: Float, observed: Float, limits: tuple[Float | None, Float | None], states: Sequence[str], where: str
) -> Limits | None:
    """Take readings out of `observed` of which only limits are known, and return these.

    Raises:
        DataError: if a reading is said to lie above what it lies below.
    """
    read = observed[::3]
    low, high = np.full(read.shape, -np.inf), np.full(read.shape, np.inf)
    for side, given, bound in zip((1.0, -1.0), limits, (high, low), strict=True):
        if given is not None:
            limited = np.isfinite(given.T) & ~(side * read > side * given.T) & np.isfinite(t)
            bound[limited] = given.T[limited]
    for state, row in np.argwhere(low >= high)[:1]:
        raise DataError(
            f"{where}{states[state]} cannot lie below {high[state, row]:.6g} and above {low[state, row]:.6g} "
            f"at t = {t[row]:.6g}; correct below= or above="
        )
    taken = np.isfinite(low) | np.isfinite(high)
    if not taken.any():
        return None
    of_states, rows = np.nonzero(taken)
    found = Limits(t[rows], 3 * of_states, low[taken], high[taken])
    read[taken] = np.nan
    return found.at(np.argsort(found.t, kind="stable"))


def _inputs(force: object) -> dict[str, object]:
    """Return the known inputs of one run by their names."""
    if force is None:
        return {}
    named = by_name(force, "force")
    return {INPUT: force} if named is None else named


def _labels(
    columns: Mapping[str, str], passed: Mapping[str, object], labels: Mapping[str, str]
) -> dict[str, str]:
    """Return what the user calls the columns, by their names in the equation.

    Args:
        columns: the names in the equation by those of states and inputs.
        passed: the arguments, whose names count if they are Series.
        labels: by the names of states and inputs.
    """
    arguments = {"t": "t", "u": "u", "velocity": "u'", "acceleration": "u''", "force": INPUT}
    names = {argument: _name_of(passed[argument]) for argument in arguments}
    series = {arguments[key]: name for key, name in names.items() if name not in ("", "t", key)}
    found = {column: name for column, name in series.items() if column in ("t", *columns.values())}
    named = [name for name in columns if "'" not in name and name not in (columns[name], *STATES, INPUT, "t")]
    found |= {columns[name]: name for name in named}
    return {**found, **{columns.get(name, name): label for name, label in labels.items()}}


def _name_of(values: object) -> str:
    """Return the name of a Series; empty where there is none."""
    name = getattr(values, "name", None) if hasattr(values, "__array__") else None
    return name if isinstance(name, str) else ""


def _sampled(run: Run) -> Run:
    """Return a run whose callable inputs are samples, where these are held or joined by lines."""
    if run.interpolation not in (Interpolation.HOLD, Interpolation.LINEAR):
        return run
    inputs = {k: values_at(v, run.t, k) if callable(v) else v for k, v in run.inputs.items()}
    return replace(run, inputs=inputs)


def _numbers(values: ArrayLike, name: str, where: str, length: int | None) -> Float:
    row = as_numbers(values, f"{where}{name}")
    if row.ndim != 1:
        raise DataError(f"{where}{name} must have one dimension, got shape {row.shape}; pass one signal")
    if length is not None and len(row) != length:
        raise DataError(f"{where}{name} has {len(row)} values, but t has {length}; give one per time")
    if np.any(np.isinf(row)):
        i = int(np.argmax(np.isinf(row)))
        raise DataError(f"{where}{name} is infinite at row {i}; drop that row or write NaN for not observed")
    if np.any(np.abs(row) > MAX_SIZE):
        i = int(np.argmax(np.abs(row) > MAX_SIZE))
        raise DataError(f"{where}{name} is {row[i]:g} at row {i}, too large to square; use other units")
    return row


def _not_tiny(row: Float, name: str, where: str) -> Float:
    """Return `row`, unless its squares underflow; all zeros are accepted."""
    largest = float(np.max(np.abs(row), where=np.isfinite(row), initial=0.0))
    if 0 < largest < 1 / MAX_SIZE:
        raise DataError(f"{where}{name} is {largest:g} at most, too small to square; use other units")
    return row


def _channels(values: ArrayLike, names: tuple[str, ...], where: str, n: int) -> list[Float]:
    """Return one derivative of each state, checked."""
    table = column_alone(as_numbers(values, f"{where}{', '.join(names)}"), len(names))
    if table.ndim != 2 or table.shape[1] != len(names):
        raise DataError(
            f"{where}{', '.join(names)} must have the shape (n, {len(names)}), got {table.shape}; "
            "give one column per state"
        )
    pairs = zip(table.T, names, strict=True)
    return [_not_tiny(_numbers(column, name, where, n), name, where) for column, name in pairs]


def _errors(sd: ArrayLike, observed: Float, states: tuple[str, ...], where: str) -> Float:
    """Return the standard errors (3 d, n) of the lowest derivative that was measured of each state."""
    called = [f"sd of {name}" for name in states]
    errors = np.full(observed.shape, np.nan)
    for s, row in enumerate(_channels(sd, tuple(called), where, observed.shape[1])):
        measured = np.isfinite(observed[3 * s : 3 * s + 3])
        if np.isnan(row).all() or not measured.any():
            continue
        lowest = int(np.argmax(measured.any(axis=1)))
        wrong = np.flatnonzero(measured[lowest] & ~(row > 0))
        if len(wrong):
            i = int(wrong[0])
            raise DataError(
                f"{where}{called[s]} must be positive wherever there is a reading, got {row[i]:g} at row "
                f"{i}; correct it, or write NaN for the reading"
            )
        errors[3 * s + lowest] = np.where(measured[lowest], row, np.nan)
    return errors


def _input(value: object, name: str, where: str, n: int) -> Input:
    if isinstance(value, str) or callable(value):
        return value
    return _numbers(value, name, where, n)  # type: ignore[arg-type]


def _initial(values: ArrayLike | None, states: tuple[str, ...], where: str) -> Float:
    d = len(states)
    known = np.full((d, 2), np.nan)
    if values is None:
        return known.ravel()
    table = np.atleast_1d(np.asarray(values, object))
    if table.shape == (d, 2):
        table = table.ravel()
    given = np.atleast_1d(_numbers(table.tolist(), "initial", where, None))
    if len(given) not in (0, d, 2 * d):
        single = [f"{name}(t0)" for name in states]
        pairs = [f"{name}{prime}(t0)" for name in states for prime in ("", "'")]
        forms = f"[{', '.join(single)}] or [{', '.join(pairs)}]"
        raise DataError(f"{where}initial must be {forms}, got {len(given)} values")
    slopes = len(given) // d
    known[:, :slopes] = given.reshape(d, slopes)
    return known.ravel()


def _check_times(t: Float, where: str) -> None:
    if len(t) < MIN_POINTS:
        points = "1 usable point is" if len(t) == 1 else f"{len(t)} usable points are"
        raise DataError(
            f"{where}{points} too few; at least {MIN_POINTS} are needed, with a time and a reading each"
        )
    check_increasing(_not_tiny(t, "t", where), f"{where}row")
    step = np.diff(t)
    if np.min(step) < LEAST_STEP * (t[-1] - t[0]):
        i = int(np.argmin(step)) + 1
        raise DataError(
            f"{where}row {i}: the times {t[i - 1]:.17g} and {t[i]:.17g} nearly coincide; drop one of the rows"
        )


def _check_units_of_time(run: Run, where: str) -> None:
    """Raise DataError if u'' would overflow when squared in these units of time."""
    span = run.t[-1] - run.t[0]
    sizes = np.max(np.abs(run.observed), axis=1, where=np.isfinite(run.observed), initial=0.0)
    with np.errstate(over="ignore"):
        rate = float(np.max(sizes.reshape(-1, 3) / span ** np.array([2.0, 1.0, 0.0])))
    if rate > MAX_SIZE:
        raise DataError(
            f"{where}t spans {span:g}, so that u'' is about {rate:g}, too large to square; "
            "use other units of time"
        )


def _check_enough(run: Run, states: tuple[str, ...], where: str) -> None:
    """Raise DataError if a state was observed at too few times; one that never was may be hidden."""
    for name, channels in zip(states, np.split(run.observed, len(states)), strict=True):
        n = int(np.isfinite(channels).any(axis=0).sum())
        if 0 < n < MIN_POINTS:
            raise DataError(
                f"{where}{name} is observed at {n} times only; at least {MIN_POINTS} are needed, "
                "so leave it out or measure more"
            )


def _check_hidden(dataset: Dataset) -> None:
    """Raise DataError if a state was observed in some runs and never in others."""
    for s, name in enumerate(dataset.states):
        measured = [run.is_measured(s) for run in dataset.runs]
        if any(measured) and not all(measured):
            where = dataset.name_of(measured.index(False))
            raise DataError(
                f"{where}: {name} is never observed, but is in other runs; leave that run out, or measure it"
            )


def _check_read(dataset: Dataset, states: Sequence[str], passed: Sequence[object]) -> None:
    """Raise DataError if a state was passed without a reading, or a limit of one, as if it were measured."""
    limited = {int(at) // 3 for run in dataset.runs if run.limits for at in run.limits.channel}
    tables = [by_name(values, "the data") for values in passed if values is not None]
    for name in (states[s] for s in dataset.hidden if s not in limited):
        by_place = (columns is None or not {*columns} & {*states} for columns in tables)
        if any(by_place) or any(columns and columns.get(name) is not None for columns in tables):
            raise DataError(
                f"{name} holds no reading at all; leave it out, or give hidden='{name}' instead if it acts "
                "but was not measured"
            )


def _check_distinct(runs: Sequence[Run], states: Sequence[str]) -> None:
    """Raise DataError if a state never changes while others do, or is a multiple of another."""
    still = [_never_changes([run.state(s).observed[:2] for run in runs]) for s in range(len(states))]
    if any(still) and not all(still):
        name = states[still.index(True)]
        raise DataError(
            f"{name} is constant, and a constant state has no equation to find; drop it, "
            "or pass it as a known input"
        )
    for a, b in combinations(range(len(states)), 2):
        factor = _factor(*(np.hstack([run.state(s).observed for run in runs]) for s in (a, b)))
        if factor == 1.0:
            raise DataError(f"{states[a]} and {states[b]} are identical; drop one of them")
        if factor is not None:
            raise DataError(
                f"{states[b]} is {factor:.6g} times {states[a]} at every time, so that no equation can tell "
                "them apart; drop one of them"
            )


def _never_changes(observed: Sequence[Float]) -> bool:
    """Tell whether the values and slopes (2, n) of each run show no change within it."""
    values, slopes = np.hstack(observed)
    if not np.isfinite(values).any() or np.any(slopes[np.isfinite(slopes)] != 0):
        return False
    return all(np.ptp(part[0][np.isfinite(part[0])]) == 0 for part in observed)


def _factor(a: Float, b: Float) -> float | None:
    """Return c where b = c a in all that both have, if that is enough to say so; 1 if they are identical."""
    both = np.isfinite(a) & np.isfinite(b)
    x, y = a[both], b[both]
    if len(x) < MIN_POINTS or not np.any(x) or not np.any(y):
        return None
    if np.array_equal(x, y):
        return 1.0
    largest = np.argmax(np.abs(x))
    factor = float(y[largest] / x[largest])
    close = np.max(np.abs(y - factor * x)) <= ROUNDING * np.max(np.abs(y))
    return factor if close else None

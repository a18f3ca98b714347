"""Discovery to a versioned JSON file and back, and its fit as a table."""

import csv
import io
import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from gode import __version__
from gode.arrays import Float
from gode.choices import NoiseChoice, Preset
from gode.data import Dataset, Run, Smooth, make_run
from gode.data.columns import STATES, channel_names
from gode.data.dataset import Input, Limits, by_column, chosen_interpolation
from gode.data.doses import Dose
from gode.data.smoothing import resampled
from gode.data.states import check_names
from gode.discovery import Discovery
from gode.errors import FileError, GodeError
from gode.files import RECORD, read_bytes, write_text
from gode.fitting.prepare import Prepared, assemble, input_values
from gode.fitting.target import condensed, state_places
from gode.json_codec import Json, check_value, decode, decode_array, encode, member
from gode.search.checkpoint import candidate_of
from gode.search.settings import Settings
from gode.selection import Candidate, front, ties

FORMAT, VERSION = "gode record", 3  # 3: a law of one state has the form of one of several
KEPT = 50  # candidates saved besides near ties and front
MAX_STATES = 50
MAX_BYTES = 500_000_000  # twice the size of a million rows
MAX_VALUES = 20_000_000  # a million rows have 12 million; each takes 32 bytes while it is read
MAX_LISTS = 1_000_000
MAX_DEPTH = 50
FOREIGN = "it is no record of gode; name a record.json, or the folder of a result"
OTHER = "name the folder of another result, or run the command again that wrote it"
NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


def save(discovery: Discovery, path: str | os.PathLike[str]) -> None:
    """Write `discovery` to `path`; an earlier file is replaced only when the new one is complete.

    Raises:
        FileError: if the file cannot be written.
    """
    lines = [f"{json.dumps(k)}: {_written(v)}" for k, v in record_of(discovery).items()]
    write_text(Path(path), "{\n" + ",\n".join(lines) + "\n}\n")


def load(path: str | os.PathLike[str]) -> Discovery:
    """Return the discovery saved at `path`, a file or the folder of a result, with all methods of a new one.

    Raises:
        FileError: if the file is not a complete record.
    """
    data = read_json(Path(path) / RECORD if os.path.isdir(path) else Path(path))
    try:
        return discovery_of(data)
    except GodeError as error:
        raise FileError(f"{path} is no record that this version of gode can read: {error}; {OTHER}") from None


def record_of(discovery: Discovery) -> dict[str, Json]:
    """Return the JSON form of a discovery; callable inputs become their samples."""
    dataset = discovery.prepared.dataset
    kept = {id(c) for c in [*discovery.candidates[:KEPT], *front(discovery.candidates)]}
    config, floor = discovery.settings.selection, discovery.prepared.floor
    kept |= {id(c) for c in ties(discovery.candidates, config, floor)}
    return {
        "format": FORMAT,
        "version": VERSION,
        "gode": __version__,
        # From here to "causes" it is for people; loading reads the candidates.
        "equation": "; ".join(discovery.equation.lines()),
        "verdict": discovery.quality.verdict.value,
        "misfit": f"{discovery.quality.misfit:.4g}",
        "causes": encode(discovery.causes),
        "settings": encode(discovery.settings),
        "labels": encode(dataset.labels),
        "names": encode(dataset.names),
        "states": encode(dataset.states),
        **({"edits": encode(dataset.edits)} if dataset.edits else {}),
        **({"keep_outliers": True} if dataset.keep_outliers else {}),
        **({"noise": dataset.noise} if dataset.noise != NoiseChoice.AUTO else {}),
        "runs": [_run_json(run) for run in (dataset.with_held() if dataset.held else dataset).runs],
        **({"held": [run.n_points for run in dataset.held]} if dataset.held else {}),  # at the end of each
        "smooths": [encode(smooth) for smooth in discovery.prepared.smooths],
        "candidates": [encode(c) for c in discovery.candidates if id(c) in kept],
        "n_fitted": discovery.n_fitted,
        "n_solved": discovery.n_solved,
        "interrupted": discovery.interrupted,
        "supported": discovery.supported,
        "timed_out": discovery.timed_out,
        "remarks": list(discovery.remarks),
    }


def discovery_of(data: object) -> Discovery:
    """Return the discovery whose JSON form is `data`.

    Raises:
        GodeError: if `data` has another form.
    """
    _check_format(data)
    settings = decode(Settings, member(data, "settings", "record"), "settings")
    states = _states(data)
    runs = tuple(_run(r, states, f"runs[{i}]") for i, r in enumerate(_items(data, "runs")))
    if any(tuple(run.inputs) != tuple(runs[0].inputs) for run in runs):
        raise FileError("runs: all must have the same inputs")
    assert isinstance(data, dict)
    edits = decode(tuple[str, ...], data.get("edits", []), "edits")
    check_value("record", "remarks", edits, "edits")
    kept = decode(bool, data.get("keep_outliers", False), "keep_outliers")
    labels = by_column(_labels(member(data, "labels", "record")), states, tuple(runs[0].inputs))
    runs, held = _cut(runs, decode(tuple[int, ...], data.get("held", []), "held"))
    dataset = Dataset(runs, labels, _names(data, len(runs)), states, edits, kept, held=held)
    dataset = replace(dataset, noise=decode(str, data.get("noise", NoiseChoice.AUTO.value), "noise"))
    fitted = condensed(dataset) if settings.preset == Preset.DEFAULT else dataset
    smooths = tuple(
        resampled(_smooth(s, (run, raw), states, f"smooths[{i}]"), run.t)
        for i, (s, run, raw) in enumerate(
            zip(_items(data, "smooths", len(runs)), fitted.runs, runs, strict=True)
        )
    )
    candidates = [
        _candidate(c, settings.order, dataset, f"candidates[{i}]")
        for i, c in enumerate(_items(data, "candidates"))
    ]
    floor, individual = settings.selection.floor, bool(settings.individual)
    prepared = assemble(dataset, fitted, smooths, settings.order, floor, individual=individual)
    older = [isinstance(c, dict) and "held" not in c for c in _items(data, "candidates")]
    candidates = [_as_fitted(c, prepared) if old else c for c, old in zip(candidates, older, strict=True)]
    n_fitted = decode(int, member(data, "n_fitted", "record"), "n_fitted")
    check_value("record", "n_fitted", n_fitted, "n_fitted")
    interrupted = decode(bool, member(data, "interrupted", "record"), "interrupted")
    supported = decode(bool, member(data, "supported", "record"), "supported")
    timed_out = decode(bool, data.get("timed_out", False), "timed_out")  # older records do not have these
    remarks = decode(tuple[str, ...], data.get("remarks", []), "remarks")
    causes = decode(tuple[str, ...], data.get("causes", []), "causes")
    for name, texts in {"remarks": remarks, "causes": causes}.items():
        check_value("record", name, texts, name)
    n_solved = decode(int, data.get("n_solved", 0), "n_solved")
    check_value("record", "n_fitted", n_solved, "n_solved")
    return Discovery(
        candidates, prepared, settings, n_fitted, interrupted, supported, timed_out, remarks, causes, n_solved
    )


def _candidate(data: object, order: int, dataset: Dataset, where: str) -> Candidate:
    found = candidate_of(data, order, dataset, where)
    if found.equation.states != dataset.states:
        raise FileError(f"{where}.equation has other states than the record")
    if not {*found.equation.skeleton.inputs} <= {*dataset.inputs}:
        raise FileError(f"{where}.equation has other inputs than the record")
    return found


def _as_fitted(candidate: Candidate, prepared: Prepared) -> Candidate:
    """Return a candidate of an older record with what it was fitted to, as far as its numbers show it."""
    places = state_places(candidate.equation.skeleton.orders)
    unknown = np.array([np.isnan(run.initial[places]) for run in prepared.dataset.runs])
    held = np.argwhere(unknown & (candidate.initial == 0)).tolist()
    part = sum(int(np.isfinite(run.observed).sum()) for run in prepared.target.dataset.runs)
    return replace(candidate, held=tuple((i, k) for i, k in held), whole=candidate.n_values != part)


def _written(value: Json) -> str:
    """Return `value` as JSON, the entries of a list one to a line, so that two records can be compared."""
    if not isinstance(value, list):
        return json.dumps(value, allow_nan=False)
    return "[\n" + ",\n".join(json.dumps(v, allow_nan=False) for v in value) + "\n]"


def _check_format(data: object) -> None:
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise FileError(f"it does not begin with the format {FORMAT!r}")
    version = decode(int, member(data, "version", "record"), "version")
    if not 1 <= version <= VERSION:
        raise FileError(f"its version is {version}, and {VERSION} is the newest known; install a newer gode")


def _items(data: object, name: str, length: int | None = None) -> list[object]:
    items = member(data, name, "record")
    if not isinstance(items, list) or not items:
        raise FileError(f"{name} must be a list with entries")
    if length is not None and len(items) != length:
        raise FileError(f"{name} has {len(items)} entries, but {length} are expected")
    return items


def _labels(data: object) -> dict[str, str]:
    if not isinstance(data, dict) or not all(isinstance(v, str) for v in data.values()):
        raise FileError("labels must be an object of texts")
    for name, label in data.items():
        check_value("labels", "", (name, label), f"labels.{ascii(name[:40])[1:-1]}")
    return data


def _names(data: object, n_runs: int) -> tuple[str, ...]:
    """Return the names of the runs; the first records had none."""
    if not isinstance(data, dict) or "names" not in data:
        return ()
    names = decode(tuple[str, ...], data["names"], "names")
    check_value("names", "", names, "names")
    if len(names) not in (0, n_runs):
        raise FileError(f"names has {len(names)} entries, but there are {n_runs} runs")
    return names


def _states(data: object) -> tuple[str, ...]:
    """Return the names of the states; older records of one state have none."""
    if not isinstance(data, dict) or "states" not in data:
        return STATES
    states = decode(tuple[str, ...], data["states"], "states")
    if not 1 <= len(states) <= MAX_STATES:
        raise FileError(f"states has {len(states)} entries, but 1 to {MAX_STATES} are expected")
    if states != STATES:
        check_names(states, "state")
    return states


def _cut(runs: tuple[Run, ...], held: Sequence[int]) -> tuple[tuple[Run, ...], tuple[Run, ...]]:
    """Return what was fitted of each run, and the points at its end that were held back, if any were."""
    if not held:
        return runs, ()
    fits = len(held) == len(runs)
    if not fits or not all(0 < n < run.n_points for run, n in zip(runs, held, strict=True)):
        raise FileError(f"held must have the number of points held back of each of {len(runs)} runs")
    pairs = [run.cut(run.n_points - n) for run, n in zip(runs, held, strict=True)]
    return tuple(first for first, _ in pairs), tuple(rest for _, rest in pairs)


def _run_json(run: Run) -> Json:
    inputs: dict[str, Json] = {}
    for name, signal in run.inputs.items():
        sampled = signal if isinstance(signal, str) else input_values(run, run.t)[name]
        inputs[name] = encode(sampled)
    return {
        "t": encode(run.t),
        "observed": encode(run.observed),
        "initial": encode(run.initial),
        "inputs": inputs,
        "interpolation": run.interpolation.value,
        **({"doses": encode(run.doses)} if run.doses else {}),
        **({} if run.limits is None else {"limits": encode(run.limits)}),
        **({} if run.sd is None else {"sd": encode(run.sd)}),
    }


def _run(data: object, states: tuple[str, ...], where: str) -> Run:
    d = len(states)
    t = decode_array(member(data, "t", where), f"{where}.t", (None,))
    observed = decode_array(member(data, "observed", where), f"{where}.observed", (3 * d, len(t)))
    initial = decode_array(member(data, "initial", where), f"{where}.initial", (2 * d,))
    check_value("Run", "initial", initial, f"{where}.initial")
    given = member(data, "inputs", where)
    if not isinstance(given, dict):
        raise FileError(f"{where}.inputs must be an object")
    inputs: dict[str, Input] = {
        name: v if isinstance(v, str) else decode_array(v, f"{where}.inputs.{name[:40]}", (len(t),))
        for name, v in given.items()
    }
    u, velocity, acceleration = (observed[k::3].T for k in range(3))
    doses = decode(tuple[Dose, ...], data.get("doses", []), f"{where}.doses")  # type: ignore[attr-defined]
    if any(dose.channel not in range(3 * d) for dose in doses):
        raise FileError(f"{where}.doses go into a state that the record does not have")
    run = make_run(
        t, u=u, velocity=velocity, acceleration=acceleration, inputs=inputs, initial=initial, label=where,
        states=states, doses=doses,
    )  # fmt: skip
    if run.n_points != len(t):
        raise FileError(f"{where} has rows where nothing was observed")
    how = chosen_interpolation(None, data.get("interpolation", "auto"))  # type: ignore[attr-defined]
    limits, sd = _limits(data, 3 * d, where), _errors(data, observed, where)
    return replace(run, interpolation=how, limits=limits, sd=sd)


def _errors(data: object, observed: Float, where: str) -> Float | None:
    """Return the given standard errors of a run; most records have none."""
    if not isinstance(data, dict) or "sd" not in data:
        return None
    sd = decode_array(data["sd"], f"{where}.sd", observed.shape)
    given = np.isfinite(sd).any(axis=1, keepdims=True) & np.isfinite(observed)
    if np.any(given & ~(sd > 0)):
        raise FileError(f"{where}.sd must be positive wherever there is a reading")
    return sd


def _limits(data: object, n_channels: int, where: str) -> Limits | None:
    """Return the readings of a run that are known as limits only; older records have none."""
    if not isinstance(data, dict) or "limits" not in data:
        return None
    found = decode(Limits, data["limits"], f"{where}.limits")
    channel = found.channel.astype(np.int64)
    if not len(found.t) == len(channel) == len(found.low) == len(found.high):
        raise FileError(f"{where}.limits must have as many times as channels and limits on both sides")
    if np.any((channel != found.channel) | (channel < 0) | (channel >= n_channels)):
        raise FileError(f"{where}.limits.channel must be numbers from 0 to {n_channels - 1}")
    if (
        not np.all(np.isfinite(found.t))
        or np.any(np.diff(found.t) < 0)
        or not np.all(found.low <= found.high)
    ):
        raise FileError(f"{where}.limits must have times that do not fall, and low values below high ones")
    return replace(found, channel=channel)


def _smooth(data: object, runs: tuple[Run, Run], states: tuple[str, ...], where: str) -> Smooth:
    """Return a smoothed run at the times of one of `runs`: the fitted one, in older records the raw one."""
    found = decode(Smooth, data, where)
    n = next((run.n_points for run in runs if run.n_points == len(found.t)), runs[0].n_points)
    rows = len(runs[0].observed)
    shapes = {"t": (n,), "values": (rows, n), "deviations": (rows, n), "noise": (rows,)}
    shapes |= {"profile": (rows, n), "shares": (rows, 2)}  # where the noise is not constant
    for name, shape in shapes.items():
        values: Float | None = getattr(found, name)
        if values is not None and values.shape != shape:
            raise FileError(f"{where}.{name} has the shape {values.shape}, but {shape} is expected")
    if (found.profile is None) != (found.shares is None):
        raise FileError(f"{where}.profile and {where}.shares belong together; leave out both or none")
    if np.any(np.diff(found.t) <= 0):
        raise FileError(f"{where}.t must hold increasing times")
    known = np.isfinite(found.noise)
    unseen = np.flatnonzero(known & ~np.isfinite(runs[0].observed).any(axis=1))
    if len(unseen):
        name = channel_names(states)[unseen[0]]
        raise FileError(f"{where}.noise has a value for {name}, which was not observed")
    if not known.any():
        raise FileError(f"{where}.noise has no value for what was observed")
    return found


def fit_table(found: Discovery) -> str:
    """Return as CSV what was observed, the solution and the residual of each channel at each time.

    Several runs stand one below the other. Dense records are averaged, as they were fitted.
    """
    dataset = found.prepared.dataset
    rows: dict[tuple[int, float], dict[str, float]] = {}
    names: list[str] = []
    for channel in found.quality.channels:
        own = [channel.shown, f"{channel.shown} fit", f"{channel.shown} residual"]
        names += own
        for part in channel.series:
            values = zip(part.observed.tolist(), part.fit.tolist(), part.residual.tolist(), strict=True)
            for t, row in zip(part.t.tolist(), values, strict=True):
                rows.setdefault((part.run, t), {}).update(zip(own, row, strict=True))
    runs = ["run"] if len(dataset.runs) > 1 else []
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*runs, "t", *names])
    for run, t in sorted(rows):
        cells = rows[run, t]
        writer.writerow([*([dataset.name_of(run)] if runs else []), t, *(cells.get(n, "") for n in names)])
    return out.getvalue()


def read_json(path: Path) -> object:
    """Return what a file of JSON holds.

    Raises:
        FileError: if it cannot be read, is no JSON, or would need much memory.
    """
    content = read_bytes(path, MAX_BYTES, what="a record.json", smaller=FOREIGN)
    _check_size(content, path)
    try:
        return json.loads(content.decode("utf-8"))
    except UnicodeDecodeError:
        raise FileError(f"{path} is not text: {FOREIGN}") from None
    except (ValueError, RecursionError):
        raise FileError(
            f"{path} is not complete JSON: it is no record of gode, or damaged; {OTHER}"
        ) from None


def _check_size(content: bytes, path: Path) -> None:
    """Refuse files that would need much memory, by their size and brackets, before they are parsed."""
    brackets = content.translate(None, NO_BRACKETS)
    found = {
        f"holds more than {MAX_VALUES} values": content.count(b",") > MAX_VALUES,
        f"holds more than {MAX_LISTS} lists": len(brackets) > 2 * MAX_LISTS,
    }
    if not any(found.values()):
        steps = np.frombuffer(brackets.translate(bytes.maketrans(b"[{]}", b"\1\1\377\377")), np.int8)
        depth = int(np.cumsum(steps, dtype=np.int64).max(initial=0))
        found[f"is nested more than {MAX_DEPTH} deep"] = depth > MAX_DEPTH
    for what, is_so in found.items():
        if is_so:
            raise FileError(f"{path} {what}: {FOREIGN}")

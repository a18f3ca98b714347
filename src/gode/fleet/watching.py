"""Watch a folder: does each file that arrives still obey the same law, with the same constants?

The log is the state. Read again it gives the same reference and the same moving means, so a watch that was
ended goes on as if it had not been. A file is read once its size and time have been the same at two looks, so
that none is judged half-written; one that changes after it was judged is judged again.

The first records, less those that lie apart, are the reference: mean constants, and how much they vary from
record to record beyond their error bars. Each record is then asked three things:

- does the law still explain it (misfit against that of the reference)?
- do its constants agree within their joint error bars (Hotelling's statistic with the F distribution)?
- do the constants of many records together move slowly (exponentially weighted mean)?
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import chdtri, fdtri

from gode.arrays import Float, rows_of
from gode.data.noise import centre
from gode.discovery import Discovery, Finding
from gode.discovery.given import fit_in, parse_law
from gode.errors import ConfigError, DataError, FileError, GodeError, shortened
from gode.fleet.engine import Engine, work_through
from gode.fleet.folder import as_line, open_lines, read_lines
from gode.fleet.many import file_task, files_in
from gode.fleet.result import File, Task, Unusable, law_of, result_of, work
from gode.fleet.table import Fleet, table_of
from gode.tables.dataset import DataOptions

LEVEL = 1e-3  # chance that a record without a change is told
MEMORY = 0.15  # weight of the latest record in the moving mean
LIMIT = 4.5  # standard deviations of the moving mean that are a drift
WORSE, FAR = 1.25, 6.0  # misfit: times that of the reference, and standard deviations beyond it
KNOWN = 5.0  # how much better error bars are known than a variance of as many records as the first


class Status(StrEnum):
    """What is said of a record."""

    SAME = "same"
    CHANGED = "changed"
    LAW = "another law"
    FAILED = "failed"


@dataclass(frozen=True)
class Seen:
    """A record to which the law was fitted."""

    id: str
    constants: tuple[float, ...] = ()
    covariance: tuple[tuple[float, ...], ...] = ()
    misfit: float = 0.0
    n_values: int = 1
    poor: bool = False  # whether the law follows the record at all
    failure: str = ""

    @property
    def usable(self) -> bool:
        """Whether the law was fitted, with error bars."""
        return not self.failure


@dataclass(frozen=True)
class Told:
    """What is said of a record: a sentence if it differs, and constants that drift."""

    id: str
    status: Status
    sentence: str = ""
    distance: float = 0.0  # from the reference, in units in which one is the limit
    drift: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reference:
    """What is usual: constants (k,), their covariance, the scatter beyond error bars, and the misfit."""

    constants: Float
    covariance: Float  # of the mean
    scatter: Float  # variances (k,) from record to record beyond the error bars
    inflation: float  # of the error bars, at least one
    misfit: float
    misfit_spread: float
    n: int

    def variance(self, seen: Seen) -> Float:
        """Return the covariance (k, k) of the difference between a record and the reference."""
        own = np.array(seen.covariance, float) + np.diag(self.scatter)
        return np.asarray(self.inflation * own + self.covariance)

    def distance(self, seen: Seen) -> float:
        """Return how far the constants of a record are away; beyond 1 is too far for chance."""
        away, k = np.array(seen.constants) - self.constants, len(self.constants)
        if not k:
            return 0.0
        squared = _squared(away, self.variance(seen))
        limit = k * fdtri(k, self._freedom(seen), 1 - LEVEL) if self.n > 1 else chdtri(k, LEVEL)
        return float(np.sqrt(squared / limit))

    def _freedom(self, seen: Seen) -> float:
        """Return degrees of freedom: few where the variance is learned from the first records, more where it
        is that of the error bars, which are known better."""
        bars = np.diag(np.array(seen.covariance, float))
        learned = np.max(
            self.scatter / np.maximum(self.scatter + bars, 1e-300), initial=1 - 1 / self.inflation
        )
        return (self.n - 1) * min(1 / max(float(learned) ** 2, 1e-9), KNOWN)

    def explains(self, seen: Seen) -> bool:
        """Tell whether the law still follows a record."""
        spread = max(self.misfit_spread, 1 / np.sqrt(2 * seen.n_values))
        worse = seen.misfit > WORSE * self.misfit and seen.misfit > self.misfit + FAR * spread
        return not seen.poor and not worse


def reference_of(first: Sequence[Seen]) -> Reference:
    """Return what is usual among the first records, less those that lie apart."""
    usable = [seen for seen in first if seen.usable and not seen.poor]
    found = _reference(usable)
    for _ in range(3):
        kept = [seen for seen in usable if found.distance(seen) <= 1 and found.explains(seen)]
        if len(kept) < max(3, len(usable) // 2) or len(kept) == len(usable):
            break
        usable, found = kept, _reference(kept)
    return found


def _reference(seen: Sequence[Seen]) -> Reference:
    values = np.array([s.constants for s in seen], float)
    bars = np.array([s.covariance for s in seen], float).reshape(len(seen), values.shape[1], values.shape[1])
    n = len(seen)
    middle, spread = centre(values)
    usual = np.median(np.diagonal(bars, axis1=1, axis2=2), axis=0)
    scatter = np.maximum(spread**2 - usual, 0.0) if n > 2 else np.zeros(values.shape[1])
    own = np.median(bars, axis=0) + np.diag(scatter)
    mean = values.mean(axis=0) if n < 5 else _trimmed(values, middle, np.sqrt(np.diag(own)))
    level, away = map(float, centre(np.array([s.misfit for s in seen])))
    plain = Reference(mean, own / n, scatter, 1.0, level, away, n)
    return Reference(mean, own / n, scatter, _inflation(plain, values, bars), level, away, n)


def _trimmed(values: Float, middle: Float, scale: Float) -> Float:
    """Return the mean of the values that lie within a few standard deviations of the median."""
    near = np.all(np.abs(values - middle) <= 4 * np.maximum(scale, 1e-300), axis=1)
    return np.asarray(values[near].mean(axis=0) if near.any() else middle)


def _inflation(found: Reference, values: Float, bars: Float) -> float:
    """Return by how much the distances of the reference itself exceed what its error bars allow."""
    k = values.shape[1]
    if not k or found.n < 5:
        return 1.0
    squared = []
    for row, bar in zip(values, bars, strict=True):
        squared.append(_squared(row - found.constants, bar + np.diag(found.scatter)))
    return max(1.0, float(np.median(squared)) / float(chdtri(k, 0.5)))


def _squared(away: Float, variance: Float) -> float:
    """Return the squared length of a difference in units of its standard deviations."""
    scale = np.sqrt(np.maximum(np.diag(variance), 1e-300))
    unit = away / scale
    return float(unit @ np.linalg.pinv(variance / np.outer(scale, scale), hermitian=True) @ unit)


@dataclass
class Monitor:
    """Remembers the reference and the moving mean of a stream."""

    places: tuple[str, ...]
    reference: Reference
    mean: Float = field(default_factory=lambda: np.zeros(0))
    weight: float = 0.0  # variance of the moving mean, in units of that of one record
    drifting: set[str] = field(default_factory=set)

    def tell(self, seen: Seen) -> Told:
        """Return what is to be said of the next record."""
        if not seen.usable:
            return Told(seen.id, Status.FAILED, seen.failure)
        if not self.reference.explains(seen):
            usual = self.reference.misfit
            words = f"the law no longer explains it: the residuals are {seen.misfit:.2g} times the noise"
            return Told(seen.id, Status.LAW, f"{words}, usually {usual:.2g}")
        distance = self.reference.distance(seen)
        if distance > 1:
            return Told(seen.id, Status.CHANGED, self._changed(seen), distance)
        return Told(seen.id, Status.SAME, "", distance, tuple(self._drift(seen)))

    def _scaled(self, seen: Seen) -> Float:
        away = np.array(seen.constants) - self.reference.constants
        scale = np.sqrt(np.diag(self.reference.variance(seen)))
        return np.asarray(np.divide(away, scale, out=np.zeros_like(away), where=scale > 0))

    def _changed(self, seen: Seen) -> str:
        """Return a sentence on the constant that differs most."""
        z = self._scaled(seen)
        k = int(np.argmax(np.abs(z)))
        usual, now = self.reference.constants[k], seen.constants[k]
        share = f", {100 * (now / usual - 1):+.1f} %" if usual else ""
        return (
            f"the constants differ: {now:.4g} multiplying {self.places[k]}, usually {usual:.4g}{share} "
            f"({abs(z[k]):.1f} standard deviations)"
        )

    def _drift(self, seen: Seen) -> list[str]:
        """Move the mean, and return sentences on constants that begin to drift."""
        z = self._scaled(seen)
        if not len(self.mean):
            self.mean = np.zeros(len(z))
        self.mean = (1 - MEMORY) * self.mean + MEMORY * z
        self.weight = (1 - MEMORY) ** 2 * self.weight + MEMORY**2
        deviation = np.sqrt(self.weight + 1 / self.reference.n)  # the reference is uncertain, too
        out = []
        for k, place in enumerate(self.places):
            size = abs(self.mean[k]) / deviation
            if size > LIMIT and place not in self.drifting:
                self.drifting.add(place)
                scale = float(np.sqrt(self.reference.variance(seen)[k, k]))
                usual = self.reference.constants[k]
                now = usual + scale * self.mean[k]
                out.append(f"drift: the constant of {place} moves, from {usual:.4g} to about {now:.4g}")
            elif size < LIMIT / 2:
                self.drifting.discard(place)
        return out


LOG = "watch.jsonl"
Stamp = tuple[int, int]  # size in bytes, and time of the last change in nanoseconds
UNKNOWN: Stamp = (-1, -1)  # of a log that does not tell it
GONE: Stamp = (0, 0)  # of a file that was deleted before it was judged
FEWEST = 3  # records that a reference needs


@dataclass(frozen=True)
class Check:
    """A file, and the law to fit to it."""

    id: str
    data: File
    law: str

    def __str__(self) -> str:
        return self.id


@dataclass(frozen=True)
class Law:
    """The law of a stream: its form, what its constants multiply, and where the usual ones come from."""

    law: str
    places: tuple[str, ...] = ()
    first: int = 0  # records from which the usual constants are learned; none if they are given
    usual: Seen | None = None


def check(task: Check) -> tuple[Seen, tuple[str, ...]]:
    """Return the law fitted to a file, and what its constants multiply."""
    try:
        dataset = task.data.dataset()
        texts = [text.strip() for text in task.law.split(";")]
        found = fit_in(dataset, parse_law(texts[0] if len(texts) == 1 else texts, dataset))
    except GodeError as error:
        return Seen(task.id, failure=str(error)), ()
    except Exception as error:  # noqa: BLE001 - one file must not end the watch
        return Seen(task.id, failure=shortened(f"{type(error).__name__}: {error}", 300)), ()
    return seen_of(task.id, found), tuple(c.place for c in found.equation.constants)


def seen_of(name: str, found: Discovery) -> Seen:
    """Return a fit as the monitor takes it."""
    finding: Finding = found.equation
    if not np.all(np.isfinite(finding.covariance)):
        return Seen(name, failure="the record leaves the constants of the law undetermined")
    return Seen(
        name,
        tuple(c.value for c in finding.constants),
        rows_of(finding.covariance),
        found.quality.misfit if np.isfinite(found.quality.misfit) else 1e9,
        found.candidates[0].n_values,
        found.assessment.is_failure,
    )


def given_law(found: Discovery) -> Law:
    """Return the law of a record as that of a stream: its constants are the usual ones."""
    places = tuple(c.place for c in found.equation.constants)
    return Law(law_of(found.candidates[0]), places, 0, seen_of("reference", found))


class Watch:
    """A folder that is watched, and what is known of it."""

    def __init__(
        self,
        folder: Path,
        out: Path,
        engine: Engine,
        *,
        columns: DataOptions,
        options: dict[str, object],
        law: Law | None,
        first: int,
        on_note: Callable[[str], None] | None = None,
    ) -> None:
        self.folder, self.out, self.engine, self.columns = folder, out, engine, columns
        self.options, self.law, self.first, self.on_note = options, law, first, on_note
        self.seen: list[Seen] = []
        self.monitor: Monitor | None = None
        self.known: dict[str, Stamp] = {}  # the files that were judged, as they were then
        self._looked: dict[str, Stamp] = {}  # all files at the last look
        self._recall()

    def arrived(self) -> list[Path]:
        """Return the files to judge, the oldest first: new or changed ones that are as at the last look."""
        found, now = [], {}
        for path in files_in(self.folder):
            stamp = _stamp(path)
            if stamp is None:  # it was moved in the meantime
                continue
            now[path.name] = stamp
            if self.known.get(path.name) == UNKNOWN:
                self.known[path.name] = stamp
            if self.known.get(path.name) != stamp and self._looked.get(path.name) == stamp:
                found.append((stamp[1], path))
        self._looked = now
        return [path for _, path in sorted(found)]

    def take(self, paths: Sequence[Path], *, last: bool = False) -> Iterator[Told]:
        """Check files, and yield what is to be said of each, in their order.

        Until there are enough to learn what is usual, nothing is said, unless `last` says that no more come.

        Raises:
            DataError: if the first records have no law.
        """
        given = self.law is not None and self.law.usual is not None
        fewest = 1 if given or self.monitor is not None else FEWEST if last else self.first
        if len(paths) < fewest:
            return
        tasks, stamps = self._read(paths)
        if len(tasks) < fewest:
            return
        if self.law is None:
            self.law = Law(self._discovered(tasks[: self.first]), (), min(self.first, len(tasks)))
        checked = self._checked(tasks, self.law.law)
        with open_lines(self.out / LOG) as lines:
            for told, seen in self._told([seen for seen, _ in checked], checked, lines.append):
                stamp = stamps[seen.id]
                if self.known.get(seen.id, stamp) != stamp and self.on_note:
                    self.on_note(f"{seen.id} has changed since it was judged, and is judged again")
                self.known[seen.id] = stamp
                lines.append(as_line({"told": asdict(told), "seen": asdict(seen), "file": stamp}))
                yield told

    def _read(self, paths: Sequence[Path]) -> tuple[list[Task], dict[str, Stamp]]:
        """Return the files that did not change while they were read, and how they were."""
        tasks, stamps = [], {}
        for path in paths:
            before, task, after = self._looked.get(path.name), file_task(path, self.columns), _stamp(path)
            if after is None or before == after:  # one that is gone is told
                tasks.append(task)
                stamps[path.name] = after or GONE
        return tasks, stamps

    def _told(
        self, new: list[Seen], checked: list[tuple[Seen, tuple[str, ...]]], write: Callable[[str], None]
    ) -> Iterator[tuple[Told, Seen]]:
        assert self.law is not None
        if self.monitor is None:
            places = next((places for _, places in checked if places), self.law.places)
            self.law = Law(self.law.law, places, self.law.first or min(self.first, len(new)), self.law.usual)
            self._begin(new)
            write(as_line({"law": asdict(self.law)}))
        assert self.monitor is not None
        for seen in new:
            self.seen.append(seen)
            yield self.monitor.tell(seen), seen

    def _begin(self, seen: Sequence[Seen]) -> None:
        """Learn what is usual from the first records, if it was not given."""
        assert self.law is not None
        usual = self.law.usual
        if usual is not None:
            variance = np.array(usual.covariance, float)
            level = usual.misfit
            found = Reference(
                np.array(usual.constants), variance, np.zeros(len(variance)), 1.0, level, 0.0, 1
            )
        else:
            first = [s for s in seen[: self.law.first] if s.usable and not s.poor]
            if len(first) < FEWEST:
                why = next((f" ({s.id}: {s.failure})" for s in seen if s.failure), "")
                raise DataError(
                    f"{self.law.law} explains {len(first)} of the first {self.law.first} records{why}, but "
                    f"{FEWEST} are needed to learn what is usual; give another law by --law, or more records"
                )
            found = reference_of(first)
        self.monitor = Monitor(self.law.places, found)

    def _discovered(self, tasks: Sequence[Task]) -> str:
        """Return the law behind most of the first records."""
        wanted = [Task(task.id, task.data, self.options) for task in tasks]
        results = [result_of(done) for done in work_through(wanted, work, self.engine, on_note=self.on_note)]
        packed = {result.id: result.packed for result in results}
        laws = Fleet(table_of(results), lambda name: packed[name]).grouping.laws
        if not laws:
            raise DataError(f"no law was found in the first records: {results[0].failure}; give one by --law")
        return laws[0]

    def _checked(self, tasks: Sequence[Task], law: str) -> list[tuple[Seen, tuple[str, ...]]]:
        wanted = [Check(task.id, task.data, law) for task in tasks if isinstance(task.data, File)]
        found: dict[str, tuple[Seen, tuple[str, ...]]] = {
            t.id: (Seen(t.id, failure=t.data.failure), ()) for t in tasks if isinstance(t.data, Unusable)
        }
        for done in work_through(wanted, check, self.engine, on_note=self.on_note):
            found[done.task.id] = done.result or (Seen(done.task.id, failure=done.failure), ())
        return [found[task.id] for task in tasks]

    def _recall(self) -> None:
        """Read the log of an earlier watch."""
        path = self.out / LOG
        if not path.is_file():
            return
        lines = list(read_lines(path, _line, "a line of a watch"))
        heads = [line["law"] for line in lines if "law" in line]
        seen = [line["seen"] for line in lines if "seen" in line]
        if not heads or not seen:
            return
        head = heads[0]
        if self.law is not None and self.law.law != head.law:
            raise ConfigError(
                f"{path} watches {head.law}, not {self.law.law}; give the same law, or another --out"
            )
        self.law = head
        self._begin(seen)
        assert self.monitor is not None
        for each in seen:
            self.monitor.tell(each)
        self.seen = seen
        self.known = {line["seen"].id: line["file"] for line in lines if "seen" in line}


def _stamp(path: Path) -> Stamp | None:
    """Return what changes when a file is written; None if it is not there."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns


def _line(text: str) -> dict[str, Any]:
    """Return a line of the log: the law, or what was seen of a file and how the file was.

    Raises:
        ValueError: if it is none.
    """
    try:
        values = json.loads(text)
        if "seen" in values:
            size, changed = values.get("file", UNKNOWN)
            return {"seen": _seen(values["seen"]), "file": (int(size), int(changed))}
        head = values["law"]
        usual = _seen(head["usual"]) if head["usual"] else None
        return {"law": Law(head["law"], tuple(head["places"]), head["first"], usual)}
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise FileError(f"a law or a record is expected: {type(error).__name__} {error}") from error


def _seen(values: dict[str, Any]) -> Seen:
    rows = tuple(map(tuple, values["covariance"]))
    return Seen(**{**values, "constants": tuple(values["constants"]), "covariance": rows})

"""Checkpoint: a file of finished fits, with which a discovery that was killed continues.

A discovery is reproducible and spends nearly all its time on fits to the trajectory. Each finished fit is
appended as one line; the same discovery, started again, looks its fits up. A file that belongs to other
data or settings is overwritten.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import replace
from pathlib import Path

from gode import __version__
from gode.arrays import Float
from gode.choices import NoiseChoice
from gode.data import Dataset, Run
from gode.equation.printer import exact, to_text
from gode.equation.system import make_law
from gode.errors import FileError, GodeError
from gode.files import read_bytes, write_text
from gode.fitting.population import Individuals
from gode.fitting.prepare import input_values
from gode.json_codec import Json, decode, encode
from gode.search.workers import Start
from gode.selection import Candidate

MAX_BYTES = 2_000_000_000  # A larger file is not read; set by hand.


class Checkpoint(MutableMapping[Start, Candidate | None]):
    """The finished fits, in memory and at `path`."""

    def __init__(self, path: Path, dataset: Dataset, options: Mapping[str, object]) -> None:
        self.path = path
        self.dataset = dataset
        self.head = {"gode": __version__, "of": _fingerprint(dataset, options)}
        self.known = self._read()
        self._rewrite()
        self.n_recalled = len(self.known)

    def __getitem__(self, start: Start) -> Candidate | None:
        data = self.known[_key(start)]
        if data is None:
            return None
        found = candidate_of(data, start.equation.order, self.dataset, str(self.path))
        return replace(found, equation=make_law(start.equation.skeleton, found.equation.constants))

    def __setitem__(self, start: Start, candidate: Candidate | None) -> None:
        key, data = _key(start), None if candidate is None else encode(candidate)
        self.known[key] = data
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps([key, data]) + "\n")
        except OSError as error:
            raise FileError(
                f"{self.path} cannot be written ({error.strerror}); free some space and give the same "
                "command again: it goes on from here"
            ) from None

    def __delitem__(self, start: Start) -> None:
        del self.known[_key(start)]

    def __contains__(self, start: object) -> bool:
        return isinstance(start, Start) and _key(start) in self.known

    def __iter__(self) -> Iterator[Start]:
        raise FileError("a checkpoint cannot list its fits; look one up")

    def __len__(self) -> int:
        return len(self.known)

    def remove(self) -> None:
        """Delete the file."""
        self.path.unlink(missing_ok=True)

    def _read(self) -> dict[str, object]:
        """Return the fits of the same discovery; an incomplete last line is left out."""
        try:
            if not self.path.exists():
                return {}
        except OSError as error:
            raise FileError(f"{self.path} cannot be read ({error.strerror}); name another folder") from None
        content = read_bytes(self.path, MAX_BYTES, smaller="delete it and begin again")
        lines = content.decode("utf-8", errors="replace").splitlines()
        known: dict[str, object] = {}
        if not lines or _parsed(lines[0]) != self.head:
            return known
        for line in lines[1:]:
            entry = _parsed(line)
            if not _is_entry(entry, self.dataset, str(self.path)):
                break
            known[entry[0]] = entry[1]  # type: ignore[index]
        return known

    def _rewrite(self) -> None:
        lines = [json.dumps(self.head), *(json.dumps([k, v]) for k, v in self.known.items())]
        write_text(self.path, "\n".join(lines) + "\n")


def candidate_of(data: object, order: int, dataset: Dataset, where: str) -> Candidate:
    """Return the candidate whose JSON form is `data`, checked against the data it was fitted to."""
    found = decode(Candidate, data, where)
    k, dimension = len(found.equation.constants), sum(found.equation.skeleton.orders)
    if found.equation.order != order:
        raise FileError(f"{where}.equation is of order {found.equation.order}, but {order} was sought")
    n_runs = len(dataset.runs)
    if found.own is not None:
        n_runs = _check_own(found.own, k, dataset, whole=found.whole, where=where)
    shapes = {"initial": (n_runs, dimension), "covariance": (k, k)}
    for name, shape in shapes.items():
        values: Float = getattr(found, name)
        if values.shape != shape:
            raise FileError(f"{where}.{name} has the shape {values.shape}, but {shape} is expected")
    return found


def _check_own(own: Individuals, k: int, dataset: Dataset, *, whole: bool, where: str) -> int:
    """Check the constants of each run, and return the number of runs: all, or those that were screened."""
    n, q = len(own.values), len(own.places)
    if (
        own.values.shape != (n, q)
        or own.covariances.shape != (n, q, q)
        or (n != len(dataset.runs) if whole else n > len(dataset.runs))
    ):
        raise FileError(f"{where}.own has constants of {n} runs, but there are {len(dataset.runs)}")
    if len(set(own.places)) != q or not all(0 <= place < k for place in own.places):
        raise FileError(f"{where}.own.places must be numbers from 0 to {k - 1}, each once")
    return n


def _fingerprint(dataset: Dataset, options: Mapping[str, object]) -> str:
    """Return a hash of the data and options that determine the result."""
    runs = [[encode(r.t), encode(r.observed), encode(r.initial), _inputs(r)] for r in dataset.runs]
    kept: list[Json] = ["keep outliers"] * dataset.keep_outliers
    kept += [dataset.noise] * (dataset.noise != NoiseChoice.AUTO)
    kept += [encode(run.sd) for run in dataset.runs if run.sd is not None]
    return hashlib.sha256(json.dumps([runs, encode(options), *kept], sort_keys=True).encode()).hexdigest()


def _inputs(run: Run) -> Json:
    """Return the inputs: their values, and whether they are a formula, a callable or interpolated samples."""
    values = input_values(run, run.t)
    return {
        name: [
            given if isinstance(given, str) else "callable" if callable(given) else run.interpolation.value,
            encode(values[name]),
        ]
        for name, given in run.inputs.items()
    }


def _key(start: Start) -> str:
    """Return the skeleton, what it is fitted to, and the constants that the fit starts from, every digit."""
    words = ["whole"] * start.whole + ["patient"] * start.patient
    words += [float(c).hex() for c in start.equation.constants]
    words += ["at", *(float(v).hex() for run in start.initial for v in run)] if start.initial else []
    words += ["each", *(float(v).hex() for run in start.each for v in run)] if start.each else []
    words += ["own", *map(str, start.own)] if start.own is not None else []
    skeleton = start.equation.skeleton
    texts = [to_text(part.written_tree, exact) for part in skeleton.parts]
    texts += [str(list(map(tuple, skeleton.links)))] if skeleton.links else []
    return f"{start.view}{'; '.join(texts)} = 0 from {' '.join(words)}"


def _parsed(line: str) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _is_entry(entry: object, dataset: Dataset, where: str) -> bool:
    if not isinstance(entry, list) or len(entry) != 2 or not isinstance(entry[0], str):
        return False
    if entry[1] is None:
        return True
    try:
        decode(Candidate, entry[1], where)
    except GodeError:
        return False
    return True

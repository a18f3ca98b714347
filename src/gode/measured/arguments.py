"""Files as arguments of `gode.discover` and `gode.fit`, read as the command line reads them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gode.measured.read import DataOptions, read_dataset

if TYPE_CHECKING:
    from gode.arrays import Float
    from gode.data import Dataset

CHANNELS = ("u", "velocity", "acceleration")


def read_arguments(
    *files: str,
    time: str | None = None,
    u: str | None = None,
    states: str | None = None,
    velocity: str | None = None,
    acceleration: str | None = None,
    force: str | None = None,
    run: str | None = None,
    edit: Sequence[str] = (),
    header: int | None = None,
    skip: int = 0,
    decimal: str | None = None,
    missing: Sequence[str] = (),
) -> dict[str, object]:
    """Return what files hold, as arguments of `gode.discover` and `gode.fit`: times, signals, known inputs.

    The format, the columns and the times are recognised as by the command line, whose options these are.

    Args:
        time, u, states, velocity, acceleration, force, run: columns by name or number, or none; those that
            are not given are guessed from their names and from how they behave.
        edit: changes of what was read, such as "crop 0 to 30".
        header: the line of the column names in the file, from 1; 0 if there is none.
        skip: how many lines at the start of the file are left out.
        decimal: the decimal sign, "." or ",".
        missing: words in cells that hold no reading, besides usual ones such as NA and n.d.; "text" for any.

    Raises:
        DataError, ConfigError: with a sentence that says what to do.

    Example:
        >>> data = read_arguments("plate.csv", u="A1,A2", edit=["crop 0 to 30"])  # doctest: +SKIP
        >>> d = gode.discover(**data)  # doctest: +SKIP
    """
    options = DataOptions(
        time=time, u=u, states=states, velocity=velocity, acceleration=acceleration, force=force, run=run,
        edit=tuple(edit), header=header, skip=skip, decimal=decimal, missing=tuple(missing),
    )  # fmt: skip
    dataset, _ = read_dataset(files, options)
    return {"t": _each(dataset, [run.t for run in dataset.runs]), **_signals(dataset), **_inputs(dataset)}


def _signals(dataset: "Dataset") -> dict[str, object]:
    """Return what was observed: arrays of a single state, of several by their names."""
    several = len(dataset.states) > 1
    names = list(dataset.states) if several else _called(dataset, "u")
    out: dict[str, object] = {"names": names} if names else {}
    for order, name in enumerate(CHANNELS):
        seen = {
            state: _each(dataset, [run.observed[3 * s + order] for run in dataset.runs])
            for s, state in enumerate(dataset.states)
            if state + "'" * order in dataset.channels
        }
        if seen:
            out[name] = seen if several else next(iter(seen.values()))
    return out


def _inputs(dataset: "Dataset") -> dict[str, object]:
    """Return the known inputs: one as it is, several by their names."""
    found: dict[str, object] = {}
    for name in dataset.inputs:
        given = [run.inputs[name] for run in dataset.runs]
        formula = next((each for each in given if isinstance(each, str)), None)
        found[name] = formula or _each(dataset, given)  # type: ignore[arg-type]  # samples, from a file
    if len(found) == 1 and len(dataset.states) == 1:
        (values,) = found.values()
        called = _called(dataset, "force")
        return {"force": {called[0]: values} if called else values}
    return {"force": found} if found else {}


def _called(dataset: "Dataset", role: str) -> list[str]:
    """Return the name of the column of a single signal or input, if an equation can have it."""
    from gode.data.labels import plain_label

    name = plain_label(dataset.labels.get(role, ""))
    return [name] if name.isidentifier() else []


def _each(dataset: "Dataset", values: "list[Float]") -> "Float | list[Float]":
    """Return what belongs to each run: a list, or the one value of a single run."""
    return values if len(dataset.runs) > 1 else values[0]

"""The example measurements that come with the package."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from gode.arrays import Float
from gode.errors import DataError


@dataclass(frozen=True)
class Example:
    """An example: its columns by name, and the truth it was made from."""

    columns: Mapping[str, Float]
    truth: str

    @property
    def t(self) -> Float:
        """The times."""
        return self.columns["t"]

    @property
    def u(self) -> Float:
        """The signal; the example of a pendulum has accelerations instead, in `columns`."""
        return self.columns["u"]


def load_example(name: str) -> Example:
    """Return the example called `name`: growth, pendulum, shaker or bubble.

    Raises:
        DataError: if there is none.
    """
    folder = files("gode.data.examples")
    path = folder / f"{name}.csv"
    if not path.is_file():
        known = sorted(f.name.removesuffix(".csv") for f in folder.iterdir() if f.name.endswith(".csv"))
        raise DataError(f"there is no example {name!r}; known are {', '.join(known)}")
    comment, header, *rows = path.read_text(encoding="utf-8").splitlines()
    table = np.array([[float(x) for x in row.split(",")] for row in rows])
    return Example(dict(zip(header.split(","), table.T, strict=True)), comment.removeprefix("# "))

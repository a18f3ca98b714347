"""The example measurements that come with the package."""

from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from gode.arrays import Float
from gode.errors import DataError


@dataclass(frozen=True)
class Example:
    """An example: its data, and the truth it was made from."""

    t: Float
    u: Float
    truth: str


def load_example(name: str) -> Example:
    """Return the example called `name`.

    Raises:
        DataError: if there is none.
    """
    folder = files("gode.data.examples")
    path = folder / f"{name}.csv"
    if not path.is_file():
        known = sorted(f.name.removesuffix(".csv") for f in folder.iterdir() if f.name.endswith(".csv"))
        raise DataError(f"there is no example {name!r}; known are {', '.join(known)}")
    comment, _, *rows = path.read_text(encoding="utf-8").splitlines()
    table = np.array([[float(x) for x in row.split(",")] for row in rows])
    return Example(table[:, 0], table[:, 1], comment.removeprefix("# "))

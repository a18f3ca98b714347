"""The laws that were fitted, as a list that is shown as a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from gode.selection import Candidate

if TYPE_CHECKING:
    import pandas as pd

LAW_WIDTH = 70  # The characters of a law in a table of them: with the other columns they fill a line.


class Candidates(list[Candidate]):
    """The laws that were fitted, the best first, which are shown as a table."""

    def __init__(self, laws: Iterable[Candidate], rows: Callable[[], list[dict[str, object]]]) -> None:
        super().__init__(laws)
        self.rows = rows

    @cached_property
    def table(self) -> pd.DataFrame:
        """Law, complexity, misfit, criterion, probability and error on what was held back of each.

        Misfits are root mean square residuals in units of the noise, the criterion is told over the least.
        """
        return table_of(self.rows())

    def __repr__(self) -> str:
        return self.table.to_string(max_colwidth=LAW_WIDTH)

    def _repr_html_(self) -> str:
        return str(self.table._repr_html_())  # type: ignore[operator]


def table_of(rows: Sequence[Mapping[str, object]], columns: list[str] | None = None) -> pd.DataFrame:
    """Return rows as a table; pandas is imported for the first one, as most discoveries need none."""
    import pandas as pd

    return pd.DataFrame(rows, columns=columns)

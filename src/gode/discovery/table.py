"""The table of equations that may be shown."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gode.discovery.assessment import Assessment
from gode.discovery.finding import Finding
from gode.selection import Candidate, SelectionConfig, front, probabilities

if TYPE_CHECKING:
    import pandas as pd


def equation_rows(
    shown: Sequence[tuple[Candidate, float]],
    candidates: Sequence[Candidate],
    told: Assessment,
    config: SelectionConfig,
    floor: Sequence[float],
) -> list[dict[str, object]]:
    """Return a row for each candidate that is shown with its misfit, the best of all candidates first.

    The probability is that if one of the candidates is right, NaN where none explains the data.
    """
    close = {id(c) for c in told.near}
    best = {id(c) for c in front(candidates)}
    if told.probability is None:
        shares = dict.fromkeys(map(id, candidates), np.nan)
    else:
        known = probabilities(candidates, config, floor).tolist()
        shares = {id(c): p for c, p in zip(candidates, known, strict=True)}
    least = min(c.criterion for c in candidates)
    rows: list[dict[str, object]] = []
    for candidate, misfit in shown:
        finding = Finding(candidate)
        why = "best" if candidate is candidates[0] else ("near tie" if id(candidate) in close else "front")
        rows.append(
            {
                "equation": "; ".join(finding.lines()),
                "complexity": candidate.complexity,
                "constants": [c.value for c in finding.constants],
                "errors": [c.error for c in finding.constants],
                "rms": misfit,
                "criterion": candidate.criterion - least,
                "probability": shares[id(candidate)],
                "why": why + (", front" if id(candidate) in best and why != "front" else ""),
            }
        )
    return rows


def frame(rows: Sequence[Mapping[str, object]], columns: list[str] | None = None) -> "pd.DataFrame":
    """Return rows as a table; pandas is imported for the first one, as most discoveries need none."""
    import pandas as pd

    return pd.DataFrame(rows, columns=columns)

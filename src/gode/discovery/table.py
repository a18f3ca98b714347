"""The table of equations that may be shown."""

from collections.abc import Sequence

import pandas as pd

from gode.discovery.finding import Finding
from gode.selection import Candidate, SelectionConfig, front, probabilities, ties


def equations_table(
    shown: Sequence[tuple[Candidate, float]], candidates: Sequence[Candidate], config: SelectionConfig
) -> pd.DataFrame:
    """Return a row for each candidate that is shown with its misfit, the best of all candidates first."""
    close = {id(c) for c in ties(candidates, config)}
    best = {id(c) for c in front(candidates)}
    shares = {id(c): p for c, p in zip(candidates, probabilities(candidates, config).tolist(), strict=True)}
    least = min(c.criterion for c in candidates)
    rows = []
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
    return pd.DataFrame(rows)

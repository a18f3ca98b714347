"""Fit and residuals of what was found, as a table: a row for each time, three columns for each channel."""

import csv
import io

from gode.discovery import Discovery


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

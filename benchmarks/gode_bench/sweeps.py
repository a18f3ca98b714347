"""Sweeps: errors and exact structures against noise, samples, gaps or runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from gode.data.dataset import CHANNELS
from gode_bench.methods import title_of
from gode_bench.records import Record
from gode_bench.tables import TextTable, methods_of

PREFIX = "sweep-"


@dataclass(frozen=True)
class Curve:
    """One method along a sweep: mean errors of u and u' and the share of exact structures at each level."""

    method: str
    levels: tuple[float, ...]
    errors: tuple[tuple[float, ...], ...]  # of u, u' at each level
    exact: tuple[float, ...]
    counts: tuple[int, ...]


def sweeps_of(records: Sequence[Record]) -> dict[str, list[Record]]:
    """Return the records of each sweep, by the quantity it varies."""
    found: dict[str, list[Record]] = {}
    for record in records:
        if record.job.study.startswith(PREFIX):
            found.setdefault(record.job.study.removeprefix(PREFIX), []).append(record)
    return dict(sorted(found.items()))


def curves(what: str, records: Sequence[Record]) -> list[Curve]:
    """Return one curve for each method."""
    return [
        _curve_of(name, what, [r for r in records if r.job.method == name]) for name in methods_of(records)
    ]


def _curve_of(name: str, what: str, records: Sequence[Record]) -> Curve:
    levels = sorted({level_of(r, what) for r in records})
    groups = [[r for r in records if level_of(r, what) == level] for level in levels]
    return Curve(
        name,
        tuple(levels),
        tuple(tuple(fmean(r.score.errors[i] for r in group) for i in range(2)) for group in groups),
        tuple(fmean(r.score.exact for r in group) for group in groups),
        tuple(len(group) for group in groups),
    )


def level_of(record: Record, what: str) -> float:
    """Return the value of the varied quantity."""
    job = record.job
    return {"noise": job.noise, "samples": job.samples, "dropped": job.dropped, "runs": job.runs}[what]


def sweep_table(what: str, records: Sequence[Record]) -> TextTable:
    """Return the curves as a table."""
    rows = []
    for curve in curves(what, records):
        steps = zip(curve.levels, curve.errors, curve.exact, curve.counts, strict=True)
        for level, errors, exact, n in steps:
            shown = f"{100 * level:g} %" if what in ("noise", "dropped") else f"{level:g}"
            cells = (*(f"{e:.4f}" for e in errors), f"{100 * exact:.0f} %", str(n))
            rows.append((title_of(curve.method), shown, *cells))
    names = sorted({r.job.problem for r in records})
    note = (
        f"Means over {', '.join(names)}; seeds {', '.join(map(str, sorted({r.job.seed for r in records})))}."
    )
    return TextTable(f"sweep of {what}", ("method", what, *CHANNELS[:2], "exact", "runs"), tuple(rows), note)

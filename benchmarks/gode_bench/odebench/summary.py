"""Shares of successes and of exact structures over groups of systems, in per cent."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from gode_bench.odebench.score import succeeded
from gode_bench.odebench.systems import CHAOTIC, DYSTS, system
from gode_bench.records import Record

EXCELLENT = 0.99  # R² from which AutoSINDy counts a simulation as excellent

GROUPS: dict[str, Callable[[Record], bool]] = {
    "all": lambda r: True,
    "all but chaotic": lambda r: not is_chaotic(r),
    "several states": lambda r: n_states(r) > 1,
    "several states but chaotic": lambda r: n_states(r) > 1 and not is_chaotic(r),
}


@dataclass(frozen=True)
class Shares:
    """The runs of one method in one group of systems; shares in per cent."""

    group: str
    n: int
    systems: int
    reconstruction: float
    generalisation: float
    components: float  # equations with the true structure
    whole: float  # systems of which every equation has it
    large_components: float  # the same without negligible terms
    large_whole: float
    excellent: float  # simulations from the other initial condition with R² of .99 or more
    crashes: int  # laws that cannot be solved from it
    seconds: dict[int, float]  # median by the number of states
    failed: int


def n_states(record: Record) -> int:
    """Return the number of states of the system of a run."""
    return len(system(record.job.problem, record.job.study).states)


def is_chaotic(record: Record) -> bool:
    """Tell whether errors grow so fast that a trajectory cannot be followed to its end."""
    return record.job.study == DYSTS or record.job.problem in CHAOTIC


def shares(group: str, records: Sequence[Record]) -> Shares:
    """Return the shares of some runs."""
    scores = [r.score for r in records]
    counts = sorted({n_states(r) for r in records})
    return Shares(
        group=group,
        n=len(records),
        systems=len({r.job.problem for r in records}),
        reconstruction=_percent([succeeded(s.r2[0]) for s in scores]),
        generalisation=_percent([succeeded(s.r2[1]) for s in scores]),
        components=_percent([one for s in scores for one in s.components]),
        whole=_percent([all(s.components) for s in scores]),
        large_components=_percent([one for s in scores for one in s.large]),
        large_whole=_percent([all(s.large) for s in scores]),
        excellent=_percent([(-1.0 if s.r2[1] is None else s.r2[1]) >= EXCELLENT for s in scores]),
        crashes=sum(r.equation is not None and r.score.r2[1] is None for r in records),
        seconds={d: median(r.seconds for r in records if n_states(r) == d) for d in counts},
        failed=sum(r.equation is None for r in records),
    )


def grouped(records: Sequence[Record]) -> list[Shares]:
    """Return the shares of each group of systems that differs from those before it."""
    found: dict[tuple[str, ...], Shares] = {}
    for name, belongs in GROUPS.items():
        own = [r for r in records if belongs(r)]
        key = tuple(r.job.key for r in own)
        if own and key not in found:
            found[key] = shares(name, own)
    return list(found.values())


def _percent(flags: Sequence[bool]) -> float:
    return 100 * fmean(flags)

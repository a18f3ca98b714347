"""The quick suite: minutes instead of hours, with limits on the errors."""

from collections.abc import Sequence
from pathlib import Path

from gode.choices import EffortName
from gode.data.dataset import CHANNELS
from gode_bench.jobs import QUICK, Job, suite_jobs
from gode_bench.records import Record, read_records
from gode_bench.tables import summarise

# Largest mean errors of u, u', u'' of effort quick on the problems of QUICK at 5 % noise, seed 0, and the
# least number of true structures; set to about three times the errors measured.
LIMITS: dict[str, tuple[tuple[float, ...], int]] = {
    "b1": ((0.006, 0.03), 3),
    "b2": ((0.01, 0.03, 0.1), 2),
    "b3": ((0.03, 0.02, 0.015), 1),
}


def quick_jobs(names: Sequence[str]) -> list[Job]:
    """Return the jobs of the quick suite."""
    return suite_jobs(
        names,
        problems=[one for name in names for one in QUICK[name]],
        methods=("gode", "floor"),
        seeds=(0,),
        noise=(0.05,),
        initial="known",
        effort=EffortName.QUICK.value,
    )


def check_quick(folder: Path, jobs: Sequence[Job]) -> list[str]:
    """Return a sentence for each limit that is exceeded."""
    wanted = {job.key for job in jobs}
    records = [r for r in read_records(folder) if r.job.key in wanted]
    return [sentence for name in LIMITS for sentence in _exceeded(name, records)]


def _exceeded(name: str, records: Sequence[Record]) -> list[str]:
    own = [r for r in records if r.job.study == name and r.job.method == "gode"]
    if not own:
        return []
    limits, least = LIMITS[name]
    means = summarise("gode", own).mean
    losses = [
        f"{name}: mean error of {channel} is {mean:.4f}, but must stay below {limit}"
        for channel, mean, limit in zip(CHANNELS, means, limits, strict=False)
        if mean is not None and mean > limit
    ]
    found = sum(r.score.structure for r in own)
    if found < least:
        losses.append(f"{name}: {found} of {len(own)} structures found, but must be at least {least}")
    return losses

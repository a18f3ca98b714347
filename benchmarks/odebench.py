"""ODEBench for tuning: a line for each system as it finishes, then the shares, in per cent.

    python benchmarks/odebench.py [--ids 24-63] [--seed 1] [--noise 0.05] [--drop 0.5] [--method gode]
        [--effort normal] [--jobs 2] [--out FILE.csv]

Data and scores are those of `gode bench odebench`, which keeps its runs and goes on after a stop; this
keeps nothing but the table. With one job all is done in this process, which a profiler can watch.
"""

import argparse
import csv
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from gode.benchmarks.jobs import Job, odebench_jobs
from gode.benchmarks.odebench.summary import grouped, n_states
from gode.benchmarks.odebench.tables import flags, one_line, shown_r2
from gode.benchmarks.records import Record
from gode.benchmarks.run import RunConfig, run_jobs
from gode.benchmarks.worker import run_job, warm_up

COLUMNS = ("id", "d", "seed", "noise", "drop", "recon", "gen", "exact", "large", "seconds", "equation")


def cells(record: Record) -> tuple[str, ...]:
    """Return a run as text: R² of both initial conditions, a flag for each equation, and the equations."""
    job, score = record.job, record.score
    return (
        job.problem, str(n_states(record)), str(job.seed), f"{job.noise:g}", f"{job.dropped:g}",
        *map(shown_r2, score.r2), flags(score.components), flags(score.large), f"{record.seconds:.1f}",
        one_line(record.equation) if record.equation else f"[{score.failure}]",
    )  # fmt: skip


def tell(record: Record) -> None:
    """Print a run."""
    name, d, _, _, _, recon, gen, exact, large, seconds, text = cells(record)
    print(
        f"{name:>3s} d{d} {recon:>9s} {gen:>9s} {exact:4s} {large:4s} {seconds:>6s} s  {text}",
        flush=True,
    )


def sum_up(records: Sequence[Record]) -> None:
    """Print the shares of each group of systems."""
    print(f"{'systems':28s} {'n':>3s} recon   gen  comp  syst  comp* syst*  median s")
    for s in grouped(records):
        numbers = (
            s.reconstruction, s.generalisation, s.components, s.whole, s.large_components, s.large_whole,
        )  # fmt: skip
        times = ", ".join(f"d{d} {seconds:.1f}" for d, seconds in s.seconds.items())
        print(f"{s.group:28s} {s.n:3d} {' '.join(f'{x:5.1f}' for x in numbers)}  {times}")
    print("comp, syst: exact components and systems; * without terms below 0.1 % of the largest")


def run(jobs: list[Job], processes: int, limit: float) -> list[Record]:
    """Run the jobs and print each."""
    if processes > 1:
        with tempfile.TemporaryDirectory() as folder:
            config = RunConfig(workers=processes, limit=limit)
            return run_jobs(jobs, Path(folder), config, lambda step: tell(step.record))
    warm_up()
    records = []
    for job in jobs:
        records.append(run_job(job))
        tell(records[-1])
    return records


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ids", nargs="*", default=(), help="numbers and ranges, 24,25 or 24-63")
    parser.add_argument("--seed", type=int, nargs="+", default=[1], help="seeds of the noise")
    parser.add_argument("--noise", type=float, default=0.05)
    parser.add_argument("--drop", type=float, default=0.0)
    parser.add_argument("--method", default="gode")
    parser.add_argument("--effort", default="normal")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--limit", type=float, default=600.0, help="seconds of a run, with several jobs")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    jobs = odebench_jobs(
        problems=given.ids, methods=[given.method], seeds=given.seed, noise=[given.noise],
        dropped=[given.drop], effort=given.effort,
    )  # fmt: skip
    records = run(jobs, given.jobs, given.limit)
    sum_up(records)
    if given.out:
        with given.out.open("w", newline="") as file:
            csv.writer(file).writerows([COLUMNS, *map(cells, records)])


if __name__ == "__main__":
    sys.exit(main())

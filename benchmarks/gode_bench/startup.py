"""What a start costs, beside another checkout: processor time of fresh processes that take turns.

    python -m gode_bench.startup CHECKOUT [--turns 5] [--cold]

A discovery of 71 rows on the command line and the start of one of four workers of a fleet; with `--cold` the
first discovery and the demo of an installation, for which everything is compiled (minutes each). Bytecode is
written before, but for `--cold` compiled kernels, too. `git worktree add ../before COMMIT` makes a checkout.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).parents[2]
GROWTH = str(HERE / "src" / "gode" / "data" / "examples" / "growth.csv")
COMMAND = "import sys; from gode.cli.start import main; sys.argv[0] = 'gode'; sys.exit(main())"
WORKERS = 4
# Each worker waits for the others, so that none does the work of two; older checkouts keep `begin` elsewhere.
# Printed is the processor time of all processes that were started, those that start others included.
FLEET = f"""
import os, time
from pathlib import Path
from gode.fleet.processes import Processes
try:
    from gode.fleet.result import begin
except ImportError:
    from gode.fleet.work import begin

def spent(process):
    ticks = Path(f"/proc/{{process}}/stat").read_text().rpartition(")")[2].split()[11:13]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK") + started(process)

def started(process):
    lists = Path(f"/proc/{{process}}/task").glob("*/children")
    return sum(spent(child) for each in lists for child in each.read_text().split())

with Processes({WORKERS}, begin=begin) as pool:
    for done in [pool.submit(time.sleep, 1.0) for _ in range({WORKERS})]:
        done.result()
    print(started(os.getpid()))
"""
WARM = {"discovery": [COMMAND, "discover", GROWTH], "worker": [FLEET]}
COLD = {"first discovery": [COMMAND, "discover", GROWTH], "first demo": [COMMAND, "demo"]}


def processor_seconds(checkout: Path, words: list[str], *, empty: bool = False) -> float:
    """Return the processor seconds of a fresh Python with the code of a checkout, and of its children.

    Of a fleet, return those of a worker.
    """
    settings = {**os.environ, "PYTHONPATH": str(checkout / "src"), "OMP_NUM_THREADS": "1"}
    settings.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as folder:
        if empty:
            settings["NUMBA_CACHE_DIR"] = f"{folder}/compiled"
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [sys.executable, "-c", *words], cwd=folder, env=settings, capture_output=True, check=True
        )
        if words == [FLEET]:
            return float(done.stdout) / WORKERS
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compare(other: Path, *, turns: int, cold: bool) -> dict[str, tuple[float, float]]:
    """Return the median of what each start costs here and in another checkout, in seconds."""
    found = {}
    for name, words in (COLD if cold else WARM).items():
        both = HERE, other
        for checkout in () if cold else both:
            processor_seconds(checkout, words)  # which compiles
        times = [[processor_seconds(checkout, words, empty=cold) for checkout in both] for _ in range(turns)]
        here, there = np.median(times, axis=0).tolist()
        found[name] = (here, there)
    return found


def main() -> None:
    """Print a line for each start."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("checkout", type=Path)
    options.add_argument("--turns", type=int, default=5)
    options.add_argument("--cold", action="store_true")
    given = options.parse_args()
    for name, (here, there) in compare(given.checkout.resolve(), turns=given.turns, cold=given.cold).items():
        print(f"{name:16} {here:7.2f} s  {there:7.2f} s  ratio {here / there:.2f}")


if __name__ == "__main__":
    main()

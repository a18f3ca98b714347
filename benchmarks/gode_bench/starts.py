"""What a start costs in this checkout and in another: python -m gode_bench.starts PATH [--cold].

Fresh processes take turns: a discovery and a worker of a fleet, and with --cold both commands that users run
first, with an empty cache of compiled code (minutes of processor time each). PATH is the other checkout. How
fast both discover is compared by `gode bench engine discoveries` in each of them at the same time.
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
WORKER = "import os; from gode.fleet.work import begin; begin(); os._exit(0)"  # as processes of a pool end
WARM = {"discovery": [COMMAND, "discover", GROWTH], "worker": [WORKER]}
COLD = {"first discovery": [COMMAND, "discover", GROWTH], "first demo": [COMMAND, "demo"]}
TURNS = 5  # The median of five warm starts varies by a few per cent on a busy machine.


def compare_starts(other: Path, *, cold: bool) -> None:
    """Print the processor time of each start in this checkout and in another, and the ratio."""
    checkouts = (HERE, other)
    for name, words in (COLD if cold else WARM).items():
        if not cold:
            for checkout in checkouts:
                start_seconds(checkout, words)  # which compiles
        n = 1 if cold else TURNS
        turns = [[start_seconds(checkout, words, empty=cold) for checkout in checkouts] for _ in range(n)]
        ours, theirs = np.median(turns, axis=0)
        print(f"{name:16} {ours:7.2f} s  {theirs:7.2f} s  ratio {ours / theirs:.2f}")


def start_seconds(checkout: Path, words: list[str], *, empty: bool = False) -> float:
    """Return the processor seconds of a fresh Python with the code of a checkout, as a user runs it."""
    settings = {**os.environ, "PYTHONPATH": str(checkout / "src"), "OMP_NUM_THREADS": "1"}
    settings.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as folder:
        if empty:
            settings["NUMBA_CACHE_DIR"] = f"{folder}/compiled"
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, "-c", *words], cwd=folder, env=settings, capture_output=True, check=True
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Compare what was asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("other", type=Path)
    parser.add_argument("--cold", action="store_true")
    given = parser.parse_args()
    compare_starts(given.other.resolve(), cold=given.cold)


if __name__ == "__main__":
    main()

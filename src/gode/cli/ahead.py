"""The first run: a second process compiles the solvers while this one compiles the fits."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

CODE = "from gode.solve.solution import compile_solvers; compile_solvers()"


@contextmanager
def compiling_ahead() -> Iterator[None]:
    """Let another process compile the solvers, if they must be and a core is free for it.

    What it finishes is found in the cache of compiled code; the rest is compiled here when it is needed.
    """
    from gode.compiling import must_compile
    from gode.solve.explicit import solve_explicit

    if not must_compile(solve_explicit) or not solve_explicit.stats.cache_path or _cores() < 2:
        yield
        return
    command = [sys.executable, "-P", "-c", CODE]  # -P: nothing is imported from the current folder
    nothing = subprocess.DEVNULL
    with subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing) as helper:
        try:
            yield
        finally:
            helper.terminate()


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

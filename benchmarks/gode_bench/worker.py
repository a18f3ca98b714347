"""What a worker process does: it makes the record of a job."""

import hashlib
import importlib.metadata
import platform
import time
import traceback
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache, partial
from pathlib import Path

import gode
from gode.errors import GodeError
from gode_bench.jobs import Job, measured, problem_of
from gode_bench.judge import score_job, true_law, true_skeletons
from gode_bench.methods import Task, method
from gode_bench.pools import write_pool
from gode_bench.records import Record

PACKAGES = ("numpy", "scipy", "numba")


def run_warm_job(job: Job, pools: Path | None = None) -> Record:
    """Run a job in a process that was warmed up, so that no job is timed with imports and compilation."""
    warm_up()
    return run_job(job, pools)


def run_job(job: Job, pools: Path | None = None) -> Record:
    """Run a job and return its record; a method that fails gives a record, too.

    Args:
        pools: a folder in which the candidates of a discovery are saved.
    """
    chosen = method(job.method)
    skeletons = true_skeletons(job) if chosen.sees_skeleton else ()
    law = true_law(job) if chosen.sees_constants else None
    keep = partial(write_pool, job=job, folder=pools) if pools else None
    task = Task(measured(job), job.seed, job.effort, problem_of(job).suite, skeletons, law, keep)
    equation, failure = None, ""
    _reset_peak()
    start = time.perf_counter()
    try:
        equation = chosen.work(task)
    except GodeError as error:
        failure = str(error)
    except Exception:  # noqa: BLE001 - a peer may raise anything
        failure = traceback.format_exc(limit=-1).strip().splitlines()[-1]
    seconds, megabytes = time.perf_counter() - start, _peak()
    return Record(
        job=job,
        equation=equation,
        score=score_job(job, equation, failure),
        seconds=round(seconds, 3),
        megabytes=round(megabytes, 1),
        date=now(),
        versions=versions(job.method),
    )


def broken(job: Job, failure: str, seconds: float) -> Record:
    """Return the record of a job whose process ended without one."""
    return Record(
        job=job,
        equation=None,
        score=score_job(job, None, failure),
        seconds=round(seconds, 3),
        megabytes=0.0,
        date=now(),
        versions=versions(job.method),
    )


def now() -> str:
    """Return the time as text, UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@lru_cache
def versions(name: str) -> dict[str, str]:
    """Return the versions of everything a result depends on."""
    found = {"gode": gode.__version__, "code": _code(), "python": platform.python_version()}
    found |= {package: importlib.metadata.version(package) for package in PACKAGES}
    peer = method(name)
    if peer.needs and peer.version:
        found[peer.package or peer.needs] = peer.version
    return found


@lru_cache
def _code() -> str:
    """Return a short hash of the code of gode and of the benchmarks."""
    digest = hashlib.sha256()
    for folder in (Path(gode.__file__).parent, Path(__file__).parent):
        for path in sorted(folder.rglob("*")):
            if path.suffix in (".py", ".grammar", ".safetensors"):
                digest.update(path.relative_to(folder).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:12]


@lru_cache
def warm_up() -> None:
    """Import and compile what a run needs, once in each process."""
    job = Job(study="b1", problem="ID2", method="floor", samples=12)
    for name in ("ID2", "LODE4", "NLODE4"):  # first order, second order, implicit
        run_job(replace(job, problem=name))
    run_job(Job(study="odebench", problem="24", method="floor", initial="unknown"))  # several states


def _reset_peak() -> None:
    """Reset the peak memory of this process, where the system can (Linux)."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def _peak() -> float:
    """Return the peak resident memory in MB since the reset, or where there is none since the start."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(float(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1e3
    except (OSError, StopIteration):
        return _peak_since_start()


def _peak_since_start() -> float:
    try:
        import resource
    except ImportError:  # Windows
        return 0.0
    unit = 1e6 if platform.system() == "Darwin" else 1e3  # bytes there, kilobytes elsewhere
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit

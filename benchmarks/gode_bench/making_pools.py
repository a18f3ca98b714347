"""Makes pools of candidates of simulated problems and of measured records, to replay rules of selection on.

    python -m gode_bench.making_pools FOLDER --suite b1 odebench measured systems [--seed 7101] [--every 2]

Each pool is a file in FOLDER with the candidates of one quick discovery as `gode_bench.pools` saves them, and
the information matrix of all numbers that were fitted, for other rules of evidence
(`gode_bench.evidence_rules`). Errors of simulated candidates are those against the clean truth; of measured
records they are the misfit, and the error of the forecast of the last 40 % where only the first 60 % were
searched, both in standard deviations. A measured candidate is right if a textbook gives it.
"""

import argparse
import json
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import gode
from gode.arrays import Float
from gode.discovery import Discovery
from gode.equation import parse_skeleton
from gode.equation.system import parse_system
from gode.fitting.evidence import fitted_polynomials
from gode.fitting.trajectory import Trajectories
from gode.json_codec import encode
from gode.search.zero_starts import fitted_target
from gode.selection import Candidate
from gode_bench import measured, measured_systems
from gode_bench.jobs import Job, suite_jobs, system_jobs
from gode_bench.jobs import measured as data_of
from gode_bench.judge import score_job
from gode_bench.methods import _arguments as arguments_of

LEADERS = 60  # candidates that are kept
Errors = Callable[[Candidate], tuple[list[float], bool]]


@dataclass(frozen=True)
class Task:
    """A discovery whose pool is wanted, and how its candidates are scored."""

    name: str
    work: Callable[[], Discovery]
    errors: Callable[[Discovery], Errors]


def main() -> None:
    """Make the pools that are not there yet."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("folder", type=Path)
    options.add_argument("--suite", nargs="+", default=["b1", "odebench", "measured", "systems"])
    options.add_argument("--seed", type=int, default=7101)
    options.add_argument("--every", type=int, default=2, help="take every so manieth problem")
    options.add_argument("--first", type=int, default=0, help="from this one on")
    options.add_argument("--effort", default="quick")
    options.add_argument("--seconds", type=float, default=60.0)
    options.add_argument("--data", type=Path, default=measured.HERE)
    given = options.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    for suite in given.suite:
        for task in list(_tasks(suite, given))[given.first :: given.every]:
            path = given.folder / f"{task.name}.json"
            if path.exists():
                continue
            start = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    found = task.work()
                    path.write_text(json.dumps(pool_of(found, task.errors(found))))
                    told = "; ".join(found.equation.lines())
                except gode.GodeError as error:
                    told = str(error)
                except Exception:  # noqa: BLE001 - a failure of one task must not end the others
                    told = traceback.format_exc()
            print(f"{task.name} | {time.process_time() - start:.1f} s | {told}", flush=True)


def _tasks(suite: str, given: argparse.Namespace) -> Iterator[Task]:
    if suite == "measured":
        yield from _scalar_tasks(given)
    elif suite == "systems":
        yield from _system_tasks(given)
    else:
        common: dict[str, Any] = {"methods": ["gode"], "seeds": [given.seed], "noise": [0.05]}
        if suite == "odebench":
            jobs = system_jobs(dropped=[0.0], effort=given.effort, **common)
        else:
            jobs = suite_jobs([suite], initial="known", effort=given.effort, **common)
        for job in jobs:
            yield Task(
                f"{suite}_{job.problem}_{job.seed}", _simulated(job, given.seconds), _against_truth(job)
            )


def _simulated(job: Job, seconds: float) -> Callable[[], Discovery]:
    def work() -> Discovery:
        data = data_of(job)
        options: dict[str, Any] = arguments_of(data)
        return gode.discover(
            **options, order=data.order, effort=job.effort, seed=job.seed, max_seconds=seconds
        )

    return work


def _against_truth(job: Job) -> Callable[[Discovery], Errors]:
    def scored(c: Candidate) -> tuple[list[float], bool]:
        found = score_job(job, c.equation.text(None))
        return list(found.errors), found.structure

    return lambda _: scored


def _scalar_tasks(given: argparse.Namespace) -> Iterator[Task]:
    for record in measured.RECORDS:
        path = next(
            (p for d in (given.data, measured.HERE) if (p := d / f"{record.name}.csv").exists()), None
        )
        if path is None:
            continue
        t, u, force = measured.columns(path, record.rows)
        keys = {parse_skeleton(form).structure for form in record.forms}
        for share in (1.0, measured.SHARE):
            n = round(share * len(t))
            if n < 5:
                continue

            def work(t: Float = t, u: Float = u, force: Any = force, n: int = n, record: Any = record) -> Any:
                return gode.discover(
                    t[:n], u[:n], order=record.order, force=None if force is None else force[:n],
                    effort=given.effort, max_seconds=given.seconds,
                )  # fmt: skip

            inputs = None if force is None else (t, force)
            yield Task(f"measured_{record.name}_{share:g}", work, _forecast(t, {"u": u}, n, keys, inputs))


def _system_tasks(given: argparse.Namespace) -> Iterator[Task]:
    for system in measured_systems.SYSTEMS:
        t, data = measured_systems.read(system)
        keys = {parse_system(list(form)).structure for form in system.forms}
        for share in (1.0, measured.SHARE):
            n = int(share * len(t))

            def work(t: Float = t, data: Any = data, n: int = n, system: Any = system) -> Any:
                part = {name: values[:n] for name, values in data.items()}
                return gode.discover(
                    t[:n], part, order=system.order, effort=given.effort, max_seconds=given.seconds
                )

            yield Task(f"systems_{system.name}_{share:g}", work, _forecast(t, data, n, keys, None))


def _forecast(
    t: Float, data: dict[str, Float], n: int, keys: set[Any], inputs: Any
) -> Callable[[Discovery], Errors]:
    """Return the misfit, and the error of the forecast after row n, in standard deviations of the states."""

    def of(found: Discovery) -> Errors:
        def scored(c: Candidate) -> tuple[list[float], bool]:
            right = c.equation.skeleton.structure in keys
            own = Discovery([c], found.prepared, found.settings, 0)
            try:
                path = own.simulate(t, force=inputs)
            except gode.GodeError:
                return [1.0, 1.0], right
            errors = []
            for part in (slice(0, n), slice(n, None)):
                squares = [
                    np.nanmean((_values(path, name)[part] - values[part]) ** 2) / np.nanvar(values)
                    for name, values in data.items()
                    if len(values[part])
                ]
                errors.append(float(np.sqrt(np.mean(squares))) if squares else 0.0)
            return [min(e, 10.0) if np.isfinite(e) else 10.0 for e in errors], right

        return scored

    return of


def _values(path: Any, name: str) -> Float:
    return np.asarray(path.u if name == "u" else path[name])


def pool_of(found: Discovery, errors: Errors) -> dict[str, Any]:
    """Return the pool as it is stored."""
    rows = []
    order = sorted(found.candidates, key=lambda c: c.criterion)[:LEADERS]
    for c in order:
        scored, right = errors(c)
        row = {"candidate": encode(c), "errors": scored, "right": right}
        rows.append({**row, **_information(c, found)})
    polynomials = fitted_polynomials(found.prepared.whole)
    return {
        "floor": list(found.prepared.floor),
        "candidates": rows,
        "polynomials": polynomials,
        "supported": bool(found.supported),
    }


def _information(c: Candidate, found: Discovery) -> dict[str, Any]:
    """Return the fitted numbers and their information matrix."""
    if c.own is not None:
        return {}
    problem = Trajectories(c.equation.skeleton, fitted_target(c, found.prepared), found.settings.shooting)
    table = np.tile(np.array(c.equation.constants), (len(c.initial), 1))
    p = problem.parameters.joined(table, c.initial)
    path = problem.solve(p)
    if path is None:
        return {}
    k = c.equation.skeleton.n_constants
    row: dict[str, Any] = {
        "numbers": path.p.tolist(),
        "constants": k,
        "normal": path.normals[0].matrix.tolist(),
        "sse": path.sse,
        "scales": list(problem.target.scales),
    }
    return row


if __name__ == "__main__":
    main()

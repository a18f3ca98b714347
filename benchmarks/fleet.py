"""Measure fleets: a Dask cluster with kills, grouping, streams, memory, bytes and starts.

python benchmarks/fleet.py [cluster|stream|memory|cost ...] [--records 1000] [--out FOLDER]

cluster: simulated records of four laws on a scheduler and two workers in processes of their own, compared
    with the answer of one process; then with a worker killed every 20 s and the scheduler restarted once.
stream: 200 records of an oscillator, of which 20 have a changed stiffness, through the monitor of gode watch.
memory: of this process over 10,000 records that end at once (too short to be discovered).
cost: seconds and bytes of a record, seconds of the start of a worker, megabytes of a worker.
"""

import argparse
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp

import gode
from gode.fleet.cluster import DaskCluster
from gode.fleet.engines import OwnProcesses
from gode.fleet.folder import run_folder, settle_folder, write_table
from gode.fleet.sources import tasks_of
from gode.fleet.task import Arguments, Task
from gode.fleet.watching import Law, Watch
from gode.fleet.work import begin, work
from gode.measured.read import DataOptions

PORT = 18790
KILL_EVERY = 20.0  # seconds
OPTIONS = {"effort": "quick"}
LAWS = {  # form, and what draws its constants and returns order, right-hand side, initial values
    "u' = C*u + C*u^2": lambda r: _first(
        lambda u, a, b: a * u - a / b * u**2, r, (0.5, 1.2), (2, 8), (0.2, 0.6)
    ),
    "u' = C*u + C": lambda r: _first(lambda u, a, b: a * (b - u), r, (0.2, 0.8), (1, 3), (5, 9)),
    "u'' = C*u' + C*u": lambda r: _second(lambda u, v, c, k, a: -c * v - k * u, r),
    "u'' = C*u' + C*u + C*u^3": lambda r: _second(lambda u, v, c, k, a: -c * v - k * u - a * u**3, r),
}


def _first(f, rng, *ranges):
    a, b, u0 = (rng.uniform(*limits) for limits in ranges)
    return 1, lambda t, y: [f(y[0], a, b)], [u0]


def _second(f, rng):
    c, k, a, u0 = (rng.uniform(*limits) for limits in ((0.1, 0.4), (1.0, 4.0), (0.8, 2.0), (1.5, 2.5)))
    return 2, lambda t, y: [y[1], f(y[0], y[1], c, k, a)], [u0, 0.0]


def simulated(i: int) -> tuple[str, dict]:
    """Return the law of a record, and the record: 100 points, 3 % noise."""
    rng = np.random.default_rng([7, i])
    law = list(LAWS)[i % len(LAWS)]
    order, rhs, y0 = LAWS[law](rng)
    t = np.linspace(0, 10, 100)
    u = solve_ivp(rhs, (0, 10), y0, t_eval=t, rtol=1e-9, atol=1e-9).y[0]
    return law, {"t": t, "u": u + 0.03 * np.std(u) * rng.standard_normal(100), "order": order}


class Cluster:
    """A scheduler and workers in processes of their own; workers that die are started again."""

    def __init__(self, n: int, *, log: Path) -> None:
        self.address = f"tcp://127.0.0.1:{PORT}"
        self.log, self.closing = log.open("w"), False
        self.scheduler = self._started(
            "scheduler", "--port", str(PORT), "--host", "127.0.0.1", "--no-dashboard"
        )
        self.workers = [self._worker() for _ in range(n)]
        self.kills = 0
        threading.Thread(target=self._tend, daemon=True).start()

    def _started(self, *words: str) -> subprocess.Popen:
        command = [sys.executable, "-m", f"distributed.cli.dask_{words[0]}", *words[1:]]
        return subprocess.Popen(command, stdout=self.log, stderr=self.log)

    def _worker(self) -> subprocess.Popen:
        return self._started("worker", self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard")

    def _tend(self) -> None:
        while not self.closing:
            self.workers = [w if w.poll() is None else self._worker() for w in self.workers]
            time.sleep(0.2)

    def kill_one(self) -> None:
        """Kill the workers in turn."""
        self.workers[self.kills % len(self.workers)].send_signal(signal.SIGKILL)
        self.kills += 1

    def restart_scheduler(self) -> None:
        """Kill the scheduler, and start another at the same address."""
        self.scheduler.kill()
        self.scheduler.wait()
        self.scheduler = self._started(
            "scheduler", "--port", str(PORT), "--host", "127.0.0.1", "--no-dashboard"
        )

    def close(self) -> None:
        """End all processes."""
        self.closing = True
        time.sleep(0.3)
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


def discovered(records: dict, out: Path, engine, *, disturb=None) -> float:
    """Discover the records into a folder; return the seconds from the first result to the last."""
    tasks = tasks_of(records, options=OPTIONS)
    first = last = 0.0
    notes = (out.parent / f"{out.name}.notes").open("w")
    try:
        for step in run_folder(
            tasks, len(records), out, engine, settings=OPTIONS, on_note=lambda s: print(s, file=notes)
        ):
            last = time.monotonic()
            first = first or last
            if disturb:
                disturb(step)
    finally:
        engine.close()
        notes.close()
    return last - first


def measure_cluster(n: int, out: Path) -> dict:
    """Return times on one process, on two workers, and with kills, and whether the tables are the same."""
    truth = {f"r{i:05d}": simulated(i) for i in range(n)}
    records = {name: record for name, (_, record) in truth.items()}
    alone = discovered(records, out / "alone", OwnProcesses(1, begin=begin))
    cluster = Cluster(2, log=out / "cluster.log")
    try:
        time.sleep(5)
        pair = discovered(records, out / "pair", DaskCluster(cluster.address))
        disturbed = discovered(
            records, out / "killed", DaskCluster(cluster.address), disturb=_Disturb(cluster, n)
        )
    finally:
        cluster.close()
    found = {
        name: write_table(gode.Fleet.read(out / name), out / name).read_text()
        for name in ("alone", "pair", "killed")
    }
    engine = OwnProcesses(2, begin=begin)
    try:
        settled = list(settle_folder(out / "alone", engine))
    finally:
        engine.close()
    fleet = gode.Fleet.read(out / "alone")
    fleet.report(out / "alone" / "index.html")
    right = [fleet.grouping.law_of.get(name) == law for name, (law, _) in truth.items()]
    own = [fleet.records.loc[name, "law"] == law for name, (law, _) in truth.items()]
    rows = [json.loads(line)["id"] for line in (out / "killed" / "table.jsonl").read_text().splitlines()]
    return {
        "records": n,
        "seconds on one process": round(alone, 1),
        "seconds on two workers": round(pair, 1),
        "efficiency": round(alone / pair / 2, 3),
        "seconds with kills": round(disturbed, 1),
        "kills": cluster.kills,
        "rows with kills": len(rows),
        "rows that are double": len(rows) - len(set(rows)),
        "same table on two workers": found["alone"] == found["pair"],
        "same table with kills": found["alone"] == found["killed"],
        "records fitted to shared laws": len(settled),
        "groups": fleet.groups.head(6).to_dict("records"),
        "right law alone": round(float(np.mean(own)), 4),
        "right law by grouping": round(float(np.mean(right)), 4),
    }


class _Disturb:
    """Kills a worker every 20 s, and restarts the scheduler at half time."""

    def __init__(self, cluster: Cluster, n: int) -> None:
        self.cluster, self.half, self.last = cluster, n // 2, time.monotonic()

    def __call__(self, step) -> None:
        if time.monotonic() - self.last > KILL_EVERY:
            self.cluster.kill_one()
            self.last = time.monotonic()
        if step.done == self.half:
            self.cluster.restart_scheduler()


def measure_stream(out: Path) -> dict:
    """Return how many of 20 changed records of 200 are told, and how many others."""
    rng = np.random.default_rng(3)
    folder = out / "stream"
    folder.mkdir(parents=True, exist_ok=True)
    changed = set(rng.choice(np.arange(200), 20, replace=False).tolist())
    t = np.linspace(0, 10, 100)
    for i in range(200):
        stiffness = 4.0 * (0.9 if i in changed else 1.0)
        y0 = [rng.uniform(1, 2), rng.uniform(-1, 1)]
        u = solve_ivp(
            lambda _, y, k=stiffness: [y[1], -0.2 * y[1] - k * y[0]], (0, 10), y0, t_eval=t, rtol=1e-9
        ).y[0]
        u += 0.03 * np.std(u) * rng.standard_normal(100)
        np.savetxt(
            folder / f"day{i:03d}.csv", np.c_[t, u], delimiter=",", header="t,u", comments="", fmt="%.6g"
        )
    for i in range(200):
        os.utime(folder / f"day{i:03d}.csv", (i, i))
    engine = OwnProcesses(2, begin=begin)
    watch = Watch(
        folder,
        out / "watch",
        engine,
        columns=DataOptions(),
        options={},
        law=Law("u'' = C*u' + C*u"),
        first=20,
    )
    try:
        told = {t.id: t for t in watch.take(watch.arrived(at_once=True))}
    finally:
        engine.close()
    names = {f"day{i:03d}.csv" for i in changed}
    alarms = {name for name, each in told.items() if each.status != "same" or each.drift}
    return {"records": 200, "changed": 20, "told": len(alarms & names), "false alarms": len(alarms - names)}


def measure_memory(n: int = 10_000) -> dict:
    """Return the memory of this process along records that end at once."""
    records = ({"id": f"r{i}", "t": np.arange(100.0), "u": np.full(100, np.nan)} for i in range(n))
    marks = {}
    for i, _ in enumerate(gode.discover_many(records, n_jobs=1, **OPTIONS), 1):
        if i in (100, 1000, n // 2, n):
            marks[i] = round(_resident(), 1)
    return {"megabytes of the parent by records": marks, "of": "records without a value, rows that say so"}


def _resident() -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith("VmRSS:")) / 1e3


def measure_cost() -> dict:
    """Return what a record and a worker cost."""
    start = time.perf_counter()
    program = "import gode.fleet.work as w; w.begin()"
    before = os.times().children_user
    subprocess.run([sys.executable, "-c", program], check=True)
    wall, user = time.perf_counter() - start, os.times().children_user - before
    _, record = simulated(0)
    spent, sent, back = [], 0, 0
    for i in range(12):
        _, record = simulated(i)
        task = Task(str(i), Arguments(record), OPTIONS, True)
        begin_at = time.process_time()
        result = work(task)
        spent.append(time.process_time() - begin_at)
        sent, back = max(sent, len(pickle.dumps(task))), max(back, len(pickle.dumps(result)))
    return {
        "start of a worker, seconds": round(wall, 2),
        "of which processor": round(user, 2),
        "processor seconds a record": round(float(np.mean(spent[1:])), 2),
        "bytes to the worker": sent,
        "bytes back, with picture": back,
        "megabytes of a worker": round(_resident(), 0),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="*", default=["cost", "memory", "stream", "cluster"])
    parser.add_argument("--records", type=int, default=1000)
    parser.add_argument("--out", type=Path, default=Path("out/fleet"))
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    measures = {
        "cost": measure_cost,
        "memory": measure_memory,
        "stream": lambda: measure_stream(given.out),
        "cluster": lambda: measure_cluster(given.records, given.out),
    }
    for what in given.what:
        print(json.dumps({what: measures[what]()}, indent=1), flush=True)


if __name__ == "__main__":
    main()

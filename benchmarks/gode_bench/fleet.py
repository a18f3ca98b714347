"""Measure fleets: a Dask cluster with kills, grouping, streams, memory, bytes and starts.

python -m gode_bench.fleet [cost|memory|stream|pair|killed|grouping ...] [--records 1000] [--out FOLDER]

pair: simulated records of four laws on a Dask scheduler and two workers, all processes of their own, in turns
    with one process alone: same answers, and the efficiency of two.
killed: the same with a worker killed every 20 s and the scheduler restarted once, compared with the former.
grouping: the laws behind these records.
stream: 200 records of an oscillator, of which 20 have a changed stiffness, through the monitor of gode watch.
memory: of this process over 10,000 records that end at once (too short to be discovered).
cost: seconds and bytes of a record, seconds of the start of a worker, megabytes of a worker.
"""

import argparse
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from multiprocessing.reduction import ForkingPickler
from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp

import gode
from gode.arrays import Float
from gode.fleet.cluster import DaskCluster
from gode.fleet.engine import Engine, OwnProcesses
from gode.fleet.folder import Progress, run_folder, settle_folder, write_table
from gode.fleet.many import tasks_of
from gode.fleet.result import Arguments, Task, begin, work
from gode.fleet.watching import Law as UsualLaw
from gode.fleet.watching import Watch
from gode.tables.dataset import DataOptions
from gode_bench.rows import Row, append_row
from gode_bench.tables import TextTable

PORT = 18790 + os.getpid() % 1000  # workers that an earlier run left would join at the same one
KILL_EVERY = 20.0  # seconds
BLOCK = 100  # records, after which one process and two workers take turns
TICKS = os.sysconf("SC_CLK_TCK")
OPTIONS = {"effort": "quick"}
FIGURES = "figures.jsonl"  # in the folder of --out
Slopes = Callable[[float, Float], list[float]]
Law = tuple[int, Slopes, list[float]]  # order, right-hand side, initial values
Figures = dict[str, object]


def _growth(rng: np.random.Generator) -> Law:
    rate, capacity, start = rng.uniform(0.5, 1.2), rng.uniform(2, 8), rng.uniform(0.2, 0.6)
    return 1, lambda t, y: [rate * y[0] - rate / capacity * y[0] ** 2], [start]


def _cooling(rng: np.random.Generator) -> Law:
    rate, room, start = rng.uniform(0.2, 0.8), rng.uniform(1, 3), rng.uniform(5, 9)
    return 1, lambda t, y: [rate * (room - y[0])], [start]


def _oscillator(rng: np.random.Generator) -> Law:
    damping, stiffness, _, start = _drawn(rng)
    return 2, lambda t, y: [y[1], -damping * y[1] - stiffness * y[0]], [start, 0.0]


def _hardening(rng: np.random.Generator) -> Law:
    damping, stiffness, cubic, start = _drawn(rng)
    return (
        2,
        lambda t, y: [y[1], -damping * y[1] - stiffness * y[0] - cubic * y[0] ** 3],
        [start, 0.0],
    )


def _drawn(rng: np.random.Generator) -> tuple[float, float, float, float]:
    """Draw damping, stiffness, its cubic part, and the initial value of an oscillator."""
    return rng.uniform(0.1, 0.4), rng.uniform(1.0, 4.0), rng.uniform(0.8, 2.0), rng.uniform(1.5, 2.5)


LAWS: dict[str, Callable[[np.random.Generator], Law]] = {
    "u' = C*u + C*u^2": _growth,
    "u' = C*u + C": _cooling,
    "u'' = C*u' + C*u": _oscillator,
    "u'' = C*u' + C*u + C*u^3": _hardening,
}


def simulated(i: int) -> tuple[str, Figures]:
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
        self.kills = self.restarts = 0
        threading.Thread(target=self._tend, daemon=True).start()

    def _started(self, *words: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{words[0]}", *words[1:]]
        return subprocess.Popen(command, stdout=self.log, stderr=self.log)

    def _worker(self) -> subprocess.Popen[bytes]:
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
        self.restarts += 1
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


def discovered(
    records: Mapping[str, Figures],
    out: Path,
    engine: Engine,
    *,
    on_step: Callable[[Progress], None] | None = None,
) -> float:
    """Discover the records into a folder, which may hold others; return the seconds of wall time."""
    begin_at = time.monotonic()
    with (out.parent / f"{out.name}.notes").open("a") as notes:
        tasks = tasks_of(records, options=OPTIONS)
        for step in run_folder(
            tasks, len(records), out, engine, settings=OPTIONS, on_note=lambda s: print(s, file=notes)
        ):
            if on_step:
                on_step(step)
    return time.monotonic() - begin_at


def _fresh(*folders: Path) -> None:
    """End with a sentence if a folder has results, which a run would go on from."""
    for folder in folders:
        if folder.exists():
            sys.exit(f"{folder} is there already; give another --out")


def fleet_of(n: int) -> tuple[dict[str, str], dict[str, Figures]]:
    """Return the laws behind the records, and the records, by name."""
    made = {f"r{i:05d}": simulated(i) for i in range(n)}
    return {name: law for name, (law, _) in made.items()}, {
        name: record for name, (_, record) in made.items()
    }


def measure_pair(n: int, out: Path) -> Figures:
    """Return the efficiency of two workers, and whether their table is that of one process."""
    _fresh(out / "pair", out / "alone")
    cluster = Cluster(2, log=out / "pair.log")
    try:
        time.sleep(5)
        costs = _efficiency(fleet_of(n)[1], out, cluster)
    finally:
        cluster.close()
    return {"records": n, **costs, "same table as one process": _table(out / "pair") == _table(out / "alone")}


def measure_killed(n: int, out: Path) -> Figures:
    """Return whether the table of two workers that are killed is that of one process."""
    _fresh(out / "killed")
    records = fleet_of(n)[1]
    cluster = Cluster(2, log=out / "killed.log")
    try:
        time.sleep(5)
        engine, disturb = DaskCluster(cluster.address), _Disturb(cluster, n)
        seconds = discovered(records, out / "killed", engine, on_step=disturb)
        disturb.over.set()
        engine.close()
    finally:
        cluster.close()
    rows = [json.loads(line)["id"] for line in (out / "killed" / "table.jsonl").read_text().splitlines()]
    return {
        "seconds": round(seconds, 1),
        "kills": cluster.kills,
        "schedulers restarted": cluster.restarts,
        "rows": len(rows),
        "rows that are double": len(rows) - len(set(rows)),
        "same table as one process": _table(out / "killed") == _table(out / "alone"),
    }


def _table(folder: Path) -> str:
    return write_table(gode.Fleet.read(folder).table, folder).read_text()


def _efficiency(records: Mapping[str, Figures], out: Path, cluster: Cluster) -> Figures:
    """Return the efficiency of two workers against one process, in blocks that take turns.

    By wall time it means something on a machine that has nothing else to do. By processor time it is what one
    process spends on the records over what workers, scheduler and this process spend on them together, times
    the share of the time in which a worker has a record in hand; other work on the machine hardly changes it.
    """
    names = list(records)
    one, two = OwnProcesses(1, begin=begin), DaskCluster(cluster.address)
    warm = {f"warm{i}": records[names[0]] for i in range(6)}
    for engine, folder in ((one, "warm1"), (two, "warm2")):
        discovered(warm, out / folder, engine)
    spent = {"alone": np.zeros(4), "pair": np.zeros(4)}  # wall, and what _spent returns
    for start in range(0, len(names), BLOCK):
        block = {name: records[name] for name in names[start : start + BLOCK]}
        for folder, engine in (("alone", one), ("pair", two)):
            before = _spent(folder, cluster)
            wall = discovered(block, out / folder, engine)
            spent[folder] += [wall, *(_spent(folder, cluster) - before)]
    one.close()
    two.close()
    rows = (json.loads(line) for line in (out / "pair" / "table.jsonl").read_text().splitlines())
    (alone, own, _, _), (pair, ours, machine, moved) = spent["alone"], spent["pair"]
    busy = sum(row["seconds"] for row in rows) / (2 * pair)
    return {
        "seconds on one process": round(alone, 1),
        "seconds on two workers": round(pair, 1),
        "efficiency by wall time": round(alone / pair / 2, 3),
        "processor seconds on one process": round(own, 1),
        "processor seconds on two workers, with scheduler and parent": round(ours, 1),
        "share of the time in which workers have a record": round(busy, 3),
        "efficiency by processor time": round(own / ours * busy, 3),
        "share of the machine that others used": round((machine - ours) / (2 * pair), 3),
        "bytes a record over the loopback, those of others included": round(moved / len(records)),
    }


def _spent(folder: str, cluster: Cluster) -> np.ndarray:
    """Return processor seconds of the processes that work for a folder, and of the machine; bytes moved."""
    if folder == "alone":
        ids = [child.pid for child in multiprocessing.active_children()]
    else:
        ids = [os.getpid(), cluster.scheduler.pid, *(w.pid for w in cluster.workers)]
    own = 0.0
    for number in ids:
        words = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
        own += (int(words[11]) + int(words[12])) / TICKS
    user, nice, system, *_ = Path("/proc/stat").read_text().split()[1:]
    moved = Path("/sys/class/net/lo/statistics/rx_bytes").read_text()
    return np.array([own, (int(user) + int(nice) + int(system)) / TICKS, int(moved)])


def measure_grouping(n: int, out: Path) -> Figures:
    """Return how many records of one process are put with the right law, alone and by grouping."""
    truth, folder = fleet_of(n)[0], out / "alone"
    engine = OwnProcesses(begin=begin)
    try:
        settled = list(settle_folder(folder, gode.Fleet.read(folder).unsettled, engine))
    finally:
        engine.close()
    fleet = gode.Fleet.read(folder)
    fleet.report(folder / "index.html")
    right = [fleet.grouping.law_of.get(name) == law for name, law in truth.items()]
    alone = [bool(fleet.records.loc[name, "law"] == law) for name, law in truth.items()]
    return {
        "records fitted to shared laws": len(settled),
        "groups": fleet.groups.head(6).to_dict("records"),
        "right law alone": round(float(np.mean(alone)), 4),
        "right law by grouping": round(float(np.mean(right)), 4),
    }


class _Disturb:
    """Kills a worker every 20 s, and the scheduler once, at half time."""

    def __init__(self, cluster: Cluster, n: int) -> None:
        self.cluster, self.half, self.over = cluster, n // 2, threading.Event()
        threading.Thread(target=self._kill, daemon=True).start()

    def _kill(self) -> None:
        while not self.over.wait(KILL_EVERY):
            self.cluster.kill_one()

    def __call__(self, step: Progress) -> None:
        if step.done == self.half:
            self.cluster.restart_scheduler()


def measure_stream(out: Path) -> Figures:
    """Return how many of 20 changed records of 200 are told, and how many others."""
    rng = np.random.default_rng(3)
    folder = out / "stream"
    folder.mkdir(parents=True, exist_ok=True)
    changed = set(rng.choice(np.arange(200), 20, replace=False).tolist())
    t = np.linspace(0, 10, 100)
    for i in range(200):
        stiffness = 4.0 * (0.9 if i in changed else 1.0)
        y0 = [rng.uniform(1, 2), rng.uniform(-1, 1)]
        u = solve_ivp(partial(_damped, stiffness), (0, 10), y0, t_eval=t, rtol=1e-9).y[0]
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
        law=UsualLaw("u'' = C*u' + C*u"),
        first=20,
    )
    try:
        watch.arrived()  # a file is judged when it is the same at the next look
        told = {t.id: t for t in watch.take(watch.arrived())}
    finally:
        engine.close()
    names = {f"day{i:03d}.csv" for i in changed}
    alarms = {name for name, each in told.items() if each.status != "same" or each.drift}
    return {"records": 200, "changed": 20, "told": len(alarms & names), "false alarms": len(alarms - names)}


def _damped(stiffness: float, _: float, y: Float) -> list[float]:
    return [y[1], -0.2 * y[1] - stiffness * y[0]]


def measure_memory(n: int = 10_000) -> Figures:
    """Return the memory of this process along records that end at once."""
    records = ({"id": f"r{i}", "t": np.arange(100.0), "u": np.full(100, np.nan)} for i in range(n))
    marks = {}
    for i, _ in enumerate(gode.discover_many(records, n_jobs=1, effort="quick"), 1):
        if i in (100, 1000, n // 2, n):
            marks[i] = round(_resident(), 1)
    return {"megabytes of the parent by records": marks, "of": "records without a value, rows that say so"}


def _resident() -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith("VmRSS:")) / 1e3


def _start(cache: Path) -> tuple[float, float]:
    """Return seconds and processor seconds until a new process can take a record, its code being compiled."""
    program = "import gode.fleet.result as w; w.begin()"
    own = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    environment = {**own, "PYTHONPYCACHEPREFIX": str(cache.resolve())}
    found = []
    for _ in range(4):  # the first compiles
        begin_at, before = time.perf_counter(), os.times()
        subprocess.run([sys.executable, "-c", program], check=True, env=environment)
        after = os.times()
        spent = after.children_user + after.children_system - before.children_user - before.children_system
        found.append((time.perf_counter() - begin_at, spent))
    return min(wall for wall, _ in found), min(spent for _, spent in found)


def measure_cost(out: Path) -> Figures:
    """Return what a record and a worker cost."""
    wall, user = _start(out / "bytecode")
    _, record = simulated(0)
    spent, sent, back = [], 0, 0
    for i in range(12):
        _, record = simulated(i)
        task = Task(str(i), Arguments(record), OPTIONS, True)
        begin_at = time.process_time()
        result = work(task)
        spent.append(time.process_time() - begin_at)
        sent, back = max(sent, len(ForkingPickler.dumps(task))), max(back, len(ForkingPickler.dumps(result)))
    return {
        "start of a worker, seconds": round(wall, 2),
        "of which processor": round(user, 2),
        "processor seconds a record": round(float(np.mean(spent[1:])), 2),
        "bytes to the worker": sent,
        "bytes back, with picture": back,
        "megabytes of a worker": round(_resident(), 0),
    }


def main() -> None:
    """Print the figures of what was asked for as JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    measures: dict[str, Callable[[int, Path], Figures]] = {
        "cost": lambda n, out: measure_cost(out),
        "memory": lambda n, out: measure_memory(),
        "stream": lambda n, out: measure_stream(out),
        "pair": measure_pair,
        "killed": measure_killed,
        "grouping": measure_grouping,
    }
    parser.add_argument("what", nargs="*", choices=measures, default=list(measures))
    parser.add_argument("--records", type=int, default=1000)
    parser.add_argument("--out", type=Path, default=Path("out/fleet"))
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    for what in given.what:
        figures = measures[what](given.records, given.out)
        append_row(given.out / FIGURES, {"measure": what, "figures": figures})
        print(json.dumps({what: figures}, indent=1), flush=True)


def tables(rows: Sequence[Row]) -> list[TextTable]:
    """Return the figures of each measure; the last call counts."""
    last = {row["measure"]: row["figures"] for row in rows}
    return [
        TextTable(
            f"{what}", ("figure", "value"), tuple((name, str(value)) for name, value in figures.items())
        )
        for what, figures in last.items()
    ]


if __name__ == "__main__":
    main()

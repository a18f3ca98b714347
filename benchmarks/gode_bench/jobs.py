"""Job: one run of one method on one problem, the noisy data it works on, and the jobs of a study."""

import json
import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import product

import numpy as np

from gode.arrays import Bool, Float
from gode.choices import EffortName
from gode.errors import ConfigError, GodeError
from gode.solve import solve
from gode_bench.odebench.systems import FILES, ODEBENCH, SystemProblem, chosen_systems, observed, system
from gode_bench.problems import Problem, problem, suite, truth

INITIALS = ("known", "unknown")
PAPER_NOISE = 0.05
SWEEPS: dict[str, tuple[float, ...]] = {
    "noise": (0.0, 0.01, 0.05, 0.1, 0.2),
    "samples": (25, 50, 100, 200, 400),
    "dropped": (0.0, 0.25, 0.5, 0.75),
    "runs": (1, 2, 4),
}
# Growth, decay, thresholds, waves and saturation; two second-order oscillators.
SWEEP_PROBLEMS = tuple(
    ["ID1", "ID3", "ID6", "ID8", "ID11", "ID13", "ID16", "ID19", "ID21", "ID23", "LODE4", "LODE5"]
)
QUICK = {
    "b1": ("ID1", "ID3", "ID6", "ID11", "ID12"),
    "b2": ("LODE4", "LODE5", "NLODE1"),
    "b3": ("Pendulum",),
}

MAX_DRAWS = 60  # of initial values for further runs
BOUND = 3.0  # largest |u| of a further run, in units of that of the first
SPREAD = 0.3  # of the initial values of further runs, in standard deviations of the solution


@dataclass(frozen=True, kw_only=True, order=True)
class Job:
    """Everything a run depends on; two equal jobs give the same equation."""

    study: str  # b1, b2, b3, odebench, dysts, autosindy, or the name of a sweep
    problem: str
    method: str
    seed: int = 0
    noise: float = (
        PAPER_NOISE  # in standard deviations of the clean signal; in odebench, shares of each value
    )
    samples: int = 0  # 0: as many as in the paper
    dropped: float = 0.0  # share of the samples that is left out at random
    runs: int = 1  # trajectories from different initial values
    initial: str = "known"
    effort: str = EffortName.NORMAL.value

    def __post_init__(self) -> None:
        one = problem_of(self)
        if self.seed < 0:
            raise ConfigError(f"a seed must be a whole number from 0 on, got {self.seed}")
        if not 0 <= self.noise <= 10:
            raise ConfigError(
                f"noise is a share of the signal between 0 and 10, got {self.noise}; 5 % is 0.05"
            )
        if self.samples != 0 and not 5 <= self.samples <= 100_000:
            raise ConfigError(f"a problem needs 5 to 100,000 samples, got {self.samples}")
        if not 0 <= self.dropped <= 0.9:
            raise ConfigError(f"the share of dropped samples must lie in [0, 0.9], got {self.dropped}")
        if not 1 <= self.runs <= 20:
            raise ConfigError(f"runs must lie between 1 and 20, got {self.runs}")
        if self.initial not in INITIALS:
            raise ConfigError(f"initial must be known or unknown, got {self.initial!r}")
        if self.effort not in list(EffortName):
            raise ConfigError(f"effort must be one of {', '.join(EffortName)}, got {self.effort!r}")
        if self.initial == "unknown" and one.observed == "acceleration":
            raise ConfigError(
                f"{one.name} measures the acceleration alone, which does not tell the initial values; "
                "leave --initial known for it"
            )

    @property
    def key(self) -> str:
        """The job as text: equal for equal jobs."""
        return json.dumps(asdict(self), sort_keys=True)

    @property
    def size(self) -> float:
        """Relative duration among jobs of one method; long ones start first."""
        one = problem_of(self)
        n = self.samples or len(one.t)
        return n * (1 - self.dropped) * self.runs * one.size


def problem_of(job: Job) -> Problem | SystemProblem:
    """Return the problem of a job.

    Raises:
        ConfigError: if there is none of that name.
    """
    return system(job.problem, job.study) if job.study in FILES else problem(job.problem)


def job_from(values: object) -> Job:
    """Return the job read from a file.

    Raises:
        ConfigError: if the values are not those of a job.
    """
    known = {f.name: f.type for f in fields(Job)}
    if not isinstance(values, dict) or not {"study", "problem", "method"} <= set(values) <= set(known):
        raise ConfigError(f"expected the fields of a job, {', '.join(known)}, got {str(values)[:80]}")
    whole = {name: int(values[name]) for name in ("seed", "samples", "runs") if name in values}
    return Job(**{**values, **whole})


def suite_jobs(
    suites: Sequence[str],
    *,
    problems: Sequence[str] = (),
    methods: Sequence[str],
    seeds: Sequence[int],
    noise: Sequence[float],
    initial: str,
    effort: str,
) -> list[Job]:
    """Return the jobs of some of the suites b1, b2 and b3, or of some of their problems.

    Raises:
        ConfigError: if a problem is in none of these suites.
    """
    among = [one for name in suites for one in suite(name)]
    return [
        Job(study=one.suite, problem=one.name, method=m, seed=s, noise=x, initial=initial, effort=effort)
        for one, m, s, x in product(chosen(among, problems, " ".join(suites)), methods, seeds, noise)
    ]


def sweep_jobs(
    what: str,
    *,
    problems: Sequence[str] = (),
    values: Sequence[float] = (),
    methods: Sequence[str],
    seeds: Sequence[int],
    initial: str,
    effort: str,
) -> list[Job]:
    """Return the jobs that vary one thing: noise, samples, the share dropped, or the number of runs.

    Raises:
        ConfigError: if there is no such sweep, or a problem cannot be part of it.
    """
    if what not in SWEEPS:
        raise ConfigError(f"there is no sweep {what!r}; choose one of {', '.join(SWEEPS)}")
    levels = [float(v) if what in ("noise", "dropped") else int(v) for v in values or SWEEPS[what]]
    names = [problem(p).name for p in problems or SWEEP_PROBLEMS]
    if what == "runs":
        exact = [n for n in names if problem(n).exact is not None]
        if exact and problems:
            raise ConfigError(f"{exact[0]} is known from one initial value only; sweep the runs of others")
        names = [n for n in names if n not in exact]
    return [
        Job(study=f"sweep-{what}", problem=p, method=m, seed=s, initial=initial, effort=effort, **{what: v})  # type: ignore[arg-type]
        for p, m, s, v in product(names, methods, seeds, levels)
    ]


def system_jobs(
    suite: str = ODEBENCH,
    *,
    problems: Sequence[str] = (),
    methods: Sequence[str],
    seeds: Sequence[int],
    noise: Sequence[float],
    dropped: Sequence[float],
    effort: str,
) -> list[Job]:
    """Return the jobs of a suite of systems, or of some of these; nobody is told the initial values.

    Raises:
        ConfigError: if there is no such system.
    """
    cells = product(chosen_systems(problems, suite), methods, seeds, noise, dropped)
    return [
        Job(
            study=suite, problem=one.name, method=m, seed=s, noise=x, dropped=share, initial="unknown",
            effort=effort,
        )
        for one, m, s, x, share in cells
    ]  # fmt: skip


def chosen(among: Sequence[Problem], names: Sequence[str], where: str) -> list[Problem]:
    """Return the problems called `names`, or all if none are named.

    Raises:
        ConfigError: if one is not among them.
    """
    known = {one.name: one for one in among}
    for name in names:
        if name not in known:
            raise ConfigError(f"{where} has no problem {name!r}; choose from {', '.join(known)}")
    return [known[name] for name in dict.fromkeys(names)] if names else list(among)


@dataclass(frozen=True)
class Measured:
    """What a method is given: runs of noisy samples of u or u'', the force, and known initial values.

    Of a system, each signal has a column for each state.
    """

    order: int
    observed: str  # "u" or "acceleration"
    force: str | None
    t: tuple[Float, ...]
    signal: tuple[Float, ...]
    initial: tuple[tuple[float, ...], ...] | None  # None: unknown
    states: tuple[str, ...] = ()  # names of the columns of a system


def measured(job: Job) -> Measured:
    """Return the data of a job, which are the same for every method.

    The noise is normal; its standard deviation is `noise` times that of the clean signal of each run, but
    in ODEBench `noise` times each value.
    """
    if job.study in FILES:
        whole = system(job.problem, job.study)
        t, x = observed(whole, job.noise, job.dropped, job.seed)
        return Measured(1, "u", None, (t,), (x,), None, whole.states)
    one = _with_samples(problem(job.problem), job.samples)
    starts = initial_values(one, job.runs)
    rng = np.random.default_rng([job.seed, zlib.crc32(job.problem.encode())])
    times, signals = [], []
    for start in starts:
        t, u, _, d2u = truth(_with_initial(one, start))
        clean = u if one.observed == "u" else d2u
        noisy = clean + job.noise * np.std(clean) * rng.standard_normal(len(clean))
        keep = _not_dropped(len(t), job.dropped, rng)
        times.append(t[keep])
        signals.append(noisy[keep])
    known = tuple(starts) if job.initial == "known" else None
    return Measured(one.order, one.observed, one.force, tuple(times), tuple(signals), known)


def initial_values(one: Problem, n: int) -> list[tuple[float, ...]]:
    """Return the problem's own initial values and n - 1 random ones near them with bounded solutions.

    Raises:
        GodeError: if there are none.
    """
    found = [one.initial]
    if n == 1:
        return found
    rng = np.random.default_rng(zlib.crc32(one.name.encode()))
    _, u, du, _ = truth(one)
    sizes = [float(np.std(u)), float(np.std(du))][: one.order]
    inputs = None if one.force is None else {"F": one.force}
    for _ in range(MAX_DRAWS):
        start = tuple(
            value + SPREAD * size * float(rng.standard_normal())
            for value, size in zip(one.initial, sizes, strict=True)
        )
        solution = solve(one.equation, one.t, start, inputs=inputs)
        if solution.failure is None and np.max(np.abs(solution.u)) <= BOUND * np.max(np.abs(u)):
            found.append(start)
        if len(found) == n:
            return found
    raise GodeError(f"{one.name} has no {n} bounded solutions near its initial values; ask for fewer runs")


def _with_samples(one: Problem, n: int) -> Problem:
    """Return the problem sampled n times over its span; unchanged for n = 0."""
    return replace(one, fs=(n - 0.5) / (one.t1 - one.t0)) if n else one


def _with_initial(one: Problem, start: tuple[float, ...]) -> Problem:
    return one if start == one.initial else replace(one, initial=start, exact=None)


def _not_dropped(n: int, dropped: float, rng: np.random.Generator) -> Bool:
    """Return a mask of the samples that are not dropped; the first and the last never are."""
    keep = np.ones(n, bool)
    n_dropped = min(round(dropped * n), n - 5)
    keep[rng.permutation(np.arange(1, n - 1))[: max(n_dropped, 0)]] = False
    return keep

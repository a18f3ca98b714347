"""Job: one run of one method on one noisy problem, and the lists of them that make up a study."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from itertools import product

from gode.benchmarks.problems import Problem, problem, suite
from gode.choices import EffortName
from gode.errors import ConfigError

INITIALS = ("known", "unknown")
PAPER_NOISE = 0.05
SWEEPS: dict[str, tuple[float, ...]] = {
    "noise": (0.0, 0.01, 0.05, 0.1, 0.2),
    "samples": (25, 50, 100, 200, 400),
    "dropped": (0.0, 0.25, 0.5, 0.75),
    "runs": (1, 2, 4),
}
# Growth, decay, threshold, wave and saturation; two oscillators of second order.
SWEEP_PROBLEMS = (
    "ID1",
    "ID3",
    "ID6",
    "ID8",
    "ID11",
    "ID13",
    "ID16",
    "ID19",
    "ID21",
    "ID23",
    "LODE4",
    "LODE5",
)
QUICK = {
    "b1": ("ID1", "ID3", "ID6", "ID11", "ID12"),
    "b2": ("LODE4", "LODE5", "NLODE1"),
    "b3": ("Pendulum",),
}


@dataclass(frozen=True, kw_only=True, order=True)
class Job:
    """All that decides a run; two equal jobs give the same equation."""

    study: str  # b1, b2, b3, or the name of a sweep
    problem: str
    method: str
    seed: int = 0
    noise: float = PAPER_NOISE  # in standard deviations of the clean signal
    samples: int = 0  # 0: as many as in the paper
    dropped: float = 0.0  # share of the samples that is left out, by chance
    runs: int = 1  # trajectories from different initial values
    initial: str = "known"
    effort: str = EffortName.NORMAL.value

    def __post_init__(self) -> None:
        one = problem(self.problem)
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
        """A guess of how long the job takes beside others of its method: the long ones are begun first."""
        n = self.samples or len(problem(self.problem).t)
        return n * (1 - self.dropped) * self.runs * problem(self.problem).order


def job_from(values: object) -> Job:
    """Return the job that was written to a file.

    Raises:
        ConfigError: if it is none.
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


def chosen(among: Sequence[Problem], names: Sequence[str], where: str) -> list[Problem]:
    """Return the problems called `names`, or all; each must be one of `among`."""
    known = {one.name: one for one in among}
    for name in names:
        if name not in known:
            raise ConfigError(f"{where} has no problem {name!r}; choose from {', '.join(known)}")
    return [known[name] for name in dict.fromkeys(names)] if names else list(among)

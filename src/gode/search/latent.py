"""CMA-ES in the latent space: start, ask, tell, restart, stop."""

from collections.abc import Callable, Sequence
from math import exp, lgamma, sqrt

import numpy as np

from gode.arrays import Float
from gode.search.cheap import Objective
from gode.search.settings import LatentConfig
from gode.search.templates import Points

# The search from one start ends by the usual criteria of CMA-ES: after so many generations whose best and
# whose upper quartile score alike; below this range of scores, or this standard deviation in every direction;
# above this growth of a standard deviation; or above this condition number of the covariance.
FLAT = 2
NARROW = 1e-11
WIDEST = 1e3
CONDITION = 1e14
FASTEST = 1.0  # The log of the step size changes by no more in a generation, as is usual in CMA-ES.


def search_latent(
    objective: Objective,
    space: Points,
    starts: Sequence[Float],
    *,
    budget: int,
    config: LatentConfig,
    rng: np.random.Generator,
    on_step: Callable[[], None] | None = None,
) -> None:
    """Search from each start in turn until `budget` new skeletons have been fitted."""
    end = objective.n_fitted + budget
    for i, start in enumerate(starts):
        budget = (end - objective.n_fitted) // (len(starts) - i)
        if budget <= 0:
            break
        _climb(objective, space, start, objective.n_fitted + budget, config, rng, on_step)


def _climb(
    objective: Objective,
    space: Points,
    start: Float,
    end: int,
    config: LatentConfig,
    rng: np.random.Generator,
    on_step: Callable[[], None] | None,
) -> None:
    """Run CMA-ES from one start."""
    strategy = Evolution(start, config.sigma, config.population, rng=rng)
    best, idle = np.inf, 0
    for _ in range(config.max_generations):
        before = objective.n_fitted
        points = strategy.ask()
        scores = [objective.score(s) for s in space.decode(points)]
        finite = [s for s in scores if np.isfinite(s)]
        worst = max(finite, default=0.0) + 1.0
        strategy.tell(points, [s if np.isfinite(s) else worst for s in scores])
        if on_step:
            on_step()
        better = min(scores) < best - 1e-9
        best = min(best, *scores)
        idle = 0 if better and objective.n_fitted > before else idle + 1
        if objective.n_fitted >= end or idle >= config.patience or strategy.is_over:
            break


class Evolution:
    """One run of CMA-ES: `ask` for points, `tell` their scores, until `is_over`."""

    def __init__(
        self,
        start: Float,
        sigma: float,
        population: int,
        *,
        rng: np.random.Generator,
        target: float = -np.inf,
    ) -> None:
        n = len(start)
        self.rng, self.target, self.mean = rng, target, np.array(start, np.float64)
        self.sigma = self.first_sigma = sigma
        self._set_rates(n, population)
        # Eigenvalues that are not quite equal have directions of their own in any linear algebra.
        self.covariance = np.diag(np.exp(1e-4 / n * np.arange(n)))
        self.axes, self.lengths = np.eye(n), np.sqrt(np.diag(self.covariance))
        self.path, self.step_path = np.zeros(n), np.zeros(n)
        self.asked = np.empty((0, n))
        self.n_told = self.n_decomposed = self.n_flat = 0
        self.best: list[float] = []  # of each generation
        self.scores: list[float] = []  # of the last one, in order

    def _set_rates(self, n: int, population: int) -> None:
        """Set the weights of the ranks and the learning rates (tables 1 and 2 of the tutorial)."""
        raw = np.log((population + 1) / 2) - np.log(np.arange(1, population + 1))
        better = raw > 0
        weights = np.where(better, raw / raw[better].sum(), raw / -raw[~better].sum())
        self.n_better, mass = int(better.sum()), 1 / np.sum(weights[better] ** 2)
        worse = 1 / np.sum(weights[~better] ** 2)
        self.mass = mass
        self.c_path = (4 + mass / n) / (n + 4 + 2 * mass / n)
        self.c_one = min(1, population / 6) * 2 / ((n + 1.3) ** 2 + mass)
        self.c_mu = min(1 - self.c_one, 2 * (mass - 1.75 + 1 / mass) / ((n + 2) ** 2 + mass))
        limits = (
            1 + self.c_one / self.c_mu,  # without decay, eq. 50
            (1 - self.c_one - self.c_mu) / (n * self.c_mu),  # positive definite, eq. 52
            1 + 2 * worse / (mass + 2),  # eq. 51
        )
        self.weights = np.where(better, weights, weights * min(limits))
        self.c_step = min(0.5, (mass + 2) / (n + mass + 3))
        slow = max(1.0, 3 * (1 - 0.5 ** (n / 9)))  # for populations that are large against the dimension
        self.damping = 1 + self.c_step + 2 * max(0.0, slow * sqrt((mass - 1) / (n + 1)) - 1)
        self.usual_length = sqrt(2) * exp(lgamma((n + 1) / 2) - lgamma(n / 2))
        self.patience = 1 / (self.c_one + self.c_mu) / n / 10  # generations without a decomposition

    def ask(self) -> Float:
        """Return the points of the next generation (population, dimension)."""
        if self.n_told > self.n_decomposed and self.n_told >= self.n_decomposed + self.patience:
            self.covariance = (self.covariance + self.covariance.T) / 2
            squares, self.axes = np.linalg.eigh(self.covariance)
            self.lengths = np.sqrt(np.maximum(squares, squares[-1] / (10 * CONDITION)))
            self.n_decomposed = self.n_told
        drawn = self.rng.standard_normal((len(self.weights), len(self.mean)))
        self.asked = self.mean + self.sigma * ((self.lengths * drawn) @ self.axes.T)
        return self.asked.copy()

    def tell(self, points: Float, scores: Sequence[float]) -> None:
        """Learn from the scores of points, which are those asked for, or others in the place of some."""
        told = np.array(points, np.float64)
        foreign = (told != self.asked).any(axis=1)
        told[foreign] = self._shortened(told[foreign])
        order = np.argsort(scores)
        steps = (told[order] - self.mean) / self.sigma
        shift = self.weights[: self.n_better] @ steps[: self.n_better]  # eq. 41
        self.mean = self.weights[: self.n_better] @ told[order[: self.n_better]]  # eq. 42
        self.n_told += 1
        # The path of the steps as they were drawn, and whether it is too long to learn from (eq. 43).
        stay, n = 1 - self.c_step, len(self.mean)
        self.step_path = stay * self.step_path + sqrt((1 - stay**2) * self.mass) * self._whitened(shift)
        usual = self.step_path @ self.step_path / (1 - stay ** (2 * self.n_told)) / n < 2 + 4 / (n + 1)
        self._learn(steps, shift, usual=usual)
        growth = self.c_step / self.damping * (np.linalg.norm(self.step_path) / self.usual_length - 1)
        self.sigma *= exp(min(max(growth, -FASTEST), FASTEST))  # eq. 44
        self.scores = sorted(scores)
        self.best.append(self.scores[0])
        flat = self.scores[0] >= self.scores[int(0.75 * len(scores))]
        self.n_flat = self.n_flat + 1 if flat else 0

    def _learn(self, steps: Float, shift: Float, *, usual: bool) -> None:
        """Add the path and the steps of a generation to the covariance (eqs. 45 to 47)."""
        c_path, n = self.c_path, len(self.mean)
        self.path = (1 - c_path) * self.path
        if usual:
            self.path += sqrt(c_path * (2 - c_path) * self.mass) * shift
        lost = 0.0 if usual else self.c_one * c_path * (2 - c_path)
        rates = self.c_mu * self.weights
        self.covariance *= 1 - (self.c_one - lost) - rates.sum()
        worse = rates < 0
        rates[worse] *= n / (np.linalg.norm(self._whitened(steps[worse]), axis=1) + 1e-9) ** 2
        self.covariance += self.c_one * np.outer(self.path, self.path) + (rates * steps.T) @ steps

    @property
    def is_over(self) -> bool:
        """Whether the target is reached, or further generations would bring nothing."""
        if not self.best:
            return False
        history = self.best[-(10 + 30 * len(self.mean) // len(self.weights)) :]
        spread = self.sigma * np.sqrt(np.diag(self.covariance))
        return bool(
            min(self.best) <= self.target
            or self.n_flat >= FLAT
            or (self.scores[-1] - self.scores[0] < NARROW and max(history) - min(history) < NARROW)
            or np.all(np.maximum(spread, self.sigma * np.abs(self.path)) < NARROW)
            or np.any(spread > WIDEST * self.first_sigma)
            or np.any(self.mean == self.mean + 0.2 * spread)
            or self.lengths[-1] > sqrt(CONDITION) * self.lengths[0]
        )

    def _whitened(self, steps: Float) -> Float:
        """Return steps, one or (m, dimension), in units of the standard deviations drawn from."""
        return np.asarray((steps @ self.axes / self.lengths) @ self.axes.T)

    def _shortened(self, points: Float) -> Float:
        """Return points no farther from the mean than those that are drawn."""
        n = len(self.mean)
        steps = (points - self.mean) / self.sigma
        lengths = np.linalg.norm(self._whitened(steps), axis=1) / (sqrt(n) + 2 * n / (n + 2))
        return np.asarray(self.mean + self.sigma * steps / np.maximum(lengths, 1.0)[:, None])

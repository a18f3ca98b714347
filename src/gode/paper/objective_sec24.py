"""The losses of a skeleton, in the paper's order; no skeleton is fitted twice (sec. 2.4).

Constants by residual loss, the test for triviality, then, for second order, the solution if the residual
loss is below a threshold that follows the search (sec. 3.2).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from gode.arrays import Float
from gode.data import Columns, Run, Smooth
from gode.equation import Equation, Skeleton
from gode.paper.losses_eq4_to_9 import (
    PaperConfig,
    criterion,
    fit_by_simplex,
    has_vanished,
    is_trivial,
    solution_loss,
)
from gode.solve import Solution, SolveConfig, set_up
from gode.solve import run as run_system

FAILURE_COST = 1e10
FIRST_THRESHOLD = 200.0  # of the residual loss, for solving
LOWEST = 20  # losses of a generation whose mean, with a margin, is the next threshold
MARGIN = 1.05  # factor of that mean
BOUND = 30.0  # a solution this many times larger than the data has diverged
LISTED = 40  # equations that are reported at most


@dataclass(frozen=True)
class Judged:
    """An equation with its losses; the solution loss is None as long as it has not been solved."""

    equation: Equation
    residual_loss: float
    solution_loss: float | None
    score: float


class PaperObjective:
    """Scores skeletons as the paper does: by residual loss alone (B1), or by its criterion (B2, B3)."""

    def __init__(
        self,
        runs: Sequence[Run],
        smooths: Sequence[Smooth],
        columns: Columns,  # the smoothed data of all runs
        *,
        order: int,
        solving: bool,
        config: PaperConfig,
        check: Callable[[], None],  # called before each fit; may raise to end the search
    ) -> None:
        self.runs, self.smooths, self.columns = runs, smooths, columns
        self.order, self.solving, self.config, self.check = order, solving, config, check
        self.threshold = FIRST_THRESHOLD
        self.seen: dict[Skeleton, Judged | None] = {}
        self.n_solved = 0

    @property
    def n_fitted(self) -> int:
        """The number of different skeletons fitted so far."""
        return len(self.seen)

    def restart(self) -> None:
        """Begin another search: the threshold is open again, what was fitted stays known."""
        self.threshold = FIRST_THRESHOLD

    def generation(self, skeletons: Sequence[Skeleton | None]) -> list[float]:
        """Return the scores of a generation, and set the threshold of the next one by it."""
        judged = [self.judge(skeleton) for skeleton in skeletons]
        losses = sorted(one.residual_loss for one in judged if one is not None)
        if losses:
            self.threshold = MARGIN * float(np.mean(losses[:LOWEST]))
        return [FAILURE_COST if one is None else one.score for one in judged]

    def judge(self, skeleton: Skeleton | None) -> Judged | None:
        """Return the losses of `skeleton`; None for one that is not sought, fails or is trivial."""
        if skeleton is None or skeleton.order != self.order:
            return None
        if any(name not in self.columns.inputs for name in skeleton.inputs):
            return None
        if skeleton not in self.seen:
            self.check()
            self.seen[skeleton] = self._judged(skeleton)
        return self.seen[skeleton]

    def best(self, n: int) -> list[Judged]:
        """Return the `n` best by score."""
        found = [one for one in self.seen.values() if one is not None]
        return sorted(found, key=lambda one: one.score)[:n]  # of equals the first found

    def decided(self) -> list[Judged]:
        """Return the best equations of those that can be solved at all."""
        solved = (self.solved(judged) for judged in self.best(self.n_fitted))
        found = islice((judged for judged in solved if judged is not None), LISTED)
        return sorted(found, key=lambda one: one.score)

    def solved(self, judged: Judged) -> Judged | None:
        """Return `judged` with its solution loss; None if there is no solution, or one that vanishes."""
        if judged.solution_loss is not None:
            return judged
        solutions = self.solutions(judged.equation)
        self.n_solved += 1
        loss = solution_loss(solutions, self.columns, self.order)
        if not np.isfinite(loss) or self._vanished(solutions):
            return None
        score = self._score(judged.equation, loss) if self.solving else judged.score
        return replace(judged, solution_loss=loss, score=score)

    def solutions(self, equation: Equation) -> list[Solution]:
        """Solve the equation over every run, from known initial values or else the smoothed ones."""
        largest = max(float(np.abs(smooth.values[0]).max()) for smooth in self.smooths) or 1.0
        config = SolveConfig(max_steps=2000, bound=BOUND * largest)
        constants = np.array(equation.constants, np.float64)
        out = []
        for data, smooth in zip(self.runs, self.smooths, strict=True):
            guide = smooth.values[self.order]
            system = set_up(
                equation.skeleton,
                data.t,
                inputs=dict(data.signals),
                doses=data.doses,
                guide=guide,
                config=config,
            )
            known = data.initial[: self.order]
            start: Float = np.where(np.isfinite(known), known, smooth.values[: self.order, 0])
            out.append(run_system(system, constants, start))
        return out

    def _judged(self, skeleton: Skeleton) -> Judged | None:
        fit = fit_by_simplex(skeleton, self.columns, self.config)
        if fit.equation is None or is_trivial(fit.equation, self.columns, self.config):
            return None
        if not self.solving:
            return Judged(fit.equation, fit.loss, None, fit.loss)
        judged = Judged(fit.equation, fit.loss, None, self._score(fit.equation, fit.loss))
        return self.solved(judged) if fit.loss <= self.threshold else judged

    def _score(self, equation: Equation, accuracy: float) -> float:
        return criterion(equation.complexity, accuracy, self.columns.n_points, self.config.alpha)

    def _vanished(self, solutions: Sequence[Solution]) -> bool:
        pairs = zip(solutions, self.smooths, strict=True)
        return all(has_vanished(solution, smooth.values[0]) for solution, smooth in pairs)

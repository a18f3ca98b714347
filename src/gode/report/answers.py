"""An engineer's answers: equilibria, stability, frequencies, time constants, gain over a linear model."""

from dataclasses import dataclass

import numpy as np

from gode.discovery import Discovery
from gode.equation import Equation, Skeleton, Term, parse_skeleton
from gode.equation.printer import to_text
from gode.equation.tree import TIME, depends_on, variables, walk
from gode.fitting import fit_constants
from gode.fitting.shooting import Shot, shoot
from gode.report.equilibria import Equilibrium, extent, find_equilibria
from gode.report.naming import Units
from gode.search.zero_starts import fitted_target

STATES = {"u", "u'", "u''"}
LINEAR = {1: "u' = C*u + C", 2: "u'' = C*u' + C*u + C"}


@dataclass(frozen=True)
class Answers:
    """What the equation says about the system; `notes` say why an answer is missing."""

    equilibria: tuple[Equilibrium, ...]
    linear: str | None  # the best linear model
    gain: float | None  # rms residual of the best linear model over that of the equation found
    notes: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join([*map(str, self.equilibria), *self.notes])


def answer(discovery: Discovery) -> Answers:
    """Return equilibria, stability and the gain over a linear model."""
    equilibria, notes = _equilibria(discovery)
    linear, gain, comparison = _gain(discovery)
    return Answers(tuple(equilibria), linear, gain, (*notes, comparison))


def _equilibria(discovery: Discovery) -> tuple[list[Equilibrium], list[str]]:
    best = discovery.candidates[0]
    skeleton = best.single.skeleton
    if depends_on(skeleton.normal, TIME):
        return [], ["The equation changes with time, so it has no equilibria."]
    units = Units.of(discovery.prepared.dataset)
    found = find_equilibria(best.single, best.covariance, *extent(discovery), units)
    notes = [] if found else ["There is no equilibrium within or near the observed range."]
    if found and skeleton.inputs:
        notes.append("Equilibria are those without the force.")
    if found and any(node.op in ("sign", "abs") for node in walk(skeleton.normal)):
        notes.append("Terms with sign or abs are not part of the linear motion.")
    return found, notes


def _gain(discovery: Discovery) -> tuple[str | None, float | None, str]:
    best = discovery.candidates[0]
    if _is_linear(best.single.skeleton):
        return None, None, "The equation is linear itself."
    given = [f" + C*({to_text(term.body)})" for term in best.single.skeleton.terms if _is_given(term)]
    text = LINEAR[best.single.order] + "".join(given)
    shot = _fitted(parse_skeleton(text, inputs=best.single.skeleton.inputs), discovery)
    same = [c for c in discovery.candidates if c.n_values == best.n_values]  # fitted to the same values
    tried = [(c.rms, c.single) for c in same if _is_linear(c.single.skeleton)]
    if shot is not None and isinstance(shot.equation, Equation):
        tried.append((float(np.sqrt(shot.sse / shot.n_values)), shot.equation))
    tried = [each for each in tried if np.isfinite(each[0])]
    if not tried or not np.isfinite(best.rms):
        return None, None, "No linear model could be compared with it."
    rms, linear = min(tried, key=lambda each: each[0])
    gain = rms / max(best.rms, 1e-300)
    name = linear.text(4)
    return name, gain, f"The best linear model, {name}, leaves residuals {gain:.3g} times as large."


def _is_linear(skeleton: Skeleton) -> bool:
    return all(_is_given(term) or term.body.value in STATES for term in skeleton.terms)


def _is_given(term: Term) -> bool:
    """Tell whether a term depends on time and inputs only; linear models have these, too."""
    return not variables(term.body) & STATES


def _fitted(skeleton: Skeleton, discovery: Discovery) -> Shot | None:
    """Return the best fit of a skeleton to the same target as the equation found."""
    prepared, settings = discovery.prepared, discovery.settings
    target = fitted_target(discovery.candidates[0], prepared)
    best: Shot | None = None
    for problem in prepared.problems:
        start = fit_constants(skeleton, problem, config=settings.constants).equation
        if start is not None:
            shot = shoot(skeleton, start.constants, target, config=settings.shooting)
            if best is None or shot.sse < best.sse:
                best = shot
    return best

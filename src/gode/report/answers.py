"""An engineer's answers: equilibria, stability, frequencies, time constants, gain over a linear model."""

from dataclasses import dataclass

import numpy as np

from gode.discovery import Discovery
from gode.equation import Skeleton, Term, parse_skeleton
from gode.equation.text import to_text
from gode.equation.tree import TIME, depends_on, variables, walk
from gode.fitting import fit_constants
from gode.fitting.shooting import Shot, shoot
from gode.report.equilibria import Equilibrium, find_equilibria

STATES = {"u", "u'", "u''"}
LINEAR = {1: "u' = C*u + C", 2: "u'' = C*u' + C*u + C"}


@dataclass(frozen=True)
class Answers:
    """What the equation means for the system; empty where a question does not apply, and `notes` say why."""

    equilibria: tuple[Equilibrium, ...]
    linear: str | None  # the best linear model
    gain: float | None  # rms residual of the best linear model over that of the equation found
    notes: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join([*map(str, self.equilibria), *self.notes])


def answer(discovery: Discovery) -> Answers:
    """Return what can be said about the system from its equation."""
    equilibria, notes = _equilibria(discovery)
    linear, gain, comparison = _gain(discovery)
    return Answers(tuple(equilibria), linear, gain, (*notes, comparison))


def _equilibria(discovery: Discovery) -> tuple[list[Equilibrium], list[str]]:
    best = discovery.order[0]
    skeleton = best.equation.skeleton
    if depends_on(skeleton.normal, TIME):
        return [], ["The equation changes with time, so it has no equilibria."]
    values = np.concatenate([smooth.values[0] for smooth in discovery.prepared.smooths])
    found = find_equilibria(best.equation, best.covariance, float(values.min()), float(values.max()))
    notes = [] if found else ["There is no equilibrium within or near the observed range."]
    if found and skeleton.inputs:
        notes.append("Equilibria are those without the force.")
    if found and any(node.op in ("sign", "abs") for node in walk(skeleton.normal)):
        notes.append("Kinks (sign, abs) do not enter what holds for small motions.")
    return found, notes


def _gain(discovery: Discovery) -> tuple[str | None, float | None, str]:
    best = discovery.order[0]
    terms = best.equation.skeleton.terms
    if all(_is_given(term) or term.body.value in STATES for term in terms):
        return None, None, "The equation is linear itself."
    given = "".join(f" + C*({to_text(term.body)})" for term in terms if _is_given(term))
    linear = parse_skeleton(LINEAR[best.equation.order] + given, inputs=best.equation.skeleton.inputs)
    shot = _fitted(linear, discovery)
    if shot is None or shot.equation is None or not np.isfinite(best.rms):
        return None, None, "No linear model could be compared with it."
    gain = float(np.sqrt(shot.sse / shot.n_values)) / max(best.rms, 1e-300)
    name = shot.equation.text(4)
    return name, gain, f"The best linear model, {name}, leaves residuals {gain:.3g} times as large."


def _is_given(term: Term) -> bool:
    """Tell whether a term depends on time and inputs alone, so that a linear model may have it too."""
    return not variables(term.body) & STATES


def _fitted(skeleton: Skeleton, discovery: Discovery) -> Shot | None:
    prepared, settings = discovery.prepared, discovery.settings
    best: Shot | None = None
    for problem in prepared.problems:
        start = fit_constants(skeleton, problem, config=settings.constants).equation
        if start is not None:
            shot = shoot(skeleton, start.constants, prepared.target, config=settings.shooting)
            if best is None or shot.sse < best.sse:
                best = shot
    return best

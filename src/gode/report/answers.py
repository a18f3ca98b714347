"""An engineer's answers: equilibria, stability, frequencies, time constants, gain over a linear model."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gode.discovery import Discovery
from gode.discovery.framing import display_names
from gode.equation import Law, LawSkeleton, Skeleton, Term, parse_skeleton
from gode.equation.printer import to_text
from gode.equation.system import joined, moving_law, state_seen, with_names
from gode.equation.tree import STATE, TIME, depends_on, variables, walk
from gode.fitting import fit_constants
from gode.fitting.prepare import view
from gode.fitting.trajectory_fit import Shot, shoot
from gode.report.equilibria import CONTINUUM, Equilibrium, extents, find_equilibria
from gode.report.naming import Units
from gode.search.zero_starts import fitted_target
from gode.solve.program import late_states

GAIN = "The best linear model, {}, leaves residuals {:.3g} times as large."


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
    best, dataset = discovery.candidates[0], discovery.prepared.dataset
    law = moving_law(best.equation)
    parts, n = law.skeleton.parts, len(law.states)
    if any(depends_on(part.normal, TIME) for part in parts):
        return [], [f"The {best.equation.skeleton.noun} changes with time, so it has no equilibria."]
    if late_states(best.equation.skeleton):
        return [], ["Equilibria and their stability are not told of laws in which states act late."]
    units = [Units.of(dataset, state) for state in dataset.states[:n]]
    k = len(law.constants)
    low, high = (end[:n] for end in extents(discovery))
    found, isolated = find_equilibria(law, best.covariance[:k, :k], low, high, units)
    notes = [] if isolated else [CONTINUUM]
    if not found and not notes:
        notes.append("There is no equilibrium within or near the observed range.")
    if found and best.own is not None:
        notes.append("Equilibria are those of the mean of the population.")
    if found and _uses_inputs(best.equation):
        notes.append("Equilibria are those without the force.")
    if found and any(node.op in ("sign", "abs") for part in parts for node in walk(part.normal)):
        notes.append("Terms with sign or abs are not part of the linear motion.")
    return found, notes


def _uses_inputs(law: Law) -> bool:
    """Tell whether a known input occurs in the law."""
    known = {*law.skeleton.inputs}
    names = [(part, law.skeleton.columns(i)) for i, part in enumerate(law.skeleton.parts)]
    return any(called.get(name, name) in known for part, called in names for name in part.inputs)


def _gain(discovery: Discovery) -> tuple[str | None, float | None, str]:
    best = discovery.candidates[0]
    if _is_linear(best.equation.skeleton):
        return None, None, f"The {best.equation.skeleton.noun} is linear itself."
    if 0 in best.equation.skeleton.orders:
        return None, None, "No linear model was compared with it, for what is measured is a formula."
    shot = _fitted(_linear_form(best.equation), discovery)
    same = [c for c in discovery.candidates if c.n_values == best.n_values]  # fitted to the same values
    linear_ones = [c for c in same if _is_linear(c.equation.skeleton)]
    timed = _changes_with_time(best.equation.skeleton)  # time stands in a linear model only if it does here
    tried = [(c.rms, c.equation) for c in linear_ones if timed or not _changes_with_time(c.equation.skeleton)]
    if shot is not None and shot.equation is not None:
        tried.append((float(np.sqrt(shot.sse / shot.n_values)), shot.equation))
    tried = [each for each in tried if np.isfinite(each[0])]
    if not tried or not np.isfinite(best.rms):
        return None, None, "No linear model could be compared with it."
    rms, linear = min(tried, key=lambda each: each[0])
    gain = rms / max(best.rms, 1e-300)
    name = "; ".join(with_names(linear, display_names(discovery.prepared.dataset)).lines(4))
    return name, gain, GAIN.format(name, gain)


def _linear_form(law: Law) -> LawSkeleton:
    """Return the linear law of the same orders, with the same terms in time and inputs."""
    parts = [_linear_part(law.skeleton, state) for state in range(len(law.states))]
    return joined(law.states, law.skeleton.inputs, parts)


def _linear_part(skeleton: LawSkeleton, state: int) -> Skeleton:
    part, d = skeleton.parts[state], len(skeleton.states)
    signals = [f"{STATE}'" if part.order == 2 else "", STATE]
    signals += [
        state_seen(state, s) + "'" * k for s in range(d) if s != state for k in range(skeleton.orders[s])
    ]
    terms = [f"C*{name}" for name in signals if name] + ["C"]
    terms += [f"C*({to_text(term.body)})" for term in part.terms if _is_given(term, _signals(skeleton))]
    seen = tuple(name for name in skeleton.seen(state) if name.rstrip("'") not in (TIME, STATE))
    others = tuple(dict.fromkeys(name.rstrip("'") for name in seen))
    return parse_skeleton(f"{part.highest} = {' + '.join(terms)}", inputs=others, states=(STATE, *others))


def _is_linear(skeleton: LawSkeleton) -> bool:
    signals = _signals(skeleton)
    terms = [term for part in skeleton.parts for term in part.terms]
    return all(_is_given(term, signals) or term.body.value in signals for term in terms)


def _changes_with_time(skeleton: LawSkeleton) -> bool:
    return any(depends_on(part.normal, TIME) for part in skeleton.parts)


def _signals(skeleton: LawSkeleton) -> set[str]:
    """Return what the states and their derivatives are called in any equation."""
    d = len(skeleton.states)
    return {state_seen(0, s) + "'" * k for s in range(d) for k in range(3)}


def _is_given(term: Term, signals: set[str]) -> bool:
    """Tell whether a term depends on time and inputs only; linear models have these, too."""
    return not variables(term.body) & signals


def _fitted(skeleton: LawSkeleton, discovery: Discovery) -> Shot | None:
    """Return the best fit of a skeleton to the same target as the equation found."""
    settings = discovery.settings
    target = fitted_target(discovery.candidates[0], discovery.prepared)
    per_run = range(skeleton.n_constants) if discovery.candidates[0].own is not None else ()
    best: Shot | None = None
    for constants in _starts(skeleton, discovery):
        shot = shoot(skeleton, constants, target, per_run, config=settings.shooting)
        if best is None or shot.sse < best.sse:
            best = shot
    return best


def _starts(skeleton: LawSkeleton, discovery: Discovery) -> Iterator[tuple[float, ...]]:
    """Yield constants that fit the smoothed data; of a system, those of each equation in turn."""
    prepared, settings = discovery.prepared, discovery.settings
    if prepared.problems:
        for problem in prepared.problems:
            start = fit_constants(skeleton.parts[0], problem, config=settings.constants).equation
            if start is not None:
                yield start.constants
        return
    found: tuple[float, ...] = ()
    for state, part in enumerate(skeleton.parts):
        seen = view(prepared, state, part.order, settings.selection.floor)
        start = fit_constants(part, seen.problems[0], config=settings.constants).equation
        if start is None:
            return
        found += start.constants
    yield found

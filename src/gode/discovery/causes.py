"""Why a law does not explain the data: likely causes, each found by trying the remedy.

A remedy counts if it takes the misfit clearly down and no other one takes it much further down; what was not
tried is not reported as a cause.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from gode.arrays import Float
from gode.choices import Preset
from gode.data import Interpolation, Samples
from gode.data.dataset import unit_of
from gode.discovery.delays import FLAGS
from gode.discovery.differing_runs import told_of_each_run
from gode.discovery.framing import display_name
from gode.discovery.quality import SLIGHT_MISFIT, Quality, Verdict
from gode.discovery.remedies import Remedy, make_refits, rms_of, tried_remedies
from gode.discovery.result import Discovery
from gode.equation import parse_skeleton
from gode.errors import EquationError
from gode.fitting.prepare import Prepared, is_its_view
from gode.options.checks import LATE_STATE, MOST_HIDDEN
from gode.search.settings import Settings
from gode.search.templates import SumTemplate, borrowed
from gode.selection import Candidate
from gode.solve.program import late_states

# The numbers here were set by hand on records with one known fault each (tests/discovery).
CLEARLY_LESS = 0.7  # A remedy that leaves less than this fraction of a misfit takes it clearly down.
BETTER_THAN_RIVALS = 0.9  # A remedy must leave less than this fraction of what other laws leave.
NEW_CONSTANTS = 3  # A new term brings at most so many constants: laws with as many more are its rivals.
DELAYS = 24  # Delays of the state that are tried, up to half of the record.
DELAY_POINTS = 400  # Times at which the smoothed data are compared with what they were before.
# A delay is reported if adding u(t - delay) leaves less than this fraction of the squared residual of u', and
# u(t) alone leaves more than that fraction of its variance.
LEFT_WITH_DELAY = 0.1
LEFT_WITHOUT_DELAY = 0.05
UNMEASURED = "a quantity that was not measured may act on it"


def with_causes(
    found: Discovery,
    second_order: Callable[[Settings], Discovery | None] | None = None,
    hidden_state: Callable[[], Discovery | None] = lambda: None,
    may_go_on: Callable[[], bool] = lambda: True,
) -> Discovery:
    """Return the discovery with the likely causes of a fit that is not good.

    Args:
        second_order: finds an equation of second order behind the same data, if that can be tried.
        hidden_state: finds a law with a state that was not measured, if that can be tried.
        may_go_on: whether there is time left to try remedies.
    """
    if _is_cut_short(found):
        return found
    differing = told_of_each_run(found) if may_go_on() else []
    if not _asks_for_causes(found.quality):
        return replace(found, causes=tuple(differing)) if differing else found
    best, misfit = found.candidates[0], found.quality.misfit
    remedies = tried_remedies(best, found.prepared, found.settings, misfit, may_go_on)
    causes = helpful(remedies, _left_by_rivals(found.candidates)) or differing
    if not causes:
        other = second_order(found.settings) if second_order and may_go_on() else None
        causes += _nearly_as_helpful(remedies, found, other)
        causes += _by_wider_search(found, other, hidden_state, may_go_on) or _delayed_state(found)
    if not causes and found.quality.verdict.is_failure and may_go_on():
        causes.append(nothing_helps(remedies) + _search_for_hidden(found))
    return replace(found, causes=tuple(causes))


def _nearly_as_helpful(remedies: Sequence[Remedy], found: Discovery, other: Discovery | None) -> list[str]:
    """Return the best remedy in words if an equation of second order explains little more than it does."""
    best = min(remedies, key=lambda r: r.left, default=None)
    if best is None or other is None or not _is_better(other.quality, found.quality):
        return []
    near = BETTER_THAN_RIVALS * best.left < other.quality.misfit / found.quality.misfit
    return [_told(best)] if near else []


def _by_wider_search(
    found: Discovery,
    other: Discovery | None,
    hidden_state: Callable[[], Discovery | None],
    may_go_on: Callable[[], bool],
) -> list[str]:
    """Return what explains more: an equation of second order, or where that is poor, too, a hidden state."""
    better = other if other is not None and _is_better(other.quality, found.quality) else None
    least = found if better is None else better
    if found.quality.verdict.is_failure and _asks_for_causes(least.quality) and may_go_on():
        hidden = hidden_state()
        if hidden is not None and _is_better(hidden.quality, least.quality):
            misfit = f"{hidden.quality.misfit:.2g}"
            return [f"with a quantity that was not measured {misfit} times the noise is left: --hidden 1"]
    if better is None:
        return []
    return [f"an equation of second order leaves {better.quality.misfit:.2g} times the noise: --order 2"]


def with_helpful_columns(found: Discovery, others: Mapping[str, Sequence[Float]]) -> Discovery:
    """Return the discovery; if it is not good, with the columns, one array a run, that would help it."""
    if not others or _is_cut_short(found) or not _asks_for_causes(found.quality):
        return found
    columns = tuple(helpful_columns(found.candidates[0], found.prepared, found.settings, others))
    kept = tuple(cause for cause in found.causes if not columns or UNMEASURED not in cause)
    return replace(found, causes=(*kept, *columns))


def _is_cut_short(found: Discovery) -> bool:
    return found.interrupted or found.timed_out or found.settings.preset == Preset.PAPER


def _asks_for_causes(quality: Quality) -> bool:
    return quality.verdict is not Verdict.GOOD and quality.misfit > SLIGHT_MISFIT


def _is_better(one: Quality, other: Quality) -> bool:
    """Tell whether an equation explains the data clearly better than another one."""
    is_first_good = one.verdict is Verdict.GOOD and other.verdict is not Verdict.GOOD
    return one.supported and (is_first_good or one.misfit < CLEARLY_LESS * other.misfit)


def helpful(remedies: Sequence[Remedy], left_by_rivals: float = 1.0) -> list[str]:
    """Return those of the remedies that help, in words, without what another one explains much better.

    Args:
        left_by_rivals: the fraction of the misfit that other laws leave without any remedy.
    """
    limit = min(CLEARLY_LESS, BETTER_THAN_RIVALS * left_by_rivals)
    found = sorted((r for r in remedies if r.left < limit), key=lambda r: r.left)
    return [_told(r) for r in found if found[0].left > CLEARLY_LESS * r.left]


def _told(remedy: Remedy) -> str:
    return f"{remedy.words}; {remedy.left_words}"


def _left_by_rivals(candidates: Sequence[Candidate]) -> float:
    """Return the fraction of the misfit of the first that others leave with as many numbers as a remedy."""
    first = candidates[0]
    most = first.n_free + NEW_CONSTANTS
    rivals = [c for c in candidates if c.n_free <= most and c.whole == first.whole]
    return min((c.rms / first.rms for c in rivals), default=1.0) if first.rms > 0 else 1.0


def nothing_helps(remedies: Sequence[Remedy]) -> str:
    """Return the sentence on remedies none of which helps."""
    names = [r.name for r in remedies]
    several = ", ".join(names[:-1]) + f" and {names[-1]}" if len(names) > 1 else "".join(names)
    return f"none of what was tried takes the misfit clearly down ({several}); {UNMEASURED}"


def _search_for_hidden(found: Discovery) -> str:
    """Return the option that looks for a quantity that was not measured; empty where it cannot help."""
    hidden = len(found.prepared.dataset.hidden)
    if not found.settings.grammar or found.settings.known.frame or hidden >= MOST_HIDDEN:
        return ""
    return f": --hidden {hidden + 1}"


def helpful_columns(
    best: Candidate, prepared: Prepared, settings: Settings, others: Mapping[str, Sequence[Float]]
) -> Iterator[str]:
    """Yield which other measured columns (one array for each run) would help as an input."""
    if prepared.dataset.inputs or not is_its_view(prepared.dataset):
        return
    try:
        wider = parse_skeleton(f"{best.single.skeleton.text({})} + C*F")
    except EquationError:  # The equation is too long, or no sum.
        return
    refits = make_refits(best, prepared, settings)
    start = borrowed(SumTemplate(), wider, best.single, [0.0] * wider.n_constants)
    raw, target = prepared.dataset.runs, prepared.target
    for name, columns in others.items():
        pairs = zip(raw, columns, strict=True)
        if any(len(run.t) != len(x) or not np.isfinite(x).all() or np.ptp(x) == 0 for run, x in pairs):
            continue
        runs = tuple(
            replace(run, inputs={"F": Samples(measured.t, values, Interpolation.AUTO)})
            for run, measured, values in zip(target.dataset.runs, raw, columns, strict=True)
        )
        driven = replace(target, dataset=replace(target.dataset, runs=runs))
        if rms_of(refits.fit(start, driven)) < CLEARLY_LESS * refits.rms_before:
            yield f"the column {name!r} would help as a known input: --force {name!r}"


def _delayed_state(found: Discovery) -> Iterator[str]:
    """Compare u' explained by u now, and by u now and some time before, on the smoothed data."""
    prepared = found.prepared
    if late_states(found.candidates[0].equation.skeleton):
        return
    smooth = prepared.smooths[0]
    t = np.linspace(smooth.t[0], smooth.t[-1], DELAY_POINTS)
    u, du = (np.interp(t, smooth.t, row) for row in smooth.values[:2])
    if not is_its_view(prepared.dataset) or prepared.blind or prepared.dataset.inputs or np.std(u) == 0:
        return
    x = (u - u.mean()) / np.std(u)
    powers = [x**i for i in range(5)]
    if _squares_left(np.array(powers), du) < LEFT_WITHOUT_DELAY * float(np.sum((du - du.mean()) ** 2)):
        return
    left = {}
    for lag in np.unique(np.linspace(4, DELAY_POINTS // 2, DELAYS).astype(int)):
        late = np.concatenate([np.full(lag, np.nan), x[:-lag]])
        both_known = np.isfinite(late)
        regressors = [*powers, late, late**2, late**3, late * x]
        now = _squares_left(np.array([p[both_known] for p in powers]), du[both_known])
        delayed = _squares_left(np.array([p[both_known] for p in regressors]), du[both_known])
        left[int(lag)] = delayed / max(now, 1e-300)
    lag = min(left, key=lambda k: left[k])
    if left[lag] < LEFT_WITH_DELAY:
        name = display_name(prepared.dataset, "u")
        size = f"{t[lag] - t[0]:.3g} {unit_of(prepared.dataset, 't')}".rstrip()
        yield (
            f"{name}' follows from {name} and from what {name} was about {size} earlier: a delay, or another "
            f"quantity that was not measured{_search_for_late(found)}"
        )


def _search_for_late(found: Discovery) -> str:
    """Return the option that looks for a late state; how a fit writes it where the equation was given."""
    if found.settings.grammar and not found.settings.known.frame:
        return f": {FLAGS[LATE_STATE]}"
    name = display_name(found.prepared.dataset, "u")
    return f"; write {name}(t - tau) for it"


def _squares_left(rows: Float, values: Float) -> float:
    """Return the sum of squares that a linear regression on the rows leaves."""
    fitted = rows.T @ np.linalg.lstsq(rows.T, values, rcond=None)[0]
    return float(np.sum((values - fitted) ** 2))

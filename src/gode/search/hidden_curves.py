"""Other laws for the curve of one that fits: which terms give the same measured state?

A law that follows the data gives the measured state u and its highest derivative q without noise, whatever
its terms are. In coordinates in which the hidden state enters as g(w) beside terms f of that equation,

    q = g(w) + a.f,     w' = b.h(w, u, F),

every choice of a gives the curve w = g^-1(q - a.f), and then b follows from linear least squares along it.
What is left is integrated until it is in the units of u, so that it can be compared with the noise; initial
values are free. Some thousand laws are compared so for the cost of a few fits to the trajectory, which then
decides. Terms are changed one by one elsewhere; this is the way to a law that has none of them.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from gode.arrays import Float, Int
from gode.data import Dataset
from gode.data.dataset import Interpolation, Samples
from gode.equation import Node, Term
from gode.equation.tape import compile_tape, evaluate
from gode.equation.tree import variables
from gode.fitting.multistart import MultistartConfig
from gode.fitting.target import SHORTEST
from gode.prior import log_prior
from gode.search.hidden_forms import Coordinates, Place, entered_by, names_seen, seen_by
from gode.search.settings import Settings


class Guess(NamedTuple):
    """A law for a curve, and where its fit may start."""

    criterion: float  # expected, up to a constant
    form: Coordinates
    values: dict[Place, float]
    start: Float  # (runs,) of the hidden state


class _Rough(NamedTuple):
    """A law before its factors are improved."""

    criterion: float
    form: Coordinates
    terms: tuple[Node, ...]  # of the measured equation
    factors: Float
    words: tuple[Node, ...]  # of the hidden equation


class Curves:
    """The solution of a law with one hidden state, along which others are compared."""

    def __init__(
        self,
        dataset: Dataset,
        columns: Sequence[Float],
        noise: float,
        settings: Settings,
        rng: np.random.Generator,
    ) -> None:
        """Keep the solution: of each run time, states with their derivatives, inputs.

        Args:
            noise: of the measured state.
        """
        self.dataset, self.noise, self.settings, self.rng = dataset, noise, settings, rng
        (self.hidden,) = dataset.hidden
        few = [  # the samples at which curves are compared
            np.linspace(0, part.shape[1] - 1, min(part.shape[1], 2 * SHORTEST)).astype(np.int64)
            for part in columns
        ]
        self.columns = [part[:, each] for part, each in zip(columns, few, strict=True)]
        self.steps = [
            self._steps(i, part, each) for i, (part, each) in enumerate(zip(columns, few, strict=True))
        ]
        self.n = sum(map(len, few))

    def guesses(self, forms: Sequence[Coordinates], old: dict[Place, float], limit: int) -> list[Guess]:
        """Return other laws for the curve, the most promising first.

        Args:
            old: the terms of the law whose curve it is and their factors, those of a guess likewise: on the
                side of the derivative.
        """
        best: dict[tuple[object, ...], _Rough] = {}
        for form in forms:
            for terms, factors in self._sets(form, old):
                for rough in self._compared(form, terms, factors):
                    key = id(form), frozenset(rough.terms), frozenset(rough.words)
                    if key not in best or rough.criterion < best[key].criterion:
                        best[key] = rough
        order = sorted(best.values(), key=lambda rough: rough.criterion)
        order = order[: self.settings.budget.vocabulary]
        found = [guess for rough in order if (guess := self._completed(rough, old)) is not None]
        return sorted(found, key=lambda guess: guess.criterion)[:limit]

    def _sets(self, form: Coordinates, old: dict[Place, float]) -> Iterator[tuple[tuple[Node, ...], Float]]:
        """Yield terms of the measured equation, and (draws, terms) factors of them."""
        owner, effort = form.measured, self.settings.budget
        usual = [body for s, body in form.words if s == owner]
        roots = [body for body in usual[effort.per_size :] if body.op == "^"]
        usual = [body for body in usual[: effort.per_size] + roots if self._size(owner, body) > 0]
        known = {
            body: value for (s, body), value in old.items() if s == owner and self._size(owner, body) > 0
        }
        small = [frozenset(each) for k in range(3) for each in combinations(usual, k)]
        kept = frozenset(known) & frozenset(body for s, body in form.words if s == owner)
        near = [kept, *(kept - {body} for body in kept), *(kept | {body} for body in usual)]
        slopes = np.concatenate([part[self._row(form)] for part in self.columns])
        typical = float(np.sqrt(np.mean(slopes**2)))
        for terms in dict.fromkeys([*small, *near]):
            bodies = tuple(sorted(terms, key=str))
            shape = max(effort.vocabulary * min(len(bodies), 2), 1), len(bodies)
            usually = np.array([typical / self._size(owner, body) for body in bodies])
            factors = self.rng.choice([-1.0, 1.0], shape) * usually
            factors = factors * np.exp(MultistartConfig.spread * self.rng.standard_normal(shape))
            for i, body in enumerate(bodies):
                if body in known:  # a half of the draws goes on from the law whose curve it is
                    factors[: len(factors) // 2, i] = known[body]
            yield bodies, factors

    def _steps(self, i: int, part: Float, few: Int) -> tuple[Float, Float]:
        """Return columns at both ends of the steps between few samples, with mean inputs in each step.

        An input that is held jumps at samples, and any may move between them.
        """
        first, last = part[:, few], part[:, few]
        width = np.diff(part[0])
        for number, signal in enumerate(self.dataset.runs[i].signals.values()):
            values = part[1 + 3 * len(self.dataset.states) + number]
            is_held = isinstance(signal, Samples) and signal.resolved is Interpolation.HOLD
            if not is_held and len(few) == part.shape[1]:
                continue
            inside = values[:-1] if is_held else (values[:-1] + values[1:]) / 2
            means = np.add.reduceat(inside * width, few[:-1]) / np.diff(first[0])
            row = 1 + 3 * len(self.dataset.states) + number
            first[row, :-1], last[row, 1:] = means, means
        return first, last

    def _row(self, form: Coordinates) -> int:
        """Return the row of the highest derivative of the measured state."""
        return 1 + 3 * form.measured + form.templates[form.measured].order

    def _size(self, state: int, body: Node) -> float:
        """Return the root mean square of a term along the curve; 0 where it is not finite."""
        values = np.concatenate([_value(body, *seen_by(self.dataset, state, part)) for part in self.columns])
        size = float(np.sqrt(np.mean(values**2)))
        return size if np.isfinite(size) else 0.0

    def _compared(self, form: Coordinates, terms: tuple[Node, ...], factors: Float) -> Iterator[_Rough]:
        """Yield laws with few terms in the hidden equation, the best for each draw of factors."""
        words = tuple(body for s, body in form.words if s == self.hidden)
        made = self._regression(form, terms, factors, words)
        if made is None:
            return
        factors, y, x = made
        size = np.sqrt((x**2).sum(axis=2))
        x = x / np.maximum(size, 1e-300)[:, :, None]
        gram, product = x @ x.transpose(0, 2, 1), np.einsum("dwn,dn->dw", x, y)
        squares = (y**2).sum(axis=1)
        chosen, left = _few(gram, product)
        left = np.maximum(squares[:, None] - left, 0.0)
        for flat in np.argsort(left, axis=None)[: self.settings.budget.per_round].tolist():
            d, k = divmod(flat, left.shape[1])
            some = [i for i in chosen[d, k].tolist() if i >= 0]
            price = self._price(float(left[d, k]), len(terms) + len(some))
            yield _Rough(price, form, terms, factors[d], tuple(words[i] for i in some))

    def _price(self, left: float, n_terms: int) -> float:
        """Return the criterion without the prior: what is left counts as it adds to the noise."""
        return float(self.n * np.log1p(left / (self.n * self.noise**2)) + n_terms * np.log(self.n))

    def _completed(self, rough: _Rough, old: dict[Place, float]) -> Guess | None:
        """Return the law with its factors improved by Gauss-Newton, and its criterion with the prior."""
        form, a = rough.form, rough.factors
        now = self._left(rough, a[None])
        for _ in range(self.settings.shooting.max_iterations if len(a) else 0):
            if now is None:
                return None
            before = now[0] @ now[0]
            shifts = np.diag(1e-4 * np.maximum(np.abs(a), 1e-9))
            shifted = [self._left(rough, (a + shift)[None]) for shift in shifts]
            if any(each is None for each in shifted):
                break
            slopes = [
                (each[0] - now[0]) / h for each, h in zip(shifted, np.diag(shifts), strict=True) if each
            ]
            step = np.linalg.lstsq(np.array(slopes).T, -now[0], rcond=1e-6)[0]
            for part in (1.0, 0.25):
                after = self._left(rough, (a + part * step)[None])
                if after is not None and after[0] @ after[0] < before:
                    a, now = a + part * step, after
                    break
            if now[0] @ now[0] > (1 - self.settings.shooting.rough) * before:
                break
        if now is None:
            return None
        values = {place: x for place, x in old.items() if place[0] not in (form.measured, self.hidden)}
        values |= {(form.measured, body): -float(x) for body, x in zip(rough.terms, a, strict=True)}
        values |= {(self.hidden, body): -float(x) for body, x in zip(rough.words, now[1], strict=True)}
        price = self._price(float(now[0] @ now[0]), len(a) + len(rough.words))
        price -= 2 * log_prior(form.law(frozenset(values), values).skeleton)
        return Guess(price, form, values, now[2])

    def _left(self, rough: _Rough, factors: Float) -> tuple[Float, Float, Float] | None:
        """Return what a law leaves, the factors of its hidden equation, and the start of the hidden state."""
        made = self._regression(rough.form, rough.terms, factors, rough.words)
        if made is None:
            return None
        _, y, x = made
        b = np.linalg.lstsq(x[0].T, y[0], rcond=1e-8)[0]
        starts = [
            self._hidden_curve(rough.form, rough.terms, factors, part)[0][0, 0] for part in self.columns
        ]
        return y[0] - b @ x[0], b, np.array(starts)

    def _regression(
        self, form: Coordinates, terms: tuple[Node, ...], factors: Float, words: tuple[Node, ...]
    ) -> tuple[Float, Float, Float] | None:
        """Return the factors for which there is a curve, and with them the regression of the hidden state.

        It has (draws, n) responses and (draws, words, n) terms, in units of the measured state.
        """
        order = form.templates[form.measured].order
        curves = [self._hidden_curve(form, terms, factors, part) for part in self.columns]
        good = np.all([np.isfinite(w).all(axis=1) & np.isfinite(s).all(axis=1) for w, s in curves], axis=0)
        if not good.any():
            return None
        responses, all_terms = [], []
        for i, (part, (w, slope)) in enumerate(zip(self.columns, curves, strict=True)):
            y, x = self._of_run(i, part, w[good], slope[good], words, order)
            responses.append(y)
            all_terms.append(x)
        return factors[good], np.concatenate(responses, axis=1), np.concatenate(all_terms, axis=2)

    def _hidden_curve(
        self, form: Coordinates, terms: tuple[Node, ...], factors: Float, part: Float
    ) -> tuple[Float, Float]:
        """Return the hidden state (draws, n) in one run, and the derivative of g by it."""
        names, seen = seen_by(self.dataset, form.measured, part)
        left = np.broadcast_to(part[self._row(form)], (len(factors), part.shape[1]))
        for i, body in enumerate(terms):
            left = left - factors[:, i, None] * _value(body, names, seen)
        return entered_by(form.entry, left, part[1 + 3 * form.measured])

    def _of_run(
        self, i: int, part: Float, w: Float, slope: Float, words: tuple[Node, ...], order: int
    ) -> tuple[Float, Float]:
        """Return the regression of the hidden state in one run; initial values take their share."""
        x = self._integrals(i, w, words)
        steps = np.diff(part[0])
        rows = np.concatenate([(w * slope)[:, None], slope[:, None], x * slope[:, None]], axis=1)
        free = [np.ones((len(w), 1, part.shape[1]))]
        for _ in range(order):
            rows, free = _integral(rows, steps), [np.ones_like(free[0]), *(_integral(f, steps) for f in free)]
        base = np.concatenate([rows[:, 1:2], *free[:order]], axis=1)
        q = np.linalg.qr(base.transpose(0, 2, 1))[0]
        rows = np.delete(rows, 1, axis=1)
        rows = rows - (rows @ q) @ q.transpose(0, 2, 1)
        return rows[:, 0], rows[:, 1:]

    def _integrals(self, i: int, w: Float, words: tuple[Node, ...]) -> Float:
        """Return the integral (draws, words, n) of each term along a run, zero where a term is not finite."""
        inputs = set(names_seen(self.dataset, self.hidden)[1])
        first, last = (self._with_curve(part, w) for part in self.steps[i])
        steps = np.diff(self.columns[i][0])
        x = np.zeros((len(w), len(words), w.shape[1]))
        for k, body in enumerate(words):
            rates = _value(body, *first).reshape(len(w), -1)
            ends = _value(body, *last).reshape(len(w), -1) if variables(body) & inputs else rates
            usable = np.isfinite(rates).all(axis=1) & np.isfinite(ends).all(axis=1)
            means = (rates[usable, :-1] + ends[usable, 1:]) / 2
            x[usable, k, 1:] = np.cumsum(means * steps, axis=1)
        return x

    def _with_curve(self, part: Float, w: Float) -> tuple[tuple[str, ...], Float]:
        """Return the columns that the hidden equation sees, once for each curve of the hidden state."""
        wide = np.tile(part, (1, len(w)))
        wide[1 + 3 * self.hidden] = w.ravel()
        return seen_by(self.dataset, self.hidden, wide)


def _few(gram: Float, product: Float) -> tuple[Int, Float]:
    """Return the best term, the best pair, and that with a third one, and what each of them explains.

    These are (draws, 3, 3) numbers of terms, -1 where there is none, and (draws, 3) parts of a square.

    Args:
        gram: (draws, words, words) scalar products of terms of length one.
        product: (draws, words) their scalar products with what they shall explain.
    """
    draws = np.arange(len(product))
    single = np.argmax(product**2, axis=1)
    a, b = np.triu_indices(product.shape[1], 1)
    across = gram[:, a, b]
    determinant = np.maximum(1 - across**2, 1e-6)
    pairs = product[:, a] ** 2 - 2 * across * product[:, a] * product[:, b] + product[:, b] ** 2
    pairs /= determinant
    best = np.argmax(pairs, axis=1)
    i, j = a[best], b[best]
    c, det = across[draws, best, None], determinant[draws, best, None]
    with_i, with_j = gram[draws, i], gram[draws, j]
    onto_i, onto_j = (with_i - c * with_j) / det, (with_j - c * with_i) / det
    rest = product - onto_i * product[draws, i, None] - onto_j * product[draws, j, None]
    gain = rest**2 / np.maximum(1 - onto_i * with_i - onto_j * with_j, 1e-6)
    gain[draws, i] = gain[draws, j] = 0.0
    k = np.argmax(gain, axis=1)
    none = np.full_like(i, -1)
    chosen = np.stack([np.stack(each, axis=1) for each in ((single, none, none), (i, j, none), (i, j, k))], 1)
    explained = product[draws, single] ** 2, pairs[draws, best], pairs[draws, best] + gain[draws, k]
    return chosen, np.stack(explained, axis=1)


def _value(body: Node, names: tuple[str, ...], columns: Float) -> Float:
    tape = compile_tape([Term(1.0, None, body)], names, 0)
    with np.errstate(all="ignore"):
        value = evaluate(tape, [], columns).value
        return np.where(np.abs(value) < 1e100, value, np.nan)


def _integral(rows: Float, steps: Float) -> Float:
    """Return the integral of each row from the first sample on, by trapezoids."""
    inside = (rows[..., 1:] + rows[..., :-1]) * steps / 2
    return np.concatenate([np.zeros_like(rows[..., :1]), np.cumsum(inside, axis=-1)], axis=-1)

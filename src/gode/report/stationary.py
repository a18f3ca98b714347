"""Equilibria of systems and the linear motion near them, with standard errors by the delta method."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from gode.arrays import Float
from gode.equation import Law
from gode.report.equilibria import LOG_TWO, SLACK, SURE
from gode.report.field import Field, equilibria_in
from gode.report.naming import Units, Value, share

CONTINUUM = "Equilibria fill a line or more, so no single one is given."
Complex = np.ndarray[tuple[int, ...], np.dtype[np.complex128]]


@dataclass(frozen=True)
class Mode:
    """A part of the linear motion: growth or decay at a rate, with a natural frequency if it oscillates."""

    rate: Value  # real part of the eigenvalue
    frequency: Value | None = None
    damping: Value | None = None

    @property
    def neutral(self) -> bool:
        """Whether it neither grows nor decays within its error bar."""
        return abs(self.rate.value) <= SURE * self.rate.error or self.rate.value == 0


@dataclass(frozen=True)
class Rest:
    """An equilibrium of a system without force, and the linear motion near it."""

    states: tuple[str, ...]
    values: tuple[Value, ...]
    stability: str
    observed: bool  # whether it lies in the range of the data
    units: tuple[Units, ...]  # of each state
    eigenvalues: tuple[complex, ...] = ()
    modes: tuple[Mode, ...] = ()

    @property
    def where(self) -> str:
        """The states with their values and units."""
        rows = zip(self.states, self.values, self.units, strict=True)
        return ", ".join(f"{name} = {unit.length(value)}" for name, value, unit in rows)

    def motion(self) -> dict[str, str]:
        """Return the quantities of the motion nearby with units; those that do not apply are left out."""
        out: dict[str, list[str]] = {}
        if self.eigenvalues:
            out["eigenvalues"] = [_complex_text(z) for z in self.eigenvalues if z.imag >= 0]
        units = self.units[0]
        for mode in self.modes:
            grows = not mode.neutral and mode.rate.value > 0
            if mode.frequency is not None and mode.damping is not None:
                out.setdefault("natural frequency", []).append(units.rate(mode.frequency))
                out.setdefault("damping ratio", []).append(share(mode.damping))
            elif not mode.neutral:
                size = abs(mode.rate.value)
                constant = Value(1 / size, mode.rate.error / size**2)
                out.setdefault("time constant", []).append(units.duration(constant))
            if grows:
                out.setdefault("doubles in", []).append(units.duration(LOG_TWO / mode.rate.value))
        return {name: ("; " if name != "eigenvalues" else ", ").join(each) for name, each in out.items()}

    def __str__(self) -> str:
        parts = [f"{self.where}: {self.stability}"]
        parts += [f"{name} {value}" for name, value in self.motion().items()]
        return ", ".join(parts) + ("" if self.observed else " (outside the data)")


def _complex_text(z: complex) -> str:
    if z.imag == 0:
        return f"{z.real:.4g}"
    return f"{f'{z.real:.4g} ' if z.real else ''}± {abs(z.imag):.4g}i"


def find_rests(
    law: Law, covariance: Float, low: Float, high: Float, units: Sequence[Units]
) -> tuple[list[Rest], bool]:
    """Return the equilibria of the unforced law within or near the data, and whether all are apart."""
    found, apart = equilibria_in(law, low, high)
    near = _Near(Field(law), covariance, np.where(high > low, high - low, 1.0))
    slack = SLACK * (high - low)
    inside = [bool(np.all((x >= low - slack) & (x <= high + slack))) for x in found]
    return [near.rest(x, seen, tuple(units)) for x, seen in zip(found, inside, strict=True)], apart


@dataclass(frozen=True)
class _Near:
    """The linear motion near equilibria, with standard errors."""

    field: Field
    covariance: Float
    size: Float

    def rest(self, x: Float, observed: bool, units: tuple[Units, ...]) -> Rest:
        """Describe the equilibrium `x`."""
        law = self.field.law
        values, errors = self._with_error(x, lambda _, place: place)
        place = tuple(Value(float(v), float(e)) for v, e in zip(values, errors, strict=True))
        linear = self.field.linear(np.array(law.constants), x)
        if linear is None:
            word = "stability not decided by the linear part"
            return Rest(law.skeleton.shown_states, place, word, observed, units)
        modes = self._modes(x)
        eigenvalues = tuple(complex(z) for z in _sorted_eigenvalues(linear[0]))
        return Rest(law.skeleton.shown_states, place, _words(modes), observed, units, eigenvalues, modes)

    def _modes(self, x: Float) -> tuple[Mode, ...]:
        """Return one mode for each real eigenvalue and each pair of complex ones."""

        def parts(c: Float, place: Float) -> Float:
            linear = self.field.linear(c, place)
            if linear is None:
                return np.full(4 * n, np.nan)
            z = _matched(_sorted_eigenvalues(linear[0]), base)
            size = np.abs(z)
            ratio = -z.real / np.where(size > 0, size, 1.0)
            return np.concatenate([z.real, size, ratio, z.imag])

        law = self.field.law
        n, own = sum(law.skeleton.orders), self.field.linear(np.array(law.constants), x)
        base = _sorted_eigenvalues(own[0]) if own is not None else np.zeros(n, np.complex128)
        values, errors = self._with_error(x, parts)
        rate, size, ratio, imag = np.split(values, 4)
        bars = np.split(errors, 4)
        modes = []
        for i in range(n):
            growth = Value(float(rate[i]), float(bars[0][i]))
            if imag[i] == 0:
                modes.append(Mode(growth))
            elif imag[i] > 0:
                frequency = Value(float(size[i]), float(bars[1][i]))
                modes.append(Mode(growth, frequency, Value(float(ratio[i]), float(bars[2][i]))))
        return tuple(modes)

    def _with_error(self, x: Float, what: Callable[[Float, Float], Float]) -> tuple[Float, Float]:
        """Return a function of the constants and of the equilibrium near `x`, with standard errors."""
        c = np.array(self.field.law.constants)
        value = what(c, x)
        slopes = np.zeros((len(value), len(c)))
        for i in range(len(c)):
            step = np.zeros(len(c))
            step[i] = 1e-6 * (abs(c[i]) or 1.0)
            ends = [what(c + s, self.field.newton(c + s, x[:, None], self.size)[:, 0]) for s in (step, -step)]
            slopes[:, i] = (ends[0] - ends[1]) / (2 * step[i])
        variance = np.einsum("ki,ij,kj->k", slopes, self.covariance, slopes)
        return value, np.sqrt(np.maximum(variance, 0.0))


def _sorted_eigenvalues(a: Float) -> Complex:
    """Return the eigenvalues, the slowest decaying first, pairs together."""
    z = np.asarray(np.linalg.eigvals(a), np.complex128)
    scale = float(np.abs(z).max(initial=0.0))
    z = np.where(np.abs(z.real) < 1e-9 * scale, 0.0, z.real) + 1j * z.imag
    return np.asarray(z[np.lexsort((-z.imag, np.abs(z.imag), -np.round(z.real, 12)))])


def _matched(z: Complex, base: Complex) -> Complex:
    """Return eigenvalues in the order of those of another matrix nearby."""
    rest, out = list(z), []
    for each in base:
        out.append(rest.pop(int(np.argmin([abs(other - each) for other in rest]))))
    return np.array(out)


def _words(modes: Sequence[Mode]) -> str:
    """Return what the motion is called."""
    grow = [m for m in modes if not m.neutral and m.rate.value > 0]
    decay = [m for m in modes if not m.neutral and m.rate.value < 0]
    shape = "spiral" if any(m.frequency is not None for m in modes) else "node"
    if grow and decay:
        return "unstable (a saddle)"
    if grow:
        return f"unstable ({'a spiral' if shape == 'spiral' else 'a node'})"
    if len(decay) == len(modes):
        return f"stable ({'a spiral' if shape == 'spiral' else 'a node'})"
    if all(m.frequency is not None for m in modes if m.neutral):
        return "a centre: no damping within the error bar"
    return "neutral within the error bar"

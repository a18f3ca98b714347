"""Units: products of powers of symbols, as in m/s^2; no library is needed for that.

Symbols are taken as they are, so that m and mm are different units and adding them is a mistake; only the
common derived units of SI stand for products of others.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from gode.errors import ConfigError, pointed, shortened

PURE = {"1", "-", "–", "—", "rad", ""}  # pure numbers
DERIVED = {
    "N": {"kg": 1, "m": 1, "s": -2},
    "J": {"kg": 1, "m": 2, "s": -2},
    "W": {"kg": 1, "m": 2, "s": -3},
    "Pa": {"kg": 1, "m": -1, "s": -2},
    "Hz": {"s": -1},
}
RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
TOKEN = re.compile(
    r"\s*(?:(?P<symbol>[^\W\d_][^\W\d]*|°\w*|%|1(?![\d.]))|(?P<sign>\*\*|[*·/^()])|(?P<power>-?\d+(?:\.\d+)?))"
)
# A unit has at most this many characters, so that reading is bounded. Set by hand.
LONGEST = 100
# A power below this is zero but for rounding. Set by hand, well above rounding.
SMALLEST = 1e-9


@dataclass(frozen=True)
class Unit:
    """Powers by symbol."""

    powers: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))

    def __mul__(self, other: "Unit") -> "Unit":
        total = dict(self.powers)
        for symbol, power in other.powers.items():
            total[symbol] = total.get(symbol, 0.0) + power
        return Unit({s: p for s, p in total.items() if abs(p) > SMALLEST})

    def __pow__(self, exponent: float) -> "Unit":
        return Unit({s: p * exponent for s, p in self.powers.items() if abs(p * exponent) > SMALLEST})

    def __truediv__(self, other: "Unit") -> "Unit":
        return self * other**-1.0

    @property
    def is_pure(self) -> bool:
        """Whether it is that of a pure number."""
        return not self.powers

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unit) and not (self / other).powers

    def __hash__(self) -> int:
        return hash(frozenset(self.powers))

    def __str__(self) -> str:
        name = next((n for n, powers in DERIVED.items() if Unit(powers) == self and len(powers) > 1), "")
        if name:
            return name
        over = [_raised(s, p) for s, p in sorted(self.powers.items()) if p > 0]
        under = [_raised(s, -p) for s, p in sorted(self.powers.items()) if p < 0]
        top = " ".join(over) or "1"
        if not under:
            return "" if not over else top
        return f"{top}/{under[0] if len(under) == 1 else '(' + ' '.join(under) + ')'}"


def _raised(symbol: str, power: float) -> str:
    return symbol if power == 1 else f"{symbol}^{power:g}"


def written(unit: Unit, columns: Iterable[Unit]) -> str:
    """Return a unit as text, by the derived units that columns have: N/m^2, not Pa, beside a force in N."""
    seen = list(columns)
    known = [name for name, powers in DERIVED.items() if len(powers) > 1 and Unit(powers) in seen]
    ways = [Unit({n: k}) * (unit / Unit(DERIVED[n]) ** k) for n in known for k in (1.0, -1.0)]
    return str(min([unit, *ways], key=lambda way: sum(map(abs, way.powers.values()))))


def parse_unit(text: str, *, strict: bool = True) -> Unit | None:
    """Return the unit that a text such as m/s2, m s^-2, 1/h or N means.

    Args:
        strict: whether to refuse what cannot be read, or to return None.

    Raises:
        ConfigError: with a caret under the place.
    """
    try:
        return _Reader(text).unit()
    except ConfigError:
        if strict:
            raise
        return None


class _Reader:
    """Reads one text from left to right."""

    def __init__(self, text: str) -> None:
        if not isinstance(text, str):
            raise ConfigError(f"a unit must be text such as 'm/s', got {text!r}")
        self.text = text
        self.plain = re.sub(r"([⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)", lambda m: m[0].translate(RAISED), text)
        self.place = 0
        if len(text) > LONGEST:
            raise self.fail(f"more than {LONGEST} characters")

    def fail(self, reason: str) -> ConfigError:
        return ConfigError(
            pointed(
                f"{reason} in the unit {shortened(self.text)!r}; write it as m/s^2", self.text, self.place
            )
        )

    def next(self) -> "re.Match[str] | None":
        return TOKEN.match(self.plain, self.place)

    def unit(self) -> Unit:
        if self.plain.strip() in PURE:
            return Unit()
        found = self.product()
        if self.plain[self.place :].strip():
            raise self.fail(f"{self.plain[self.place :].strip()[0]!r} has no meaning")
        return found

    def product(self) -> Unit:
        total, sign = self.factor(), 1.0
        while (token := self.next()) is not None and token["sign"] != ")":
            if token["sign"] in ("*", "·", "/"):
                self.place, sign = token.end(), -1.0 if token["sign"] == "/" else 1.0
            elif token["sign"] not in (None, "("):
                break
            else:
                sign = 1.0
            total = total * self.factor() ** sign
        return total

    def factor(self) -> Unit:
        token = self.next()
        if token is None or not (token["symbol"] or token["sign"] == "("):
            raise self.fail("expected a symbol such as m or kg")
        self.place = token.end()
        if token["sign"] == "(":
            inside = self.product()
            close = self.next()
            if close is None or close["sign"] != ")":
                raise self.fail("expected ')'")
            self.place = close.end()
        else:
            symbol = token["symbol"]
            pure = symbol in PURE
            inside = Unit() if pure else Unit(dict(DERIVED.get(symbol, {symbol: 1.0})))
        return inside ** self.power()

    def power(self) -> float:
        token = self.next()
        raised = token is not None and token["sign"] in ("^", "**")
        if token is not None and raised:
            self.place = token.end()
            token = self.next()
        if token is not None and token["symbol"] == "1" and (raised or token.start("symbol") == self.place):
            self.place = token.end()
            return 1.0
        if token is not None and token["power"] and (raised or token.start("power") == self.place):
            self.place = token.end()
            return float(token["power"])
        if raised:
            raise self.fail("expected a number after '^'")
        return 1.0

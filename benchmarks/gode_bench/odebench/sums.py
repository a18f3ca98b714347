"""Sums of products, and quotients of them: the form in which right-hand sides are compared.

A product is a set of pairs of a factor and its exponent, a sum a mapping of products to coefficients. A
fraction is a sum over a product of sums that share no factor. A factor is a state, t, or a function of a
fraction, as a plain tuple: a kind, and what it is a function of.
"""

from collections import Counter
from dataclasses import dataclass, field

from gode.errors import EquationError

Factor = tuple[object, ...]
Product = frozenset[tuple[Factor, float]]
Sum = dict[Product, float]
Frozen = frozenset[tuple[Product, float]]  # a sum whose first coefficient is one

UNIT: Product = frozenset()
MOST = 400  # terms of a sum
CANCELLED = 1e-10  # a sum of two terms this small beside them is rounding
DIGITS = 9  # to which coefficients are the same


@dataclass(frozen=True)
class Fraction:
    """A sum over a product of powers of sums."""

    above: Sum
    below: dict[Frozen, int] = field(default_factory=dict)

    @property
    def frozen(self) -> tuple[object, ...]:
        """The fraction as a key."""
        return frozenset((p, short(c)) for p, c in self.above.items()), frozenset(self.below.items())


def short(value: float) -> float:
    """Return the number without the digits that rounding may change."""
    return float(f"{value:.{DIGITS}g}")


def number(value: float) -> Fraction:
    """Return a number as a fraction."""
    return Fraction({UNIT: value} if value else {})


def single(factor: Factor, exponent: float = 1.0) -> Fraction:
    """Return a power of one factor as a fraction."""
    return Fraction({frozenset([(factor, exponent)]): 1.0})


def add_sums(a: Sum, b: Sum) -> Sum:
    """Return a + b without the terms that cancel.

    Raises:
        EquationError: if the sum has too many terms to be worth comparing.
    """
    out = dict(a)
    for product, c in b.items():
        old = out.get(product, 0.0)
        if abs(old + c) <= CANCELLED * (abs(old) + abs(c)):
            out.pop(product, None)
        else:
            out[product] = old + c
    if len(out) > MOST:
        raise EquationError(f"a sum of more than {MOST} terms is not compared")
    return out


def multiply_sums(a: Sum, b: Sum) -> Sum:
    """Return the product of two sums, multiplied out."""
    out: Sum = {}
    for left, c in a.items():
        for right, d in b.items():
            out = add_sums(out, _reduced(multiply_products(left, right), c * d))
    return out


def multiply_products(a: Product, b: Product) -> Product:
    """Return the product of two products: exponents of the same factor are added."""
    exponents: Counter[Factor] = Counter()
    for factor, exponent in (*a, *b):
        exponents[factor] = short(exponents[factor] + exponent)  # type: ignore[assignment]
    return frozenset((factor, float(e)) for factor, e in exponents.items() if e)


def power_of_product(product: Product, exponent: float) -> Product:
    """Return a product to a power."""
    return frozenset((factor, short(e * exponent)) for factor, e in product)


def _reduced(product: Product, c: float) -> Sum:
    """Return a product as a sum in which no cosine is squared: cos^2 = 1 - sin^2."""
    square = next(((f, e) for f, e in product if f[0] == "cos" and e >= 2), None)
    if square is None:
        return {product: c}
    factor, exponent = square
    rest = product - {square} | ({(factor, exponent - 2)} if exponent > 2 else frozenset())
    sines = multiply_products(rest, frozenset([(("sin", *factor[1:]), 2.0)]))
    return add_sums(_reduced(rest, c), _reduced(sines, -c))


def add(a: Fraction, b: Fraction) -> Fraction:
    """Return a + b over the common denominator."""
    below = {sum_: max(a.below.get(sum_, 0), b.below.get(sum_, 0)) for sum_ in {**a.below, **b.below}}
    return Fraction(add_sums(_raised(a, below), _raised(b, below)), below)


def multiply(a: Fraction, b: Fraction) -> Fraction:
    """Return a * b."""
    below = {sum_: a.below.get(sum_, 0) + b.below.get(sum_, 0) for sum_ in {**a.below, **b.below}}
    return Fraction(multiply_sums(a.above, b.above), below)


def invert(a: Fraction) -> Fraction:
    """Return 1 / a.

    Raises:
        EquationError: if a is zero.
    """
    if not a.above:
        raise EquationError("a division by zero is not compared")
    above = multiplied_out(a.below)
    if len(a.above) == 1:
        ((product, c),) = a.above.items()
        return Fraction(multiply_sums(above, {power_of_product(product, -1.0): 1 / c}))
    factor, common, frozen = normalised(a.above)
    return Fraction(multiply_sums(above, {power_of_product(common, -1.0): 1 / factor}), {frozen: 1})


def raise_to(a: Fraction, n: int) -> Fraction:
    """Return a to a whole power."""
    base = a if n >= 0 else invert(a)
    out = number(1.0)
    for _ in range(abs(n)):
        out = multiply(out, base)
    return out


def normalised(a: Sum) -> tuple[float, Product, Frozen]:
    """Return the coefficient and the product to take out of a sum, and what is left of it."""
    factors = {factor for product in a for factor, _ in product}
    least = {f: min(dict(product).get(f, 0.0) for product in a) for f in factors}
    common: Product = frozenset((f, e) for f, e in least.items() if e)
    inverse = power_of_product(common, -1.0)
    rest = {multiply_products(product, inverse): c for product, c in a.items()}
    first = rest[min(rest, key=lambda product: sorted(map(repr, product)))]
    return first, common, frozenset((product, short(c / first)) for product, c in rest.items())


def multiplied_out(below: dict[Frozen, int]) -> Sum:
    """Return a denominator as one sum."""
    out: Sum = {UNIT: 1.0}
    for frozen, n in below.items():
        for _ in range(n):
            out = multiply_sums(out, dict(frozen))
    return out


def _raised(a: Fraction, below: dict[Frozen, int]) -> Sum:
    """Return the numerator of `a` over the larger denominator `below`."""
    return multiply_sums(a.above, multiplied_out({s: n - a.below.get(s, 0) for s, n in below.items()}))

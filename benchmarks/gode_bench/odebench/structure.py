"""Whether two right-hand sides differ only in the values of their constants.

Both become fractions: products are multiplied out, sin and cos of sums expanded, exp of sums split into
factors, tanh written by exp. Every coefficient counts as free, also one that is one or stands inside a
function; whole exponents do not. What is left is compared: the terms above and below.
"""

import itertools
import math
from collections.abc import Callable, Mapping

import numpy as np

from gode.arrays import Float
from gode.equation import Node
from gode.errors import EquationError
from gode_bench.odebench.sums import (
    UNIT,
    Factor,
    Fraction,
    Product,
    Sum,
    add,
    invert,
    multiplied_out,
    multiply,
    number,
    power_of_product,
    raise_to,
    single,
)

Structure = tuple[tuple[str, ...], tuple[str, ...]]  # the terms above and below, without coefficients
MOST_TURNS = 6  # sin(n x) is expanded up to this n
MOST_GROWTHS = 4  # different exp(x) of which both signs are tried
MOST_POWER = 12  # sums are multiplied out up to this power
NEGLIGIBLE = 1e-3  # terms below this share of the largest one


def structure(tree: Node) -> Structure:
    """Return what a right-hand side is but for its constants.

    Raises:
        EquationError: if it is too long to be compared.
    """
    return _erased(fraction(tree))


def structure_of_large_terms(tree: Node, columns: Mapping[str, Float]) -> Structure:
    """Return the structure without the terms that are negligible at these values of the states."""
    whole = fraction(tree)
    above, below = (_large(part, columns) for part in (whole.above, multiplied_out(whole.below)))
    inverse = invert(Fraction(below))
    return _erased(multiply(Fraction(above), inverse))


def fraction(tree: Node) -> Fraction:
    """Return a tree as a fraction of sums of products."""
    match tree.op:
        case "num":
            return number(float(tree.value))
        case "var":
            return single((str(tree.value),))
        case "+":
            return _folded(add, tree)
        case "*":
            return _folded(multiply, tree)
        case "^":
            return _power(fraction(tree.args[0]), tree.args[1])
        case "const":
            raise EquationError("a constant without a value is not compared")
    return _called(tree.op, fraction(tree.args[0]))


def _folded(join: Callable[[Fraction, Fraction], Fraction], tree: Node) -> Fraction:
    first, *rest = map(fraction, tree.args)
    for other in rest:
        first = join(first, other)
    return first


def _power(base: Fraction, exponent: Node) -> Fraction:
    if exponent.op != "num":
        return _exp(multiply(fraction(exponent), _log(base)))
    value = float(exponent.value)
    if value.is_integer() and abs(value) <= MOST_POWER:
        return raise_to(base, int(value))
    if len(base.above) == 1 and not base.below:
        ((product, c),) = base.above.items()
        return Fraction({power_of_product(product, value): abs(c) ** value})
    return single(("power", base.frozen), value)


def _called(name: str, arg: Fraction) -> Fraction:
    match name:
        case "exp":
            return _exp(arg)
        case "log":
            return _log(arg)
        case "sin":
            return _wave(arg)[0]
        case "cos":
            return _wave(arg)[1]
        case "tan":
            sine, cosine = _wave(arg)
            return multiply(sine, invert(cosine))
        case "tanh":
            whole = _exp(multiply(number(2.0), arg))
            return add(number(1.0), multiply(number(-2.0), invert(add(whole, number(1.0)))))
        case "abs":
            return _abs(arg)
        case "sign":
            return multiply(_abs(arg), invert(arg))
    return single((name, arg.frozen))


def _exp(arg: Fraction) -> Fraction:
    """Return exp of a sum as a product; exp(c*x) is the power c of the factor exp(x)."""
    if arg.below:
        return single(("exp", arg.frozen))
    out: Product = frozenset((("exp", p), c) for p, c in arg.above.items() if p)
    return Fraction({out: math.exp(min(arg.above.get(UNIT, 0.0), 700.0))})


def _log(arg: Fraction) -> Fraction:
    """Return log of a product as a sum of logs."""
    if arg.below or len(arg.above) != 1:
        return single(("log", arg.frozen))
    ((product, c),) = arg.above.items()
    out = number(math.log(abs(c)))
    for factor, exponent in product:
        out = add(out, multiply(number(exponent), single(("log", factor))))
    return out


def _abs(arg: Fraction) -> Fraction:
    if arg.below or len(arg.above) != 1:
        return single(("abs", arg.frozen))
    ((product, c),) = arg.above.items()
    even = frozenset((f, e) if e % 2 == 0 else (("abs", f), e) for f, e in product)
    return Fraction({even: abs(c)})


def _wave(arg: Fraction) -> tuple[Fraction, Fraction]:
    """Return sine and cosine of a sum, by the sines and cosines of its terms."""
    if arg.below:
        return single(("sin", arg.frozen)), single(("cos", arg.frozen))
    sine, cosine = number(0.0), number(1.0)
    for product, c in arg.above.items():
        s, k = _turns(product, c)
        sine, cosine = (
            add(multiply(sine, k), multiply(cosine, s)),
            add(multiply(cosine, k), multiply(number(-1.0), multiply(sine, s))),
        )
    return sine, cosine


def _turns(product: Product, c: float) -> tuple[Fraction, Fraction]:
    """Return sin(c*product) and cos(c*product); of a whole c by those of the product itself."""
    if not product:
        return number(math.sin(c)), number(math.cos(c))
    whole = round(abs(c))
    if not 1 < whole <= MOST_TURNS or abs(abs(c) - whole) > 1e-9:
        rate = abs(c)
        return (
            multiply(number(math.copysign(1.0, c)), single(("sin", product, rate))),
            single(("cos", product, rate)),
        )
    s, k = _turns(product, math.copysign(1.0, c))
    sine, cosine = s, k
    for _ in range(whole - 1):
        sine, cosine = (
            add(multiply(sine, k), multiply(cosine, s)),
            add(multiply(cosine, k), multiply(number(-1.0), multiply(sine, s))),
        )
    return sine, cosine


def _erased(whole: Fraction) -> Structure:
    """Return the terms above and below; of the forms with exp(x) and with 1/exp(x) the first by the alphabet.

    The sign of the constant in exp(c*x) is free, so that both are the same.
    """
    sums = [whole.above, *map(dict, whole.below)]
    growths = {f for terms in sums for p in terms for f, _ in p if f[0] == "exp"}
    signs = itertools.product((1.0, -1.0), repeat=len(growths) if len(growths) <= MOST_GROWTHS else 0)
    return min(_terms_with(whole, dict(zip(growths, chosen, strict=False))) for chosen in signs)


def _terms_with(whole: Fraction, signs: Mapping[Factor, float]) -> Structure:
    """Return the terms with some exponents negated."""
    out = Fraction(_negated(whole.above, signs))
    for frozen, n in whole.below.items():
        out = multiply(out, raise_to(Fraction(_negated(dict(frozen), signs)), -n))
    return _terms(out.above), _terms(multiplied_out(out.below))


def _negated(terms: Sum, signs: Mapping[Factor, float]) -> Sum:
    return {frozenset((f, signs.get(f, 1.0) * e) for f, e in product): c for product, c in terms.items()}


def _terms(of: Sum) -> tuple[str, ...]:
    return tuple(sorted(_product_name(product) for product in of))


def _product_name(product: Product) -> str:
    return "*".join(sorted(f"{_factor_name(f)}^{_exponent_name(f, e)}" for f, e in product)) or "1"


def _exponent_name(factor: Factor, exponent: float) -> str:
    free = factor[0] == "exp" or not float(exponent).is_integer()
    return "c" if free else f"{exponent:g}"


def _factor_name(factor: Factor) -> str:
    """Return a factor as text, without the constants inside."""
    if len(factor) == 1:
        return str(factor[0])
    kind, inner = factor[0], factor[1]
    if isinstance(inner, frozenset):
        return f"{kind}({_product_name(inner)})"
    if isinstance(inner, tuple) and isinstance(inner[0], frozenset):
        return f"{kind}({_erased(_thawed(inner))})"
    assert isinstance(inner, tuple)
    return f"{kind}({_factor_name(inner)})"


def _thawed(frozen: tuple[object, ...]) -> Fraction:
    above, below = frozen
    return Fraction(dict(above), dict(below))  # type: ignore[call-overload]


def _large(terms: Sum, columns: Mapping[str, Float]) -> Sum:
    with np.errstate(all="ignore"):
        sizes = {p: float(np.max(np.abs(c * _product_value(p, columns)))) for p, c in terms.items()}
    limit = NEGLIGIBLE * max(sizes.values(), default=0.0)
    return {p: c for p, c in terms.items() if not sizes[p] < limit}


def _sum_value(terms: Sum, columns: Mapping[str, Float]) -> Float:
    return np.asarray(sum((c * _product_value(p, columns) for p, c in terms.items()), np.zeros(1)))


def _product_value(product: Product, columns: Mapping[str, Float]) -> Float:
    out = np.ones(1)
    for factor, exponent in product:
        out = out * _factor_value(factor, columns) ** exponent
    return out


def _factor_value(factor: Factor, columns: Mapping[str, Float]) -> Float:
    if len(factor) == 1:
        return columns[str(factor[0])]
    kind, inner = str(factor[0]), factor[1]
    if isinstance(inner, frozenset):
        rate = float(factor[2]) if len(factor) > 2 else 1.0  # type: ignore[arg-type]
        arg = rate * _product_value(inner, columns)
    elif isinstance(inner, tuple) and isinstance(inner[0], frozenset):
        whole = _thawed(inner)
        arg = _sum_value(whole.above, columns) / _sum_value(multiplied_out(whole.below), columns)
    else:
        assert isinstance(inner, tuple)
        arg = _factor_value(inner, columns)
    if kind == "power":
        return arg
    functions = {"exp": np.exp, "log": np.log, "sin": np.sin, "cos": np.cos, "abs": np.abs}
    return np.asarray(functions[kind](arg))

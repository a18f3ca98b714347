"""Dataclasses to JSON values and back: all digits are kept, types and ranges checked, nothing evaluated.

The type hints of a dataclass are its schema. JSON has neither NaN nor infinity: they become null and words.
An array is its shape and its values.

A type check is not enough: a noise of 1e300 is a number, but its square overflows. A field without a range
of its own has that of its object (the empty name); other objects are not checked.
"""

import math
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass, replace
from functools import lru_cache
from types import NoneType, UnionType
from typing import TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from gode.arrays import Float
from gode.equation import Equation, Law, Link, Parameter, Skeleton, System, SystemSkeleton, parse_skeleton
from gode.equation.frame import parameters_of, read_named
from gode.equation.printer import exact, to_text
from gode.errors import FileError

LARGE = 1e120  # sums of squares do not overflow


@dataclass(frozen=True)
class Range:
    """The smallest and largest value, whether NaN is allowed, and the smallest size other than zero."""

    low: float
    high: float
    unknown: bool = False
    least: float = 0.0  # size below which only zero is allowed

    def outside(self, values: Float) -> Float:
        """Return the values that are not in the range."""
        size = np.abs(values)
        fits = (values >= self.low) & (values <= self.high) & ((size == 0) | (size >= self.least))
        return np.asarray(values[~(fits | (np.isnan(values) & self.unknown))])

    def __str__(self) -> str:
        tiny = f", and not below {self.least:g} in size unless it is zero" if self.least else ""
        if math.isinf(self.high):
            return ("a number" if math.isinf(self.low) else f"at least {self.low:g}") + tiny
        return f"between {self.low:g} and {self.high:g}" + tiny


SETTING = Range(0, 1e6)  # weights, shares, numbers of steps
FINITE = Range(-LARGE, LARGE)
POSITIVE = Range(0, LARGE)
CONSTANT = Range(-1e300, 1e300, least=1e-300)
COUNT = Range(0, 1e9)
COVARIANCE = Range(-1e300, 1e300)

RANGES: Mapping[str, Mapping[str, Range]] = {
    "Settings": {"": SETTING, "seed": Range(0, math.inf)},
    "SearchConfig": {"": SETTING},
    "LatentConfig": {"": SETTING},
    "ConstantsConfig": {"": SETTING},
    "ShootConfig": {"": SETTING},
    "SelectionConfig": {"": SETTING},
    "Equation": {"constants": CONSTANT, "scale": CONSTANT},
    "Candidate": {
        "": FINITE,
        "covariance": COVARIANCE,
        "rms": POSITIVE,
        "n_values": COUNT,
        "n_free": COUNT,
        "independent": COUNT,
    },
    "Individuals": {"values": CONSTANT, "covariances": COVARIANCE},
    "Run": {"": FINITE, "initial": Range(-LARGE, LARGE, unknown=True)},
    "Dose": {"": FINITE, "duration": POSITIVE},
    "Smooth": {
        "": FINITE,
        "deviations": POSITIVE,
        "noise": Range(0, LARGE, unknown=True),
        "profile": Range(1e-9, 1e9),
        "shares": Range(0, LARGE, unknown=True),
        "evidence": Range(-LARGE, LARGE, unknown=True),
    },
    "record": {"": COUNT},
}


def check_value(owner: str, name: str, value: object, where: str) -> None:
    """Check that the value of a field is in its range.

    Raises:
        FileError: if it is not, naming the field.
    """
    texts = value if isinstance(value, tuple) else (value,)
    for text in texts:
        if isinstance(text, str) and text.encode("utf-8", "replace").decode("utf-8") != text:
            raise FileError(f"{where} must be text that can be written, got {text[:40]!a}")
    ranges = RANGES.get(owner, {})
    allowed = ranges.get(name, ranges.get(""))
    numbers = _numbers(value)
    wrong = np.zeros(0) if allowed is None or numbers is None else allowed.outside(numbers)
    if len(wrong):
        raise FileError(f"{where} must be {allowed}, got {'null' if np.isnan(wrong[0]) else f'{wrong[0]:g}'}")


def _numbers(value: object) -> Float | None:
    """Return numbers as an array; None for anything else."""
    if isinstance(value, np.ndarray):
        return value.ravel()
    several = value if isinstance(value, tuple) else (value,)
    if not all(isinstance(v, int | float) and not isinstance(v, bool) for v in several):
        return None
    return np.array([_float(v) for v in several])


def _float(value: int | float) -> float:
    """Return an integer of any size as a float; infinite if it is too large."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


T = TypeVar("T")
Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
MAX_NUMBERS = 50_000_000  # of one array
TOO_LARGE = 2**1024  # for a float
OTHERS = tuple(f"v{i}" for i in range(1, 100))  # what an equation calls other states and further inputs
WORDS = {"inf": math.inf, "-inf": -math.inf}
RETIRED = {  # fields of older records that nothing reads any more
    "SelectionConfig": (
        "mention",
        "tie",
        "caution",
        "slight",
        "constant_price",
        "operation_price",
        "learned",
    ),
    "ShootConfig": ("horizons", "longer", "growing", "shortest"),
    "SearchConfig": ("zero_within",),
    "Candidate": ("errors", "complexity", "floor", "price", "forecast"),
}
KINDS: dict[type, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    list: "a list",
    dict: "an object",
    NoneType: "null",
}


def encode(value: object) -> Json:
    """Return dataclasses, tuples, arrays and numbers as JSON values."""
    if isinstance(value, Law):
        return _law_json(value)
    if isinstance(value, np.ndarray):
        return {"shape": list(value.shape), "values": [_number_json(float(v)) for v in value.ravel()]}
    if isinstance(value, float | np.floating):
        return _number_json(float(value))
    if isinstance(value, int | str | NoneType):
        return value
    if isinstance(value, list | tuple):
        return [encode(v) for v in value]
    if isinstance(value, Mapping):
        return {str(k): encode(v) for k, v in value.items()}
    if is_dataclass(value):
        return {f.name: encode(getattr(value, f.name)) for f in fields(value)}
    raise FileError(f"a {type(value).__name__} cannot be saved; pass numbers, text or arrays")


def decode(kind: type[T], data: object, where: str) -> T:
    """Return the `kind` that `data` encodes; `where` names it in messages.

    Raises:
        FileError: if anything is missing, unknown, or of another type.
    """
    return _Decoder().value(kind, data, where)  # type: ignore[return-value]


def decode_array(data: object, where: str, shape: tuple[int | None, ...]) -> Float:
    """Return an array of this shape, where None stands for any length."""
    found = decode(np.ndarray, data, where)
    fits = found.ndim == len(shape) and all(w in (None, h) for w, h in zip(shape, found.shape, strict=True))
    if not fits:
        raise FileError(f"{where} has the shape {found.shape}, but {_shape_text(shape)} is expected")
    return found


def member(data: object, name: str, where: str) -> object:
    """Return one entry of an object."""
    found = _checked(dict, data, where)
    if name not in found:
        raise FileError(f"{where} lacks {name!r}")
    return found[name]


class _Decoder:
    """Decodes JSON values by type hints."""

    def value(self, kind: object, data: object, where: str) -> object:
        origin, args = get_origin(kind), get_args(kind)
        if kind is np.ndarray or origin is np.ndarray:
            return self.array(data, where)
        if origin in (Union, UnionType):
            return self.union(args, data, where)
        if origin is tuple:
            return self.row(args, data, where)
        if kind in get_args(Law):
            return self.law(data, where)
        if kind is Link:
            place, factor = self.row((int, float), data, where)
            return Link(place, factor)  # type: ignore[arg-type]
        if isinstance(kind, type) and is_dataclass(kind):
            return self.record(kind, data, where)
        if kind is float:
            return _number(data, where)
        assert isinstance(kind, type), f"{kind} has no JSON form"
        return _checked(kind, data, where)

    def union(self, kinds: tuple[object, ...], data: object, where: str) -> object:
        if data is None and NoneType in kinds:
            return None
        return self.value(next(kind for kind in kinds if kind is not NoneType), data, where)

    def row(self, kinds: tuple[object, ...], data: object, where: str) -> tuple[object, ...]:
        items = _checked(list, data, where)
        if kinds[-1] is Ellipsis:
            kinds = (kinds[0],) * len(items)
        if len(items) != len(kinds):
            raise FileError(f"{where} has {len(items)} entries, but {len(kinds)} are expected")
        return tuple(
            self.value(k, v, f"{where}[{i}]") for i, (k, v) in enumerate(zip(kinds, items, strict=True))
        )

    def array(self, data: object, where: str) -> Float:
        shape = [_checked(int, n, f"{where}.shape") for n in _list(data, "shape", where)]
        values = _list(data, "values", where)
        if any(n < 0 for n in shape) or len(shape) > 4 or math.prod(shape) != len(values):
            raise FileError(f"{where} has {len(values)} values, which do not make the shape {shape}")
        if len(values) > MAX_NUMBERS:
            raise FileError(f"{where} has {len(values)} values; the limit is {MAX_NUMBERS}")
        return np.array([_number(v, where) for v in values], np.float64).reshape(shape)

    def record(self, kind: type, data: object, where: str) -> object:
        retired = RETIRED.get(kind.__name__, ())
        given = {name: v for name, v in _checked(dict, data, where).items() if name not in retired}
        known = _schema(kind)
        unknown = [name for name in given if name not in known]
        if unknown:
            raise FileError(f"{where} holds {unknown[0][:40]!r}, which this version of gode does not know")
        missing = [name for name, (_, f) in known.items() if name not in given and _is_required(f)]
        if missing:
            raise FileError(f"{where} lacks {missing[0]!r}")
        values = {n: self.value(known[n][0], v, f"{where}.{n}") for n, v in given.items()}
        for name, value in values.items():
            check_value(kind.__name__, name, value, f"{where}.{name}")
        return kind(**values)

    def law(self, data: object, where: str) -> Law:
        if isinstance(data, dict) and "residual" in data:  # as records of one state were up to version 2
            data = {
                "states": ["u"],
                "inputs": [],
                "residuals": [data["residual"]],
                "parts": [data],
                "links": [],
            } | data
        states, inputs, texts = (
            tuple(_checked(str, v, f"{where}.{name}") for v in _list(data, name, where))
            for name in ("states", "inputs", "residuals")
        )
        assert isinstance(data, dict)
        named = _list(data, "parts", where) if "parts" in data else [{}] * len(texts)
        alone = len(texts) == 1
        pairs = zip(texts, named, strict=True)
        parts = tuple(self.skeleton(text, own, where, formula=not alone) for text, own in pairs)
        links = self.row((Link, ...), member(data, "links", where), f"{where}.links")
        constants = tuple(_number(v, f"{where}.constants") for v in _list(data, "constants", where))
        scale = self.union((float, NoneType), data.get("scale"), f"{where}.scale")
        for name, value in {"constants": constants, "scale": scale}.items():
            check_value("Equation", name, value, f"{where}.{name}")
        n = sum(part.n_constants for part in parts)
        if any(link.place < -1 or not math.isfinite(link.factor) for link in links):  # type: ignore[attr-defined]
            raise FileError(f"{where}.links must hold places from -1 on, and finite factors")
        if len(parts) != len(states) or len(links) not in (0, n):
            raise FileError(
                f"{where} has {len(parts)} equations and {len(links)} links for {len(states)} states"
            )
        if alone and not links:
            return Equation(parts[0], constants, scale)  # type: ignore[arg-type]
        made = SystemSkeleton(states, parts, inputs, links)  # type: ignore[arg-type]
        return System(replace(made, parameters=parameters_of(made)), constants)

    def skeleton(self, text: str, data: object, where: str, *, formula: bool) -> Skeleton:
        """Return the skeleton of a residual, whose constants may have names."""
        given = data.get("parameters", []) if isinstance(data, dict) else []
        if not given:
            return parse_skeleton(f"{text} = 0", inputs=("F",), states=("u", *OTHERS), formula=formula)
        rows = self.row((tuple[str, float, float], ...), given, f"{where}.parameters")
        parameters = tuple(Parameter(*row) for row in rows)  # type: ignore[misc]
        functions = self.row(
            (tuple[str, tuple[str, ...], str], ...),
            data.get("functions", []) if isinstance(data, dict) else [],
            f"{where}.functions",
        )
        return read_named(text, parameters, functions, ("F",), formula=formula)  # type: ignore[arg-type]


@lru_cache(maxsize=64)
def _schema(kind: type) -> dict[str, tuple[object, "Field[object]"]]:
    hints = get_type_hints(kind)
    return {f.name: (hints[f.name], f) for f in fields(kind)}


def _is_required(field: "Field[object]") -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _law_json(law: Law) -> Json:
    """Return the residuals of all equations, each in its own view, and what ties their constants.

    Residuals are in normal form, whose constants are numbered in the order of the text; the scale is that in
    which the equation of a single state is written.
    """
    skeleton = law.skeleton
    scale = law.equations[0].scale
    return {
        "states": list(skeleton.states),
        "inputs": list(skeleton.inputs),
        "residuals": [
            to_text(part.named_tree if part.parameters else part.normal, exact) for part in skeleton.parts
        ],
        **({"parts": [_names_json(part) for part in skeleton.parts]} if skeleton.parameters else {}),
        "links": [[link.place, link.factor] for link in skeleton.links],
        "constants": [_number_json(c) for c in law.constants],
        **({} if scale is None else {"scale": _number_json(scale)}),
    }


def _names_json(skeleton: Skeleton) -> dict[str, Json]:
    """Return the names and bounds of the constants, and what was found for unknown functions; or nothing."""
    if not skeleton.parameters:
        return {}
    functions = [
        [f.name, list(f.arguments), to_text(skeleton.named(f.tree), exact)] for f in skeleton.functions
    ]
    bounds = [[p.name, _number_json(p.low), _number_json(p.high)] for p in skeleton.parameters]
    return {"parameters": bounds, "functions": functions}  # type: ignore[dict-item]


def _number_json(value: float) -> Json:
    if math.isnan(value):
        return None
    return value if math.isfinite(value) else ("inf" if value > 0 else "-inf")


def _number(data: object, where: str) -> float:
    if data is None:
        return math.nan
    if isinstance(data, str) and data in WORDS:
        return WORDS[data]
    if isinstance(data, bool) or not isinstance(data, int | float):
        raise FileError(f"{where} must be a number, got {_kind(data)}")
    if not abs(data) < TOO_LARGE:
        raise FileError(f"{where} must be a number that is finite")
    return float(data)


def _list(data: object, name: str, where: str) -> list[object]:
    return _checked(list, member(data, name, where), f"{where}.{name}")


def _checked(kind: type[T], data: object, where: str) -> T:
    if type(data) is not kind:
        raise FileError(f"{where} must be {KINDS.get(kind, 'something else')}, got {_kind(data)}")
    return data


def _kind(data: object) -> str:
    return KINDS.get(type(data), type(data).__name__)


def _shape_text(shape: tuple[int | None, ...]) -> str:
    return f"({', '.join('any' if n is None else str(n) for n in shape)})"

"""Public calls whose signature and help are written from the table of options."""

import textwrap
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from inspect import Parameter, Signature, signature
from typing import Any, TypeVar, cast

from gode.options.entry import Option, options_of, type_of

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T", bound=Mapping[str, object])
PLACEHOLDER = "**options:"  # the line of a docstring that the help of the options takes the place of
WIDTH = 110  # characters of a line of a docstring


class Written(str):
    """A type as it is written, which help shows without quotes."""

    def __repr__(self) -> str:
        return str(self)


def takes_options(table: type) -> Callable[[F], F]:
    """Return a decorator that writes the options of a table into the signature and help of a call.

    The call takes them as ``**options``, and its docstring has a line ``**options: ...`` among the arguments.
    """
    return lambda call: tells_options(table)(_with_signature(call, table))


def tells_options(table: type) -> Callable[[F], F]:
    """Return a decorator that writes the options of a table into the help of a call or class alone."""
    return lambda call: _with_help(call, table)


def completed(call: str, table: type[T], given: T) -> T:
    """Return the options of a call, checked, with the defaults of those that were not given.

    Raises:
        TypeError: if there is no such option.
        ConfigError: if a value is none that the option can have.
    """
    known = options_of(table)
    check_names(call, known, given)
    values = {name: checked(option, given.get(name, option.default)) for name, option in known.items()}
    return cast(T, values)


def check_names(call: str, known: Mapping[str, Option], given: Iterable[str]) -> None:
    """Raise TypeError if a call has no such option, as Python does of other functions."""
    for name in given:
        if name not in known:
            near = get_close_matches(name, known, 1)
            hint = f". Did you mean {near[0]!r}?" if near else ""
            raise TypeError(f"{call}() got an unexpected keyword argument {name!r}{hint}")


def checked(option: Option, value: object) -> object:
    """Return a value as it is kept.

    Raises:
        ConfigError: if the option cannot have it.
    """
    return value if option.check is None else option.check(value)


def _with_signature(call: F, table: type) -> F:
    found = signature(call)
    own = [p for p in found.parameters.values() if p.kind is not Parameter.VAR_KEYWORD]
    options = [
        Parameter(
            name, Parameter.KEYWORD_ONLY, default=option.default, annotation=Written(type_of(table, name))
        )
        for name, option in options_of(table).items()
    ]
    places = sorted([*options, *own], key=lambda p: p.kind)  # stable
    call.__signature__ = Signature(places, return_annotation=found.return_annotation)  # type: ignore[attr-defined]
    return call


def _with_help(call: F, table: type) -> F:
    lines = (call.__doc__ or "").splitlines()
    out: list[str] = []
    for line in lines:
        text = line.lstrip()
        out += _help_lines(table, line[: len(line) - len(text)]) if text.startswith(PLACEHOLDER) else [line]
    call.__doc__ = "\n".join(out) if lines else call.__doc__
    return call


def _help_lines(table: type, indent: str) -> list[str]:
    """Return a paragraph for each option; one without help of its own is told with the next."""
    out, together = list[str](), list[str]()
    for name, option in options_of(table).items():
        together.append(name)
        if option.help:
            text = f"{', '.join(together)}: {option.help}"
            out += textwrap.wrap(
                text, WIDTH, initial_indent=indent, subsequent_indent=f"{indent}    ", break_on_hyphens=False
            )
            together = []
    return out

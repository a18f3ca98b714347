"""Export as a program, or as a model in SBML: the languages, and what is made of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from gode import __version__
from gode.discovery import Discovery
from gode.equation.printer import Dialect
from gode.errors import ConfigError, EquationError
from gode.report import compiled, r_programs, sbml, scripts
from gode.report.dialects import C_WRITES, MATLAB_WRITES, MODELICA_WRITES, PLAIN, PYTHON_WRITES, Fields
from gode.report.program import ROWS, Program, make_program, piece


@dataclass(frozen=True, kw_only=True)
class Language:
    """A language: how it writes expressions, and the pieces that its template asks for."""

    suffix: str
    dialect: Dialect
    fields: Callable[[Program, Mapping[str, str]], Fields]  # from those that all languages share
    implicit: bool  # whether it can solve residuals


PYTHON = Language(suffix=".py", dialect=PYTHON_WRITES, fields=scripts.python_fields, implicit=False)
C = Language(suffix=".c", dialect=C_WRITES, fields=compiled.c_fields, implicit=False)
JULIA = Language(suffix=".jl", dialect=PLAIN, fields=scripts.julia_fields, implicit=True)
MATLAB = Language(suffix=".m", dialect=MATLAB_WRITES, fields=scripts.matlab_fields, implicit=True)
MODELICA = Language(suffix=".mo", dialect=MODELICA_WRITES, fields=compiled.modelica_fields, implicit=True)
R = Language(suffix=".R", dialect=PLAIN, fields=r_programs.r_fields, implicit=False)
RXODE2 = Language(suffix=".R", dialect=PLAIN, fields=r_programs.rxode2_fields, implicit=False)
SBML = Language(suffix=".xml", dialect=PLAIN, fields=sbml.fields, implicit=False)
SBML_WITH_STARTS = replace(SBML, fields=sbml.fields_with_starts)


LANGUAGES: Mapping[str, Language] = {
    "python": PYTHON,
    "c": C,
    "julia": JULIA,
    "matlab": MATLAB,
    "modelica": MODELICA,
    "r": R,
    "rxode2": RXODE2,
    "sbml": SBML,
}
OTHER_NAMES = {"py": "python", "jl": "julia", "octave": "matlab", "m": "matlab", "mo": "modelica"}


def code(discovery: Discovery, language: str, *, run: int | str | None = None) -> str:
    """Return a program that simulates the equation found, over one run of the data.

    Constants are named, with their standard errors as comments. A known input is included as a formula or a
    table; the caller may replace it by a function of time or by samples. Steps end where a held input jumps.
    An equation that cannot be solved for its highest derivative is exported as a residual, to languages with
    a solver for it (Julia, MATLAB, Modelica). Without a run, constants that each has for itself are those of
    the population's mean.

    Raises:
        ConfigError: for a language that is not known.
        EquationError: for a residual in a language without a solver for it.
    """
    if not isinstance(language, str) or language.lower() not in {**LANGUAGES, **OTHER_NAMES}:
        raise ConfigError(f"language must be one of {', '.join(LANGUAGES)}, got {language!r}")
    name = OTHER_NAMES.get(language.lower(), language.lower())
    return program_text(make_program(discovery, run), name, LANGUAGES[name])


def program_text(program: Program, name: str, language: Language) -> str:
    """Return a program, or its residual, by the templates that bear the name of the language.

    Raises:
        EquationError: for a residual in a language without a solver for it.
    """
    if not program.explicit and not language.implicit:
        able = ", ".join(each for each, other in LANGUAGES.items() if other.implicit)
        raise EquationError(
            f"{program.title} cannot be solved for its highest derivative, which {name} code needs; "
            f"export it to one of {able}"
        )
    kind = name if program.explicit or name == "modelica" else f"{name}-implicit"
    shared = _shared(program, language)
    if kind.endswith("implicit"):
        shared["title"] += "; doses of the data are not in this program" if program.given else ""
        shared["title"] += "; what is measured is not in this program" if program.observed else ""
    return _tidy(piece(kind, {**shared, **language.fields(program, shared)}))


def suffix(language: str) -> str:
    """Return the ending of a file of this language, such as ``.py``."""
    name = OTHER_NAMES.get(language.lower(), language.lower())
    if name not in LANGUAGES:
        raise ConfigError(f"language must be one of {', '.join(LANGUAGES)}, got {language!r}")
    return LANGUAGES[name].suffix


def _shared(program: Program, language: Language) -> dict[str, str]:
    number: Callable[[float], str] = language.dialect.style
    between = " " if language.suffix == ".m" else ", "
    return {
        "title": program.title,
        "version": __version__,
        "order": str(program.order),
        "states": ", ".join(program.names),
        "initial": between.join(map(number, program.initial)),
        "slopes": between.join(map(number, program.slopes)),
        "start": number(program.start),
        "stop": number(program.stop),
        "rows": str(ROWS),
        "longest": number(program.longest),
        "tolerance": f"{1e-11 * program.scale:.1e}",
    }


def _tidy(text: str) -> str:
    """Return `text` without trailing spaces and with at most two empty lines in a row."""
    lines = [line.rstrip() for line in text.splitlines()]
    kept = [line for i, line in enumerate(lines) if line or any(lines[max(i - 2, 0) : i])]
    return "\n".join(kept) + "\n"

"""Export as a program: Python, C, Julia, MATLAB (and Octave), Modelica, R; as a model in SBML."""

from collections.abc import Callable, Mapping

from gode import __version__
from gode.discovery import Discovery
from gode.errors import ConfigError, EquationError
from gode.report.languages import JULIA, MATLAB, MODELICA, PYTHON, RXODE2, SBML, C, Language, R
from gode.report.program import ROWS, Program, make_program, piece

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
        "title": program.title + ("" if language.dosed and not program.inputs else program.undosed),
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

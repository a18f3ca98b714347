"""Errors, which are for users, and failures, which are for candidates.

An error says what was expected, what came, where, and what to do. A failure is a value:
a candidate equation that cannot be fitted or solved is no mistake of the user.
"""

import re
from enum import StrEnum


class GodeError(Exception):
    """Any error raised on purpose by gode."""


class GrammarError(GodeError, ValueError):
    """A grammar, or a sentence of one, is not well formed."""


class EquationError(GodeError, ValueError):
    """A text or tree is not an equation gode understands."""


class DataError(GodeError, ValueError):
    """Measurements are unusable as given."""


class ConfigError(GodeError, ValueError):
    """An option has a value it cannot have."""


class FileError(GodeError, ValueError):
    """A file is not what it should be."""


class ModelError(GodeError, ValueError):
    """A latent space or its weights cannot be used."""


class NotFittedError(GodeError, ValueError, AttributeError):
    """An estimator was asked before it was fitted; scikit-learn's error of this name has the same parents."""


def shortened(text: str, most: int = 400) -> str:
    """Return a message without its middle if it is too long."""
    return text if len(text) <= most else f"{text[: most // 2]} … {text[-most // 4 :]}"


class Failure(StrEnum):
    """The ways a candidate may fail without being an error."""

    NOT_FINITE = "not finite on the data"
    DIVERGED = "the solution diverges"
    BUDGET = "too stiff for the step budget"
    SINGULAR = "the highest derivative cannot be isolated"
    NO_ROOT = "no real value of the highest derivative"
    TOO_MANY_CONSTANTS = "more constants than allowed"


def pointed(reason: str, text: str, start: int) -> str:
    """Return a message with the text it is about and a caret under the place."""
    line = re.sub(r"\s", " ", text)
    low = max(0, start - 60)
    return f"{shortened(reason)}\n  {line[low : low + 120]}\n  {' ' * (start - low)}^"

"""Options that are chosen by name; the command line reads them without importing NumPy."""

from enum import StrEnum


class EffortName(StrEnum):
    """How thorough the search is."""

    QUICK = "quick"
    NORMAL = "normal"
    THOROUGH = "thorough"


class Preset(StrEnum):
    """Which method is used."""

    DEFAULT = "default"
    PAPER = "paper"  # as it was published

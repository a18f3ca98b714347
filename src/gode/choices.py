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


class NoiseChoice(StrEnum):
    """What may be said of the noise; by default the data decide."""

    AUTO = "auto"
    CONSTANT = "constant"
    PROPORTIONAL = "proportional"  # a fraction of the value
    COMBINED = "combined"  # a constant part and a fraction of the value
    LOG = "log"  # constant in the logarithm

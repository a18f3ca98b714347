"""What the user sees."""

from gode.report.figures import overview
from gode.report.record import load, save

__all__ = ["load", "overview", "save"]

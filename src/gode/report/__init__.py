"""What the user sees."""

from gode.report.figures import overview

__all__ = ["overview"]

"""Reports, figures, records and exported programs.

Figures and pages are imported from their modules: records are read without matplotlib.
"""

from gode.report.answers import Answers, answer
from gode.report.languages import LANGUAGES, code
from gode.report.record import load, save

__all__ = ["LANGUAGES", "Answers", "answer", "code", "load", "save"]

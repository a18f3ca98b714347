"""Reports, figures, records and exported programs."""

from gode.report.answers import Answers, answer
from gode.report.code import LANGUAGES, code
from gode.report.figures import overview
from gode.report.page import write_page
from gode.report.record import load, save

__all__ = ["LANGUAGES", "Answers", "answer", "code", "load", "overview", "save", "write_page"]

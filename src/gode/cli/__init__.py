"""The command line: parses and prints, decides nothing."""

from gode.cli import demo, discover, export, fit, grammars, models, simulate
from gode.cli.app import main

__all__ = ["demo", "discover", "export", "fit", "grammars", "main", "models", "simulate"]

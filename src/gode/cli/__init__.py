"""The command line: parses and prints, decides nothing."""

from gode.cli import demo, grammars, models
from gode.cli.app import main

__all__ = ["demo", "grammars", "main", "models"]

"""The command line: parses and prints, decides nothing."""

from gode.cli import bench, demo, grammars, models
from gode.cli.app import main

__all__ = ["bench", "demo", "grammars", "main", "models"]

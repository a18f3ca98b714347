"""The command line: parses and prints, decides nothing."""

from gode.cli import bench, demo, discover, export, fit, grammars, models, simulate
from gode.cli.app import main

__all__ = ["bench", "demo", "discover", "export", "fit", "grammars", "main", "models", "simulate"]

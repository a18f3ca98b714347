"""The command line: parses and prints, decides nothing."""

from gode.cli.start import main

__all__ = ["main"]

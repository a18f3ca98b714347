"""The command line: parses and prints, decides nothing."""

from gode.cli.app import main

__all__ = ["main"]

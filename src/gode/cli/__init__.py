"""The command line: reads options and files, calls the library, prints."""

from gode.cli.start import main

__all__ = ["main"]

"""Measurements from files and tables: which column holds what. Nothing heavy is imported with it."""

from gode.measured.arguments import read_arguments

__all__ = ["read_arguments"]

"""Measurements from files as arguments of `gode.discover`. Nothing heavy is imported with it."""

from gode.tables.dataset import read_arguments

__all__ = ["read_arguments"]

"""Equation + initial values -> solution."""

from gode.data import Interpolation
from gode.solve.signals import Signal
from gode.solve.solution import Solution, SolveConfig, System, prepare, run, solve

__all__ = ["Interpolation", "Signal", "Solution", "SolveConfig", "System", "prepare", "run", "solve"]

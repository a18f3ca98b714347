"""Equation + initial values -> solution."""

from gode.solve.signals import Interpolation, Signal
from gode.solve.solution import Solution, SolveConfig, System, prepare, run, solve

__all__ = ["Interpolation", "Signal", "Solution", "SolveConfig", "System", "prepare", "run", "solve"]

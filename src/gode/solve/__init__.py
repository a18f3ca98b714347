"""Equation + initial values -> solution."""

from gode.solve.signals import Interpolation, Signal
from gode.solve.solution import Solution, SolveConfig, solve

__all__ = ["Interpolation", "Signal", "Solution", "SolveConfig", "solve"]

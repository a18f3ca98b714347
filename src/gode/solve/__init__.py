"""Equation + initial values -> solution."""

from gode.data import Interpolation
from gode.solve.signals import Signal
from gode.solve.solution import Setup, Solution, SolveConfig, run, set_up, solve

__all__ = ["Interpolation", "Setup", "Signal", "Solution", "SolveConfig", "run", "set_up", "solve"]

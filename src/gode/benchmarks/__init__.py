"""Benchmarks: the problems of the paper, other tools, tables and figures."""

from gode.benchmarks.problems import SUITES, Problem, noisy, problem, suite, truth, truths

__all__ = ["SUITES", "Problem", "noisy", "problem", "suite", "truth", "truths"]

"""How good is gode: the paper's problems."""

from gode.benchmarks.problems import SUITES, Problem, noisy, problem, suite, truth, truths

__all__ = ["SUITES", "Problem", "noisy", "problem", "suite", "truth", "truths"]

"""How good is a skeleton on these data."""

from gode.fitting.constants import ConstantsConfig, Fit, fit_constants
from gode.fitting.losses import PaperConfig, fit_by_simplex
from gode.fitting.problem import Form, Problem, integral_problem, residual_problem

__all__ = [
    "ConstantsConfig",
    "Fit",
    "Form",
    "PaperConfig",
    "Problem",
    "fit_by_simplex",
    "fit_constants",
    "integral_problem",
    "residual_problem",
]

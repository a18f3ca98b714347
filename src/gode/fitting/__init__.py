"""How good is a skeleton on these data."""

from gode.fitting.constants import ConstantsConfig, Fit, fit_constants
from gode.fitting.problem import Form, Regression, integral_problem, residual_problem

__all__ = [
    "ConstantsConfig",
    "Fit",
    "Form",
    "Regression",
    "fit_constants",
    "integral_problem",
    "residual_problem",
]

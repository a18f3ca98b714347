"""How good is a skeleton on these data."""

from gode.fitting.problem import Form, Regression, integral_problem, residual_problem
from gode.fitting.smoothed_fit import ConstantsConfig, Fit, fit_constants

__all__ = [
    "ConstantsConfig",
    "Fit",
    "Form",
    "Regression",
    "fit_constants",
    "integral_problem",
    "residual_problem",
]

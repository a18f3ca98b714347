"""What a sentence means: skeletons, equations and their evaluation."""

from gode.equation.equation import Equation, equation_of, from_sympy, parse_equation
from gode.equation.parse import parse_tree
from gode.equation.skeleton import Skeleton, Term, parse_skeleton
from gode.equation.tree import Node

__all__ = [
    "Equation",
    "Node",
    "Skeleton",
    "Term",
    "equation_of",
    "from_sympy",
    "parse_equation",
    "parse_skeleton",
    "parse_tree",
]

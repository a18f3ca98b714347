"""What a sentence means: skeletons, equations and their evaluation."""

from gode.equation.equation import Equation, equation_of, from_sympy, parse_equation
from gode.equation.parse import parse_tree
from gode.equation.skeleton import Found, Link, Parameter, Skeleton, parse_skeleton
from gode.equation.system import Law, LawSkeleton, System, SystemSkeleton, parse_system
from gode.equation.terms import Term
from gode.equation.tree import Node

__all__ = [
    "Equation",
    "Found",
    "Law",
    "LawSkeleton",
    "Link",
    "Node",
    "Parameter",
    "Skeleton",
    "System",
    "SystemSkeleton",
    "Term",
    "equation_of",
    "from_sympy",
    "parse_equation",
    "parse_skeleton",
    "parse_system",
    "parse_tree",
]

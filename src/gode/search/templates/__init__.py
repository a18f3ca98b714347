"""Templates: what an equation must look like, and how terms fill it.

Without a frame, an equation is a sum of terms: the grammar fixes at most one of them, such as the highest
derivative. With a frame, terms belong to the unknown functions of an equation, and the equation that is
fitted is the frame with these terms in it.
"""

from gode.search.templates.frame_template import FrameTemplate
from gode.search.templates.sum_template import SumTemplate
from gode.search.templates.template import (
    Bodies,
    Points,
    Template,
    Vocabulary,
    additions,
    borrowed,
    deletions,
    neighbours,
    random_skeletons,
    swaps,
)

__all__ = [
    "Bodies",
    "FrameTemplate",
    "Points",
    "SumTemplate",
    "Template",
    "Vocabulary",
    "additions",
    "borrowed",
    "deletions",
    "neighbours",
    "random_skeletons",
    "swaps",
]

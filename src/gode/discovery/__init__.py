"""From measurements to the equation."""

from gode.discovery.api import discover
from gode.discovery.given import fit
from gode.discovery.progress import Step
from gode.discovery.result import Constant, Discovery, Finding

__all__ = ["Constant", "Discovery", "Finding", "Step", "discover", "fit"]

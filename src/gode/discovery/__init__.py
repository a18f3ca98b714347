"""From measurements to the equation."""

from gode.discovery.api import discover, fit
from gode.discovery.result import Constant, Discovery, Finding
from gode.discovery.stages import Step

__all__ = ["Constant", "Discovery", "Finding", "Step", "discover", "fit"]

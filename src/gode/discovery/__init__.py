"""From measurements to the equation."""

from gode.discovery.api import discover
from gode.discovery.given import fit
from gode.discovery.result import Constant, Discovery, Finding
from gode.search.pool import Step

__all__ = ["Constant", "Discovery", "Finding", "Step", "discover", "fit"]

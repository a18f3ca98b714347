"""From measurements to the equation."""

from gode.discovery.api import discover
from gode.discovery.finding import Finding
from gode.discovery.given import fit
from gode.discovery.named import Constant
from gode.discovery.result import Discovery
from gode.search.archive import Step

__all__ = ["Constant", "Discovery", "Finding", "Step", "discover", "fit"]

"""From measurements to the equation."""

from gode.discovery.api import discover
from gode.discovery.given import fit, fit_petab
from gode.discovery.reported_constants import Constant
from gode.discovery.result import Discovery, Finding
from gode.search.archive import Step

__all__ = ["Constant", "Discovery", "Finding", "Step", "discover", "fit", "fit_petab"]

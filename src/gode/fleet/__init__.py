"""Many records: discovered on any executor or cluster, and what they have in common."""

from gode.fleet.many import discover_many
from gode.fleet.result import Result
from gode.fleet.table import Fleet

__all__ = ["Fleet", "Result", "discover_many"]

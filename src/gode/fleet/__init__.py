"""Many records: discovered on any executor or cluster, and what they have in common."""

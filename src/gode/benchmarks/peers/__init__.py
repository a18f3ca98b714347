"""Other tools, each behind the same small interface."""

from gode.benchmarks.peers.table import PEERS, Peer
from gode.benchmarks.peers.task import PeerTask

__all__ = ["PEERS", "Peer", "PeerTask"]

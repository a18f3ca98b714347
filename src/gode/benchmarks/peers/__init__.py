"""Other tools behind one interface."""

from gode.benchmarks.peers.peer import PEERS, Peer, PeerTask

__all__ = ["PEERS", "Peer", "PeerTask"]

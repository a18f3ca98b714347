"""Other tools behind one interface."""

from gode_bench.peers.peer import PEERS, Peer, PeerTask

__all__ = ["PEERS", "Peer", "PeerTask"]

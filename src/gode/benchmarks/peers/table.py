"""The peers by name, and which package each needs; none is imported before it is used."""

from collections.abc import Callable
from dataclasses import dataclass

from gode.benchmarks.peers.task import PeerTask


@dataclass(frozen=True)
class Peer:
    """Another tool: its package and how to ask it."""

    title: str
    needs: str
    find: Callable[[PeerTask], str]
    package: str | None = None
    weight: float = 1.0


def _sindy(task: PeerTask) -> str:
    from gode.benchmarks.peers.sindy import find

    return find(task)


def _operon(task: PeerTask) -> str:
    from gode.benchmarks.peers.operon import find

    return find(task)


def _gplearn(task: PeerTask) -> str:
    from gode.benchmarks.peers.gp_learn import find

    return find(task)


def _pysr(task: PeerTask) -> str:
    from gode.benchmarks.peers.py_sr import find

    return find(task)


def _odeformer(task: PeerTask) -> str:
    from gode.benchmarks.peers.ode_former import find

    return find(task)


PEERS = {
    "pysindy": Peer("PySINDy", "pysindy", _sindy, weight=0.3),
    "pyoperon": Peer("pyoperon", "pyoperon", _operon, weight=1.0),
    "gplearn": Peer("gplearn", "gplearn", _gplearn, weight=4.0),
    "pysr": Peer("PySR", "pysr", _pysr, weight=10.0),
    "odeformer": Peer("ODEFormer", "odeformer", _odeformer, weight=3.0),
}

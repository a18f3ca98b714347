"""The structures of the benchmarks' laws, which the corpus must not hold."""

from collections.abc import Iterator, Sequence
from itertools import permutations

from gode.equation import Node, Skeleton, SystemSkeleton
from gode.equation.system import columns_seen, parse_system_values, state_seen
from gode.equation.tree import mul, renamed, sorted_tree, var
from gode.prior.terms import Pieces, ways_of_writing
from gode_bench.odebench.systems import systems
from gode_bench.problems import SUITES

Structure = tuple[object, ...]


def structure(law: Skeleton | SystemSkeleton, n_inputs: int = 0) -> Structure:
    """What tells laws apart, whatever their constants and the order and names of their states."""
    n = len(law.parts)
    pieces = [ways_of_writing(part)[-1] for part in law.parts]
    forms = []
    for order in permutations(range(n)):
        place = {old: new for new, old in enumerate(order)}
        forms.append(tuple(_renamed(pieces[old], _names(old, place, n, n_inputs)) for old in order))
    return min(forms)


def _names(old: int, place: dict[int, int], n: int, n_inputs: int) -> dict[str, str]:
    seen = {state_seen(old, s) + "'" * k: state_seen(place[old], place[s]) + "'" * k
            for s in range(n) for k in range(3)}  # fmt: skip
    return {**{name: name for name in columns_seen(old, n, n_inputs)}, **seen}


def _renamed(pieces: Pieces, names: dict[str, str]) -> tuple[object, ...]:
    def new(body: Node) -> Node:
        return sorted_tree(renamed(body, names))

    terms = sorted((new(body), copy) for body, copy in pieces.terms)
    return pieces.order, tuple(sorted(map(new, pieces.leading))), tuple(terms)


def as_second_order(law: SystemSkeleton) -> Iterator[Skeleton]:
    """The equations u'' = f(u, u') that pairs x' = C*y, y' = f(x, y) are."""
    if len(law.parts) != 2 or law.orders != (1, 1):
        return
    for i in (0, 1):
        first, second = ways_of_writing(law.parts[i])[-1], ways_of_writing(law.parts[1 - i])[-1]
        if first.terms == ((var("v1"), 1),):
            bodies = [renamed(body, {"u": "u'", "v1": "u"}) for body, _ in second.terms]
            tree = Node(
                "+", 0.0, (var("u''"), *[mul(Node("const", float(k), ()), b) for k, b in enumerate(bodies)])
            )
            yield Skeleton(tree)


def benchmark_structures() -> dict[Structure, str]:
    found: dict[Structure, str] = {}
    for one in systems().values():
        law = parse_system_values(one.truths, states=one.states).skeleton
        found[structure(law)] = f"ODEBench {one.name}"
        for scalar in as_second_order(law):
            found[structure(scalar)] = f"ODEBench {one.name}"
    for suite in SUITES.values():
        for problem in suite:
            found[structure(problem.equation.skeleton, 1)] = problem.name
    return found


def corpus_structures(law: SystemSkeleton, n_inputs: int) -> Sequence[Structure]:
    return [structure(law, n_inputs), *(structure(scalar) for scalar in as_second_order(law))]

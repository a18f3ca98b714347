"""Tables of ODEBench: shares over groups of systems beside the published ones, system by system, all runs."""

from collections.abc import Iterable, Sequence

from gode.equation import parse_tree
from gode.equation.printer import rounded, to_text
from gode.errors import EquationError
from gode_bench.jobs import Job
from gode_bench.methods import title_of
from gode_bench.odebench.score import succeeded
from gode_bench.odebench.summary import Shares, grouped
from gode_bench.odebench.systems import DYSTS, ODEBENCH, system, systems
from gode_bench.published import PUBLISHED_SYSTEMS, PublishedShares
from gode_bench.records import Record
from gode_bench.tables import TextTable, counted, described, methods_of

COLUMNS = (
    "method", "systems", "runs", "reconstruction", "generalisation", "exact components", "exact systems",
    "components*", "systems*", "R² of .99", "crashes", "failed", "s",
)  # fmt: skip
NOTE = (
    "Per cent of the runs. Reconstruction and generalisation: R² above 0.9 of the solution from the clean "
    "initial values, that of the data and the other one, against the clean solution. Exact: the structure of "
    "an equation, or of all equations of a system, is the true one up to the values of constants; *: without "
    "terms below 0.1 % of the largest. R² of .99 and crashes: of simulations from the other start, as "
    "AutoSINDy counts them. Median seconds of a run by the number of states."
)
CHAOTIC_NOTE = {ODEBENCH: " Chaotic: 55, 56 and 61.", DYSTS: " All systems are chaotic, so that errors grow."}
PUBLISHED_NOTE = " Published: points read from figures 4b and 5 of d'Ascoli et al. (2024)."


def shares_table(setting: Job, records: Sequence[Record]) -> TextTable:
    """Return a row for each method and group of systems; published rows beside all 63."""
    rows = [
        _row(title_of(name), shares)
        for name in methods_of(records)
        for shares in grouped([r for r in records if r.job.method == name])
    ]
    whole = {r.job.problem for r in records} == set(systems(setting.study))
    key = setting.noise, setting.dropped
    published = PUBLISHED_SYSTEMS.get(key, ()) if whole and setting.study == ODEBENCH else ()
    rows += [_published_row(p) for p in published]
    seeds = len({r.job.seed for r in records})
    n = len({r.job.problem for r in records})
    title = f"{setting.study}: {counted(n, 'system')}, {counted(seeds, 'seed')}, {described(setting)}"
    note = NOTE + CHAOTIC_NOTE.get(setting.study, "") + (PUBLISHED_NOTE if published else "")
    return TextTable(title, COLUMNS, tuple(rows), note)


def _row(title: str, s: Shares) -> tuple[str, ...]:
    shares = (
        s.reconstruction, s.generalisation, s.components, s.whole, s.large_components, s.large_whole,
        s.excellent,
    )  # fmt: skip
    times = ", ".join(f"{d}: {seconds:.1f}" for d, seconds in s.seconds.items())
    return (title, s.group, str(s.n), *(f"{x:.1f}" for x in shares), str(s.crashes), str(s.failed), times)


def _published_row(p: PublishedShares) -> tuple[str, ...]:
    shares = (f"{p.reconstruction:.1f}", f"{p.generalisation:.1f}")
    return (f"published: {p.title}", "all", "", *shares, *("",) * (len(COLUMNS) - 5))


def system_table(setting: Job, records: Sequence[Record]) -> TextTable:
    """Return how often each method reconstructs, generalises and is exact on each system."""
    names = methods_of(records)
    rows = []
    for number in _in_order({r.job.problem for r in records}):
        cells = [number, system(number, setting.study).title]
        for name in names:
            own = [r.score for r in records if (r.job.problem, r.job.method) == (number, name)]
            counts = [sum(succeeded(s.r2[i]) for s in own) for i in (0, 1)] + [sum(s.structure for s in own)]
            cells.append(f"{' '.join(map(str, counts))} of {len(own)}" if own else "")
        rows.append(tuple(cells))
    note = "Runs that reconstruct, generalise, and have the true structure."
    columns = ("", "system", *map(title_of, names))
    return TextTable(f"{setting.study}, system by system: {described(setting)}", columns, tuple(rows), note)


def system_runs(records: Sequence[Record]) -> TextTable:
    """Return every run with its equations."""
    rows = [
        (
            r.job.problem, title_of(r.job.method), str(r.job.seed), *map(shown_r2, r.score.r2),
            flags(r.score.components), f"{r.seconds:.1f}",
            one_line(r.equation) if r.equation else "", r.score.failure or "",
        )
        for r in sorted(records, key=lambda r: (_place(r.job.problem), r.job))
    ]  # fmt: skip
    columns = ("", "method", "seed", "R²", "R², other start", "exact", "s", "equations", "failure")
    return TextTable("every run", columns, tuple(rows))


def _in_order(names: Iterable[str]) -> list[str]:
    return sorted(names, key=_place)


def _place(name: str) -> tuple[int, str]:
    """Return by what systems are sorted: the numbers of ODEBench, names elsewhere."""
    return (int(name), "") if name.isdecimal() else (0, name)


def shown_r2(value: float | None) -> str:
    """Return an R² as text."""
    return "-inf" if value is None else f"{value:.4f}"


def flags(values: Sequence[bool]) -> str:
    """Return 1 or 0 for each equation."""
    return "".join("01"[value] for value in values)


def one_line(text: str) -> str:
    """Return the equations of a system on one line, with four digits."""
    return "; ".join(map(_short, text.splitlines()))


def _short(line: str) -> str:
    left, _, right = line.partition(" = ")
    try:
        tree = parse_tree(right, inputs=tuple(f"x{i}" for i in range(4)))
    except EquationError:
        return line
    return f"{left} = {to_text(tree, rounded(4))}"

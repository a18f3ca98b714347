"""Tables of the results: a row for each method, then the published rows."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median

from gode.data.dataset import CHANNELS
from gode_bench.jobs import PAPER_NOISE, Job
from gode_bench.methods import METHODS, title_of
from gode_bench.odebench.systems import FILES, systems
from gode_bench.problems import SUITES, problem, suite
from gode_bench.published import Published, published_rows
from gode_bench.records import Record


@dataclass(frozen=True)
class TextTable:
    """A table as text, for a terminal, a page or a file."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""

    def lines(self) -> list[str]:
        """Return the table as lines of Markdown, its columns aligned."""
        clean = [
            [cell.replace("|", "\\|").replace("\n", " ") for cell in row]
            for row in (self.columns, *self.rows)
        ]
        widths = [max(map(len, column)) for column in zip(*clean, strict=True)]
        clean.insert(1, ["-" * width for width in widths])
        padded = ([c.ljust(w) for c, w in zip(row, widths, strict=True)] for row in clean)
        return ["| " + " | ".join(row) + " |" for row in padded]

    def latex(self) -> list[str]:
        """Return the table as lines of LaTeX, for the package booktabs."""
        head, *rows = (" & ".join(map(_in_latex, row)) + r" \\" for row in (self.columns, *self.rows))
        return [
            r"\begin{table}",
            rf"\caption{{{_in_latex(self.title)}}}",
            rf"\begin{{tabular}}{{{'l' * len(self.columns)}}}",
            *(r"\toprule", head, r"\midrule", *rows, r"\bottomrule"),
            r"\end{tabular}",
            *([rf"\par\smallskip {_in_latex(self.note)}"] if self.note else []),
            r"\end{table}",
        ]


LATEX = str.maketrans(
    {
        **{c: f"\\{c}" for c in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "'": r"\textquotesingle{}",
        "\n": " ",
    }
)


def _in_latex(text: str) -> str:
    return text.translate(LATEX)


def markdown(tables: Sequence[TextTable]) -> list[str]:
    """Return tables one below the other as lines of Markdown; a note that several share stands once."""
    lines = []
    for table, after in zip(tables, [*tables[1:], None], strict=True):
        lines += [f"**{table.title}**", ""] if table.title else []
        lines += [*table.lines(), ""] if table.rows else []
        lines += [table.note, ""] if table.note and not (after and after.note == table.note) else []
    return lines


def counted(n: int, noun: str) -> str:
    """Return "1 seed" or "3 seeds"."""
    return f"{n} {noun}{'' if n == 1 else 's'}"


@dataclass(frozen=True)
class Summary:
    """Statistics of the runs of one method under one setting."""

    method: str
    n: int
    mean: tuple[float | None, ...]  # of u, u', u'' over all runs; u'' over second-order problems
    best: tuple[float | None, ...]  # of the best run of each problem, which is known in hindsight only
    median: float  # error of u
    above: int
    failed: int
    complexity: float | None
    structure: float
    exact: float
    seconds: float
    megabytes: float


def settings(records: Iterable[Record]) -> dict[Job, list[Record]]:
    """Return the records by study and setting: a job without its problem, method and seed."""
    groups: dict[Job, list[Record]] = {}
    for record in sorted(records, key=lambda r: r.job):
        study = record.job.study
        any_problem = next(iter(systems(study))) if study in FILES else SUITES["b1"][0].name
        setting = replace(record.job, problem=any_problem, method="", seed=0)
        groups.setdefault(setting, []).append(record)
    return dict(sorted(groups.items()))


def methods_of(records: Iterable[Record]) -> list[str]:
    """Return the methods that occur, in the order of METHODS, then methods of the user."""
    present = {r.job.method for r in records}
    return [name for name in METHODS if name in present] + sorted(present - METHODS.keys())


def summarise(method: str, records: Sequence[Record]) -> Summary:
    """Return the statistics of one method; the records must be of one setting."""
    own = sorted((r for r in records if r.job.method == method), key=lambda r: r.job)
    best = [min(runs, key=lambda r: (fmean(r.score.errors), r.job)) for runs in _by_problem(own).values()]
    sizes = [r.score.complexity for r in own if r.score.complexity is not None]
    return Summary(
        method=method,
        n=len(own),
        mean=_means(own),
        best=_means(best),
        median=median(r.score.errors[0] for r in own),
        above=sum(r.score.above for r in own),
        failed=sum(r.equation is None for r in own),
        complexity=fmean(sizes) if sizes else None,
        structure=fmean(r.score.structure for r in own),
        exact=fmean(r.score.exact for r in own),
        seconds=median(r.seconds for r in own),
        megabytes=max(r.megabytes for r in own),
    )


def _by_problem(records: Sequence[Record]) -> dict[str, list[Record]]:
    found: dict[str, list[Record]] = {}
    for record in records:
        found.setdefault(record.job.problem, []).append(record)
    return found


def _means(records: Sequence[Record]) -> tuple[float | None, ...]:
    columns = [[r.score.errors[i] for r in records if len(r.score.errors) > i] for i in range(len(CHANNELS))]
    return tuple(fmean(column) if column else None for column in columns)


def suite_table(setting: Job, records: Sequence[Record]) -> TextTable:
    """Return the table of a suite, our rows and the published ones."""
    n = 2 if setting.study == "b1" else 3
    summaries = [summarise(name, records) for name in methods_of(records)]
    rows = [_row(s, n) for s in summaries]
    published = published_rows(setting.study) if _is_whole(setting, records) else ()
    rows += [_published_row(p, n) for p in published]
    columns = (
        "method", *CHANNELS[:n], *(f"{c} best" for c in CHANNELS[:n]), "median u", "> 1", "failed",
        "complexity", "structure", "exact", "s", "MB",
    )  # fmt: skip
    problems = len(_by_problem(records))
    seeds = len({r.job.seed for r in records})
    title = f"{setting.study}: {counted(problems, 'problem')}, {counted(seeds, 'seed')}, {described(setting)}"
    return TextTable(title, columns, tuple(rows), NOTE + (PUBLISHED_NOTE if published else ""))


def _is_whole(setting: Job, records: Sequence[Record]) -> bool:
    """Tell whether the problems and the noise are those of the published means."""
    asked = {one.name for one in suite(setting.study)}
    return asked == {r.job.problem for r in records} and setting.noise == PAPER_NOISE


NOTE = (
    "Relative L2 errors against the clean truth, capped at 1: the mean over all runs, and over the best run "
    "of each problem, chosen in hindsight. u'' counts for second-order problems. '> 1': runs with an error "
    "above 1 or without a solution; complexity in units of the truth's; structure: true structure found; "
    "exact: also all constants within 10 %; median seconds of a run on one core; peak memory."
)
PUBLISHED_NOTE = " Published rows are the best of five runs."


def described(setting: Job) -> str:
    """Return a setting in words."""
    words = [
        f"noise {100 * setting.noise:g} %",
        f"initial values {setting.initial}",
        f"effort {setting.effort}",
    ]
    words += [f"{setting.samples} samples"] if setting.samples else []
    words += [f"{100 * setting.dropped:g} % of the samples dropped"] if setting.dropped else []
    words += [f"{setting.runs} runs"] if setting.runs > 1 else []
    return ", ".join(words)


def _row(s: Summary, n: int) -> tuple[str, ...]:
    return (
        title_of(s.method), *(_error(x) for x in s.mean[:n]), *(_error(x) for x in s.best[:n]),
        _error(s.median), f"{s.above} of {s.n}", str(s.failed),
        "" if s.complexity is None else f"{s.complexity:.2f}",
        f"{100 * s.structure:.0f} %", f"{100 * s.exact:.0f} %", f"{s.seconds:.1f}", f"{s.megabytes:.0f}",
    )  # fmt: skip


def _published_row(p: Published, n: int) -> tuple[str, ...]:
    best = (_error(x) for x in (p.u, p.du, p.d2u)[:n])
    above = "" if p.above is None else str(p.above)
    size = "" if p.complexity is None else f"{p.complexity:.2f}"
    return (f"published: {p.title}", *("",) * n, *best, "", above, "", size, "", "", "", "")


def _error(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def problem_table(setting: Job, records: Sequence[Record]) -> TextTable:
    """Return the mean error of u of each problem and method, and how often the structure was found."""
    names = methods_of(records)
    rows = []
    for name in sorted(_by_problem(records), key=_position):
        cells = [name]
        for method in names:
            own = [r for r in records if r.job.problem == name and r.job.method == method]
            exact = sum(r.score.exact for r in own)
            cells.append(
                f"{_error(fmean(r.score.errors[0] for r in own))} ({exact}/{len(own)})" if own else ""
            )
        rows.append((*cells, problem(name).text))
    columns = ("problem", *(title_of(m) for m in names), "truth")
    note = "Mean relative L2 error of u; in parentheses, how many of the runs found the exact structure."
    return TextTable(f"{setting.study}, problem by problem: {described(setting)}", columns, tuple(rows), note)


def _position(name: str) -> int:
    return [one.name for problems in SUITES.values() for one in problems].index(name)


def run_table(records: Sequence[Record]) -> TextTable:
    """Return every run with its equation."""
    rows = [
        (
            r.job.problem, title_of(r.job.method), str(r.job.seed),
            *(_error(e) for e in _three(r.score.errors)),
            "exact" if r.score.exact else "structure" if r.score.structure else "",
            f"{r.seconds:.1f}", _rounded_equation(r), r.score.failure or "",
        )
        for r in sorted(records, key=lambda r: (_position(r.job.problem), r.job))
    ]  # fmt: skip
    columns = ("problem", "method", "seed", *CHANNELS, "found", "s", "equation", "failure")
    return TextTable("every run", columns, tuple(rows))


def _three(errors: Sequence[float]) -> list[float | None]:
    return [*errors, None, None][:3]


def _rounded_equation(record: Record) -> str:
    from gode.equation import parse_equation
    from gode.errors import EquationError

    try:
        return parse_equation(record.equation).text(4) if record.equation else ""
    except EquationError:
        return record.equation or ""

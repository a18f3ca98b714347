"""The section of the page on constants that each run has for itself."""

from gode.discovery import Discovery
from gode.markup import Markup, details, paragraph, program, table
from gode.report.naming import figures

MOST_RUNS = 30  # shown at once; the others unfold


def individuals_section(discovery: Discovery) -> list[Markup]:
    """Return mean and spread of the constants that each run has for itself, and their values in each run."""
    dataset, constants = discovery.prepared.dataset, discovery.equation.per_run
    names = [c.label for c in constants]
    summary = [(c.label, figures(c.value, c.error), f"{c.error:.2g}", f"{c.spread:.3g}") for c in constants]
    runs = [
        (dataset.name_of(i), *(f"{figures(v, e)} ± {e:.2g}" for v, e in (c.runs[i] for c in constants)))
        for i in range(len(dataset.runs))
    ]
    few = table(("run", *names), runs[:MOST_RUNS])
    rest = [details(f"The other {len(runs) - MOST_RUNS} runs", table(("run", *names), runs[MOST_RUNS:]))]
    return [
        paragraph("Each run has its own constants in"),
        program("\n".join(discovery.equation.lines_per_run())),
        table(("constant", "mean", "standard error", "standard deviation between runs"), summary),
        Markup("<h3>Constants of each run, with standard errors</h3>"),
        few,
        *(rest if len(runs) > MOST_RUNS else []),
    ]

"""The section of the page on constants that each run has for itself."""

from gode.discovery import Discovery
from gode.markup import Markup, details, paragraph, program, table
from gode.report.naming import figures

MOST_RUNS = 30  # shown at once; the others unfold


def individuals_section(discovery: Discovery) -> list[Markup]:
    """Return mean and spread of the constants that each run has for itself, and their values in each run."""
    own, dataset = discovery.individuality, discovery.prepared.dataset
    names = [c.label for c in own.constants]
    everyone = own.population
    rows = zip(names, everyone.mean, everyone.errors, everyone.deviations, strict=True)
    summary = [(n, figures(m, e), f"{e:.2g}", f"{d:.3g}") for n, m, e, d in rows]
    runs = [
        (
            dataset.name_of(i),
            *(f"{figures(v, e)} ± {e:.2g}" for v, e in zip(values, errors, strict=True)),
        )
        for i, (values, errors) in enumerate(zip(own.values, own.errors, strict=True))
    ]
    few = table(("run", *names), runs[:MOST_RUNS])
    rest = [details(f"The other {len(runs) - MOST_RUNS} runs", table(("run", *names), runs[MOST_RUNS:]))]
    return [
        paragraph("Each run has its own constants in"),
        program("\n".join(own.lines)),
        table(("constant", "mean", "standard error", "standard deviation between runs"), summary),
        Markup("<h3>Constants of each run, with standard errors</h3>"),
        few,
        *(rest if len(runs) > MOST_RUNS else []),
    ]

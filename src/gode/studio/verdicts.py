"""The page of a finished run: verdict first, then what supports it, its rivals, and what to take away."""

from gode.discovery import Discovery
from gode.discovery.quality import Verdict
from gode.report.linear import response_plots
from gode.report.plots import Plots
from gode.report.sections import Sections
from gode.studio.form import command_text, in_words
from gode.studio.held import held_back
from gode.studio.runs import Job
from gode.studio.takeaway import Files
from gode.studio.trying import sliders
from gode.templates import render


def answer_page(plots: Plots, files: Files) -> str:
    """Return the answer as HTML, to stand within a page."""
    found = plots.discovery
    job = files.job
    return render(
        "gode/studio/templates/verdict.html",
        s=Sections(found, plots),
        here=f"/runs/{job.id}",
        held=held_back(found, job, files.folder),
        sliders=sliders(plots.shown[0]),
        equations=[(i, plots.name(i)) for i in range(len(plots.shown))],
        response=response_plots(found),
        files=files.listed(),
        command=command_text(job.sources, job.words),
        python=files.python,
        tries=advice(found, job),
        in_words=in_words,
    )


def advice(found: Discovery, job: Job) -> list[str]:
    """Return what to try where the result is no good one: choices that were not made."""
    if found.quality.verdict is Verdict.GOOD:
        return []
    words = {*job.words}
    runs, inputs = len(found.prepared.dataset.runs), found.prepared.dataset.inputs
    tries = [] if {"auto", "--frame"} & words else ["Try both orders."]
    tries += (
        [] if inputs else ["If something drives the system, give it as a known input: a column or a formula."]
    )
    if runs > 1 and not found.settings.individual:
        tries.append("If the runs are not quite alike, give each constants of its own.")
    if len(found.prepared.dataset.states) == 1:
        tries.append("If another signal was measured that takes part, add it as a state.")
    tries += [] if "thorough" in words else ["Search with more effort."]
    tries.append("Crop what does not belong to the experiment, and drop points that went wrong.")
    return tries

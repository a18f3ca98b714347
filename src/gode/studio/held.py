"""The part of the data that was held back: how well the equation foretells what it never saw."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from gode.arrays import Float
from gode.data import Dataset
from gode.discovery import Discovery
from gode.discovery.residuals import Channel
from gode.discovery.simulate import Scenario, simulate
from gode.errors import GodeError
from gode.report.naming import axis_label
from gode.report.spec import BLUE, GREEN, ORANGE, Kind, Plot, Trace
from gode.studio.reading import read
from gode.studio.runs import Job
from gode.tables.edits import without_test

FAR = 2.0  # times the noise, from which the test counts as failed


def held_back(found: Discovery, job: Job, folder: Path) -> tuple[str, list[Plot]] | None:
    """Return how the equation fares on what was held back, in words and plots; None if nothing was."""
    kept = without_test(job.edits)
    if len(kept) == len(job.edits):
        return None
    words = _without_edits(job.words)
    for edit in kept:
        words += ["--edit", edit]
    try:
        dataset, *_ = read(folder, replace(job, edits=tuple(kept)), words)
    except GodeError as error:
        return f"The part that was held back cannot be read: {error}", []
    tests = [_tested(found, dataset, channel) for channel in found.quality.channels]
    rest = np.concatenate([values for _, values in tests])
    names = [channel.shown for channel in found.quality.channels]
    misfit = float(np.sqrt(np.mean(rest**2))) if len(rest) else np.nan
    return _words(misfit, len(rest), names), [plot for plot, _ in tests]


def _tested(found: Discovery, dataset: Dataset, channel: Channel) -> tuple[Plot, Float]:
    """Return a plot of one channel, and by how many times the noise the forecast is off."""
    state = channel.name.rstrip("'")
    place = 3 * dataset.states.index(state) + channel.name.count("'")
    alone = len(dataset.runs) == 1
    prepared = replace(found.prepared, dataset=dataset)
    drawn = []
    rests = []
    for i, run in enumerate(dataset.runs):
        solved = simulate(found.candidates[0], prepared, Scenario(run.t, run=i)).values[place]
        late = run.t > found.prepared.dataset.runs[i].t[-1]
        seen = late & np.isfinite(run.observed[place])
        rests.append((run.observed[place] - solved)[seen] / (channel.noise or 1.0))
        names = ("seen", "held back", "equation") if i == 0 else ("", "", "")
        of_run = None if alone else i
        values = run.observed[place]
        drawn += [
            Trace(Kind.POINTS, names[0], run.t[~late], values[~late], colour=BLUE, run=of_run),
            Trace(Kind.POINTS, names[1], run.t[late], values[late], colour=GREEN, run=of_run),
            Trace(Kind.LINE, names[2], run.t, solved, colour=ORANGE, run=of_run),
        ]
    x, y = (axis_label(dataset, name) for name in ("t", channel.name))
    plot = Plot(title=f"Held back: {channel.shown}", x=x, y=y, traces=drawn, n_runs=len(dataset.runs))
    return plot, np.concatenate(rests)


def _words(misfit: float, n: int, names: list[str]) -> str:
    if not np.isfinite(misfit):
        return "The equation has no solution along what was held back: it fails this test."
    verdict = "passes" if misfit <= FAR else "fails"
    return (
        f"On {n} values of {', '.join(names)} that the search never saw, the forecast is off by {misfit:.2g} "
        f"times the noise: it {verdict} this test."
    )


def _without_edits(words: tuple[str, ...]) -> list[str]:
    out: list[str] = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word == "--edit":
            skip = True
        else:
            out.append(word)
    return out

"""Ablation: selection by a cheap score, without fits to the trajectory."""

import numpy as np

from gode.data import Dataset
from gode.errors import DataError
from gode.fitting import Form
from gode.fitting.prepare import prepare
from gode.search.archive import Archive
from gode.search.explore import explore, make_regions, spaces_of
from gode.search.interrupts import Interrupts
from gode.search.settings import GRAMMARS, Settings
from gode.search.workers import Workers


def selected_cheaply(dataset: Dataset, order: int, effort: str, seed: int, form: Form) -> str:
    """Return the equation that the search finds best by a cheap score, without fits to the trajectory.

    Raises:
        DataError: if these data do not allow that score.
    """
    settings = Settings(order=order, grammar=GRAMMARS[order], effort=effort, seed=seed)
    prepared = prepare(dataset, order, settings.selection.floor)
    chosen = [p for p in prepared.problems if p.form is form]
    if not chosen:
        raise DataError(f"the {form} form needs u to be observed")
    interrupts = Interrupts()
    lands = make_regions(spaces_of(settings, dataset.inputs), prepared, settings, interrupts)
    archive = Archive(prepared, settings, None, Workers(prepared, settings), interrupts, {})
    explore(lands, archive, np.random.default_rng(seed))
    best = lands[0].objective.leaders(1, prepared.problems.index(chosen[0]))
    if not best:
        raise DataError("no skeleton could be fitted")
    return best[0].equation.text(None)

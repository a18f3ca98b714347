"""Populations: states in which what is zero usually stays zero, such as counts, densities, concentrations."""

from dataclasses import replace

import numpy as np

from gode.data import Dataset
from gode.search.settings import SYSTEMS, Settings

GAIN = 0.0  # in the criterion, for each equation


def expecting(settings: Settings, dataset: Dataset) -> Settings:
    """Return the settings with the gain of laws in which what is zero stays zero, where that is usual."""
    usual = settings.order == 1 and settings.grammar == SYSTEMS and not settings.known.frame
    gain = GAIN if usual and are_populations(dataset) else 0.0
    return replace(settings, selection=replace(settings.selection, lasting=gain))


def are_populations(dataset: Dataset) -> bool:
    """Tell whether several states look like populations: they are never negative, and nothing feeds them."""
    if len(dataset.states) < 2 or dataset.inputs:
        return False
    values = np.concatenate([run.observed[::3].ravel() for run in dataset.runs])
    return bool(np.isfinite(values).any()) and bool(np.nanmin(values) >= 0)

"""Populations: states in which what is zero usually stays zero, such as counts and densities.

Several states that are never negative, and that nothing from outside feeds, may be species that grow from
what there is of them, or substances that are made of each other. Both are looked for. A law in which what is
zero stays zero has a gain in the criterion, as it is usual among species, and no state that is above zero in
all of its readings is taken to begin at zero. Where a first reading is zero and others are not, something did
arise from nothing, and nothing is preferred.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gode.arrays import Float
from gode.data import Dataset
from gode.data.dataset import plain_label, unit_of
from gode.fitting.invariant_zero import law_keeps_zero
from gode.fitting.prepare import is_its_view
from gode.search.assumptions import KEEPS_ZERO
from gode.search.settings import SYSTEMS, Settings
from gode.selection import Candidate

GAIN = 5.0  # 2 log of the prior odds, for each equation; see docs/method.md
OTHER_UNITS = re.compile(
    "K|[°]|[°]?C|[°]?F|deg[CF]?|[mk]?V|m?A|[mckµu]?m|m?rad|k?N|[kM]?Pa|m?bar|k?Hz|k?[WJ]|k?m/[sh].*|rpm|s|min|h"
)
OTHER_NAMES = re.compile(
    r"temp|angle|phi\b|theta|volt|current|speed|veloc|posit|displ|height|level|press|torque|heat",
    re.IGNORECASE,
)


def expecting(settings: Settings, dataset: Dataset) -> Settings:
    """Return the settings with the gain of laws in which what is zero stays zero, where that is usual."""
    usual = settings.order == 1 and settings.grammar == SYSTEMS
    given = settings.known.frame or KEEPS_ZERO in settings.known.assume
    gain = GAIN if usual and not given and are_populations(dataset) else 0.0
    return replace(settings, selection=replace(settings.selection, lasting=gain))


def preferred(order: Sequence[Candidate], settings: Settings) -> list[str]:
    """Return a remark on the preference of laws in which what is zero stays zero, if there was one."""
    gain = settings.selection.lasting
    if not gain or not order:
        return []
    whole = gain * len(order[0].equation.skeleton.parts)
    kept = [law_keeps_zero(c.equation) for c in order]
    plain = min(range(len(order)), key=lambda i: order[i].criterion + whole * kept[i])
    words = (
        "no state is ever negative and no input feeds them, so that laws in which a state that is zero stays "
        f"zero were preferred, by {whole:g} in the criterion"
    )
    if not kept[0]:
        return [f"{words}; this law is none of them, and --assume {KEEPS_ZERO} holds to them"]
    if kept[plain]:
        return [f"{words}; this law would be named without that, too"]
    return [f"{words}; without that it would be {'; '.join(order[plain].equation.lines(4))}"]


def are_populations(dataset: Dataset) -> bool:
    """Tell whether several states may be populations: never negative, fed by no input, of no other kind."""
    if is_its_view(dataset) or dataset.inputs:
        return False
    if any(_is_other(dataset, state) for state in dataset.states):
        return False
    rows = [row[np.isfinite(row)] for run in dataset.runs for row in run.observed[::3]]
    return all(len(row) > 0 and row.min() >= 0 and not _arises(row) for row in rows)


def _arises(row: Float) -> bool:
    """Tell whether there is something of a state of which there was nothing at the start."""
    return bool(row[0] == 0 and row.max() > 0)


def _is_other(dataset: Dataset, state: str) -> bool:
    """Tell whether the unit or the name of a state says that it is no amount of anything."""
    unit = unit_of(dataset, state)
    return bool(
        OTHER_UNITS.fullmatch(unit) or OTHER_NAMES.search(plain_label(dataset.labels.get(state, state)))
    )

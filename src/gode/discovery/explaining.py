"""A discovery with the likely causes of a fit that is not good."""

from collections.abc import Callable
from dataclasses import replace

from gode.discovery.causes import CLEARLY, LEFT, NO_REMEDY, delayed_state, likely_causes
from gode.discovery.quality import Quality, Verdict
from gode.discovery.result import Discovery
from gode.discovery.settings import Preset, Settings


def with_causes(
    found: Discovery, second_order: Callable[[Settings], Discovery | None] | None = None
) -> Discovery:
    """Return the discovery with the likely causes of a fit that is not good.

    Args:
        second_order: finds an equation of second order behind the same data, if that can be tried.
    """
    if found.interrupted or found.timed_out or found.settings.preset == Preset.PAPER:
        return found
    misfit = found.quality.misfit
    causes = list(likely_causes(found.order[0], found.prepared, found.settings, misfit))
    if misfit > LEFT and not causes:
        other = second_order(found.settings) if second_order else None
        if other is not None and _is_better(other.quality, found.quality):
            causes.append(
                f"an equation of second order leaves {other.quality.misfit:.2g} times the noise: --order 2"
            )
        else:
            causes += delayed_state(found.prepared)
    if not causes and found.quality.verdict.is_failure and misfit > LEFT:
        causes = [NO_REMEDY]
    return replace(found, causes=tuple(causes))


def _is_better(one: Quality, other: Quality) -> bool:
    white = one.verdict is Verdict.GOOD and other.verdict is not Verdict.GOOD
    return one.supported and (white or one.misfit < CLEARLY * other.misfit)

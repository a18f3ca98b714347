"""Options: what a user chose, by the table of options, before it is known which orders are tried."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from gode.choices import Preset
from gode.data import Dataset
from gode.data.columns import INPUT
from gode.discovery.framing import column_of, in_columns
from gode.equation import parse_skeleton
from gode.equation.frame import Frame, order_of
from gode.errors import ConfigError
from gode.fitting.prepare import inputs_seen
from gode.options.checks import AUTO, whole_number
from gode.search.assumptions import checked_assumptions, make_known
from gode.search.settings import GRAMMARS, SYSTEMS, Choices, Settings

LATE = 1.1  # From this multiple of the limit on, the remark says that more time was needed.


@dataclass(frozen=True, kw_only=True)
class Options(Choices):
    """The choices of one call of `discover`."""

    order: int | Literal["auto"] = 1
    grammar: str | None = None
    max_seconds: float | None = None
    hidden: int | str | tuple[str, ...] = 0  # how many states were not measured, auto, or their names

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.order == AUTO and self.preset == Preset.PAPER:
            raise ConfigError(f"order='{AUTO}' is not part of the paper's method; give order=1 or order=2")

        if self.individual and self.preset == Preset.PAPER:
            raise ConfigError("individual= is not part of the paper's method; use preset='default'")
        if self.delay and self.preset == Preset.PAPER:
            raise ConfigError("delay= is not part of the paper's method; use preset='default'")
        if self.delay and self.known.frame:
            raise ConfigError("frame= and delay= do not go together; write F(t - tau) in the frame")

    def told_of_time(self, seconds: float) -> str:
        """Return the remark on a search that its time limit ended."""
        asked = self.max_seconds or 0.0
        if seconds <= LATE * asked + 1:
            return f"stopped after {asked:g} s, as asked"
        return f"stopped after {seconds:.1f} s, as soon as there was an answer; {asked:g} s were asked for"

    def settings(self, dataset: Dataset, frame: Frame | None = None) -> list[Settings]:
        """Return the settings of each search: one, or one for each order.

        Args:
            frame: what is known of the law, if anything is.

        Raises:
            ConfigError: if an option has an unknown value.
        """
        start = in_columns(self.start, dataset) if isinstance(self.start, str) else self.start
        without = tuple(column_of(dataset, word) for word in self.without)
        return replace(self, start=start, without=without)._settings(dataset, frame)

    def _settings(self, dataset: Dataset, frame: Frame | None) -> list[Settings]:
        """Return the settings of each search, of options in the names that columns have here."""
        if frame is not None:
            return [self._of_frame(dataset, frame)]
        if self.start and len(dataset.states) > 1:
            raise ConfigError("start= guesses the equation of one state; leave it out for several states")
        if self.order != AUTO:
            checked_assumptions(self.known.assume, self.order, len(dataset.states))
            return [self._of_order(self.order, dataset, self.start, 1.0)]
        guess = parse_skeleton(self.start).order if self.start else None
        return [
            self._of_order(k, dataset, self.start if k == guess else None, 1 / len(GRAMMARS))
            for k in GRAMMARS
        ]

    def _of_frame(self, dataset: Dataset, frame: Frame) -> Settings:
        """Return the settings of the search for the unknown functions of a frame, which has the order."""
        if self.preset == Preset.PAPER or self.start:
            other = "start=" if self.start else "preset='paper'"
            raise ConfigError(f"frame= and {other} do not go together; leave one of them out")
        order = max(order_of(tree) for tree in frame.trees)
        found = self._of_order(order, dataset, None, 1.0)
        checked_assumptions(self.known.assume, order, len(dataset.states))
        most = found.constants.max_constants + len(frame.parameters)
        constants = replace(found.constants, max_constants=most)
        return replace(found, implicit=False, constants=constants)

    def _of_order(self, order: int, dataset: Dataset, start: str | None, share: float) -> Settings:
        by_paper = self.preset == Preset.PAPER
        alone = {*inputs_seen(dataset, whole_number(order))} <= {INPUT}  # what grammars of one state know
        if by_paper and not alone:
            raise ConfigError("the paper's method knows one state and one input; use preset='default'")
        usual = GRAMMARS.get(whole_number(order), "") if alone else SYSTEMS
        if by_paper:
            from gode.paper import paper_grammar  # another method, which few ask for

            usual = paper_grammar(order, forced=bool(dataset.inputs))
        chosen = {each.name: getattr(self, each.name) for each in fields(Choices)}
        return Settings(
            **{**chosen, "start": start},
            order=order,
            grammar=self.grammar or usual,
            implicit=self.grammar is None and alone and not by_paper,
            interpolation=dataset.runs[0].interpolation.value,
            share=share,
        )


def chosen_options(given: Mapping[str, Any]) -> Options:
    """Return what was chosen of a search by the names of the table of options, as `Options` keeps it.

    Raises:
        ConfigError: if a value is none that an option can have.
    """
    known = make_known(*(given[name] for name in ("frame", "fixed", "bounds", "units", "assume")))
    names = {each.name for each in fields(Options)} - {"known", "individual"}
    return Options(**{name: given[name] for name in names}, known=known)

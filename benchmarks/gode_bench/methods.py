"""The methods that are compared: each takes noisy data and returns an equation as text."""

import importlib
import importlib.metadata
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gode.data import Dataset
from gode.data.from_arrays import make_dataset
from gode.discovery import Discovery, discover, fit
from gode.equation import Law, parse_skeleton
from gode.errors import ConfigError, DataError
from gode.fitting import ConstantsConfig, Form, fit_constants, residual_problem
from gode.fitting.cheap import before_drift
from gode.fitting.prepare import prepare
from gode.search.archive import Archive
from gode.search.explore import explore, make_regions, spaces_of
from gode.search.interrupts import Interrupts
from gode.search.settings import GRAMMARS, Settings
from gode.search.templates import SumTemplate
from gode.search.workers import Start, Workers, one_thread
from gode_bench.jobs import Measured
from gode_bench.peers import PEERS, PeerTask


@dataclass(frozen=True)
class Task:
    """The input of a method: noisy data, never clean ones; what is true only for the floors."""

    data: Measured
    seed: int
    effort: str
    suite: str
    skeletons: tuple[str, ...] = ()  # one for each state
    law: Law | None = None  # the truth with its numbers
    keep: Callable[[Discovery], None] | None = None  # called with the discovery of gode


@dataclass(frozen=True)
class Method:
    """A function that finds an equation, and what it needs."""

    title: str
    work: Callable[[Task], str]
    needs: str | None = None  # the package that must be installed
    package: str | None = None  # name in the package index, if it differs
    weight: float = 1.0  # duration relative to gode, roughly
    sees_skeleton: bool = False
    sees_constants: bool = False
    systems: bool = False  # whether it takes several states

    @property
    def installed(self) -> bool:
        """Whether the method can run here."""
        return self.needs is None or importlib.util.find_spec(self.needs) is not None

    @property
    def version(self) -> str | None:
        """The version of the package it needs."""
        return (
            importlib.metadata.version(self.package or self.needs) if self.needs and self.installed else None
        )


def method(name: str) -> Method:
    """Return the method called `name`, or your own function, given as module:function.

    It takes a `Task` and returns an equation as text, such as "u' = 0.5*u", for a system one a line; an
    exception is a failed run.

    Raises:
        ConfigError: if there is none.
    """
    if name in METHODS:
        return METHODS[name]
    if ":" not in name:
        known = ", ".join(METHODS)
        raise ConfigError(
            f"there is no method {name!r}; choose from {known}, or name your own, module:function"
        )
    return Method(name, _user_function(name), systems=True)


def title_of(name: str) -> str:
    """Return the name of a method in tables and figures."""
    return METHODS[name].title if name in METHODS else name


def _user_function(name: str) -> Callable[[Task], str]:
    """Return the function named module:function."""
    module, _, attribute = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, ValueError, AttributeError) as error:
        raise ConfigError(
            f"the method {name!r} cannot be loaded ({error}); name a module that Python finds here, and a "
            "function in it, as in my_methods:find"
        ) from None
    if not callable(found):
        raise ConfigError(f"the method {name!r} is no function, but {type(found).__name__}")
    work: Callable[[Task], str] = found
    return work


def _gode(
    task: Task, *, preset: str = "default", grammar: str | None = None, effort: str | None = None
) -> str:
    found = discover(
        **_arguments(task.data),  # type: ignore[arg-type]
        order=task.data.order,
        grammar=grammar,
        preset=preset,
        effort=effort or task.effort,
        seed=task.seed,
    )
    if task.keep:
        task.keep(found)
    return found.equation.equation.text(None)


def _arguments(data: Measured) -> dict[str, object]:
    """Return the data as arguments of discover() and fit()."""
    if len(data.states) > 1:
        return {"t": data.t[0], "u": data.signal[0], "names": list(data.states)}
    channel = "u" if data.observed == "u" else "acceleration"
    several = len(data.t) > 1
    return {
        "t": list(data.t) if several else data.t[0],
        channel: list(data.signal) if several else np.ravel(data.signal[0]),
        "force": data.force,
        "initial": data.initial if several or data.initial is None else data.initial[0],
    }


def _floor(task: Task) -> str:
    """Fit the constants of the true skeletons to the trajectory."""
    texts = task.skeletons[0] if len(task.skeletons) == 1 else list(task.skeletons)
    found = fit(texts, **_arguments(task.data))  # type: ignore[arg-type]
    return found.equation.equation.text(None)


def _floor_from_truth(task: Task) -> str:
    """Fit the constants and initial values of the truth, from the true constants on."""
    assert task.law is not None, "this floor is given the truth"
    settings = Settings(order=task.data.order, grammar="", effort=task.effort)
    with one_thread():
        prepared = prepare(_dataset(task.data), task.data.order, settings.selection.floor)
        start = Start(task.law, whole=True, patient=True)
        found = Workers(prepared, settings).fit(start, strict=False)
    if found is None:
        raise DataError("the truth cannot be solved along these data")
    return found.equation.text(None)


def _floor_on_derivatives(task: Task) -> str:
    """Fit the constants of the true skeleton to the smoothed derivatives, as most methods do."""
    prepared = prepare(_dataset(task.data), task.data.order, 1e-4)
    config = ConstantsConfig(max_constants=60)
    found = fit_constants(
        parse_skeleton(task.skeletons[0]), residual_problem(prepared.columns), config=config
    )
    if found.equation is None:
        raise ConfigError(f"the true skeleton cannot be fitted: {found.failure}")
    return found.equation.text(None)


def _dataset(data: Measured) -> Dataset:
    given = _arguments(data)
    places = ("t", "u", "velocity", "acceleration", "force", "initial")
    names = data.states if len(data.states) > 1 else None
    return make_dataset(*(given.get(place) for place in places), names=names)  # type: ignore[arg-type]


def _cheaply(form: Form) -> Callable[[Task], str]:
    """Return gode with selection by the cheap score of this form, without fits to the trajectory."""

    def work(task: Task) -> str:
        order = task.data.order
        settings = Settings(order=order, grammar=GRAMMARS[order], effort=task.effort, seed=task.seed)
        prepared = prepare(_dataset(task.data), order, settings.selection.floor)
        forms = [problem.form for problem in prepared.problems]
        if form not in forms:
            raise DataError(f"the {form} form needs u to be observed")
        interrupts = Interrupts()
        spaces = spaces_of(settings, prepared.dataset.inputs)
        regions = make_regions(spaces, prepared, settings, interrupts, SumTemplate(order=settings.order))
        archive = Archive(prepared, settings, None, Workers(prepared, settings), interrupts, {})
        explore(regions, archive, np.random.default_rng(task.seed))
        best = regions[0].objective.leaders(1, forms.index(form))
        if not best:
            raise DataError("no skeleton could be fitted")
        return best[0].equation.text(None)

    return work


def _part(name: str) -> Callable[[Task], str]:
    """Return gode with a single part of its search."""
    return lambda task: _gode(task, effort=name)


def _peer(name: str) -> Callable[[Task], str]:
    """Return a method that gives a peer the same smoothed columns that gode uses."""

    def work(task: Task) -> str:
        if task.data.states:
            return PEERS[name].find_system(task.data.t[0], task.data.signal[0], task.data.states)
        order = task.data.order
        prepared = prepare(_dataset(task.data), order, 1e-4)
        columns = before_drift(prepared.dataset, prepared.columns, prepared.noise)
        t, u, du, d2u = (np.ascontiguousarray(row) for row in columns.matrix[:4])
        force = columns.matrix[4] if task.data.force else None
        measured = prepared.noise[order]  # of the highest derivative, if that was measured
        smoothed = np.sqrt(np.mean([np.mean(s.deviations[order] ** 2) for s in prepared.smooths]))
        deviation = float(measured if np.isfinite(measured) else smoothed)
        several = len(task.data.t) > 1
        return PEERS[name].find(PeerTask(t, u, du, d2u, force, order, task.seed, deviation, several))

    return work


METHODS: dict[str, Method] = {
    "gode": Method("gode", _gode, systems=True),
    "gode-grammar": Method("gode, the paper's grammar", lambda task: _gode(task, grammar=task.suite)),
    "gode-random": Method("gode, random sentences alone", _part("random")),
    "gode-sums": Method("gode, sums of few terms alone", _part("sums")),
    "gode-latent": Method("gode, latent search alone", _part("latent")),
    "gode-moves": Method("gode, moves alone", _part("moves")),
    "gode-integral": Method("gode, decided on integrals", _cheaply(Form.INTEGRAL)),
    "gode-derivative": Method("gode, decided on derivatives", _cheaply(Form.RESIDUAL)),
    "gode-paper": Method("gode, preset paper", lambda task: _gode(task, preset="paper"), weight=20.0),
    **{
        name: Method(
            peer.title, _peer(name), peer.needs, peer.package, peer.weight, systems=bool(peer.of_systems)
        )
        for name, peer in PEERS.items()
    },
    "floor": Method("floor: true skeleton, trajectory", _floor, weight=0.3, sees_skeleton=True, systems=True),
    "floor-start": Method(
        "floor: truth, fitted from its constants",
        _floor_from_truth,
        weight=0.1,
        sees_constants=True,
        systems=True,
    ),
    "floor-derivatives": Method(
        "true skeleton, derivatives", _floor_on_derivatives, weight=0.3, sees_skeleton=True
    ),
}

"""The command line: parses and prints, decides nothing."""

import json
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from gode import __version__
from gode.errors import GodeError

if TYPE_CHECKING:
    from collections.abc import Callable

    from gode.discovery import Discovery, Step

console = Console(highlight=False)


class _Group(click.Group):
    """A group whose errors are one sentence, with exit code 2; --debug gives the traceback."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except GodeError as error:
            if ctx.params.get("debug"):
                raise
            _stop(str(error))


def _stop(sentence: str) -> NoReturn:
    click.echo(f"gode: {sentence}", err=True)
    sys.exit(2)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="gode")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def main(debug: bool) -> None:
    """Find the differential equation behind a noisy time series."""


@main.command()
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("out"), show_default=True, help="Folder."
)
def demo(out: Path) -> None:
    """Discover the equation behind an example measurement, and draw a picture."""
    from gode.data.example import load_example
    from gode.discovery import discover
    from gode.report import overview

    example = load_example("growth")
    console.print(f"The data: {len(example.t)} points. {example.truth}")
    console.print("The first run compiles the numerical core, which takes half a minute; later ones do not.")
    start = time.perf_counter()
    found = discover(example.t, example.u, order=1, on_step=_show_step(start))
    console.print(f"\nfound in {time.perf_counter() - start:.1f} s: [bold]{found.equation}[/bold]")
    _print_discovery(found)
    out.mkdir(parents=True, exist_ok=True)
    picture = out / "demo.png"
    overview(found).savefig(picture, dpi=120)
    console.print(f"picture: {picture}")


def _show_step(start: float) -> "Callable[[Step], None]":
    """Return a progress line for a terminal; silence elsewhere."""

    def show(step: "Step") -> None:
        if console.is_terminal:
            spent = time.perf_counter() - start
            line = f"{step.stage}: {step.n_fitted} fitted, {step.n_solved} solved, {spent:.0f} s  {step.best}"
            console.print(line[: console.width - 1].ljust(console.width - 1), end="\r")

    return show


def _print_discovery(found: "Discovery") -> None:
    table = Table("number", "value", "95 % interval")
    for constant in found.equation.constants:
        low, high = (constant.value + side * 1.96 * constant.error for side in (-1, 1))
        table.add_row(f"of {constant.place}", f"{constant.value:.4g}", f"{low:.4g} to {high:.4g}")
    console.print(table)
    others = found.ties[1:]
    if others:
        console.print(f"These data cannot tell it from {len(others)} other equations, such as:")
        for each in others[:3]:
            console.print(f"  {each}")


@main.command()
@click.argument("name", required=False)
def grammars(name: str | None) -> None:
    """List the grammars that come with gode, or print the one called NAME."""
    from gode.grammar import grammar_names, load_grammar

    if name:
        click.echo(load_grammar(name).text(), nl=False)
        return
    table = Table("grammar", "rules", "longest", "meaning of a sentence")
    for each in grammar_names():
        grammar = load_grammar(each)
        table.add_row(each, str(len(grammar.rules)), str(grammar.limit), grammar.template)
    console.print(table)


@main.command()
@click.argument("grammar")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder for the model.")
@click.option("--name", help="Name of the model; by default that of the grammar.")
@click.option("--source", help="Grammar to draw the library from, if another.")
@click.option("--order", type=click.IntRange(1, 2), help="Order of the equations; by default both.")
@click.option("--size", default=40_000, show_default=True, help="Skeletons in the library.")
@click.option("--latent", default=24, show_default=True, help="Dimension of the space.")
@click.option("--epochs", default=100, show_default=True)
@click.option("--seed", default=0, show_default=True)
@click.option("--device", default="cpu", show_default=True, help="cpu or cuda.")
def train(
    grammar: str, out: Path, name: str | None, source: str | None, order: int | None,
    size: int, latent: int, epochs: int, seed: int, device: str,
) -> None:  # fmt: skip
    """Train a latent space over GRAMMAR, a file or the name of one that comes with gode.

    Started again with the same options, it goes on where it stopped.

    \b
    Example:
      gode train my.grammar --out models --size 20000
    """
    from gode.grammar import load_grammar
    from gode.model.making import Making, make_model

    making = Making(
        name=name or Path(grammar).stem,
        grammar=load_grammar(grammar),
        source=load_grammar(source or grammar),
        order=order,
        size=size,
        latent=latent,
        epochs=epochs,
        seed=seed,
    )
    start = time.perf_counter()

    def show(stage: str, done: float, words: str) -> None:
        spent = time.perf_counter() - start
        left = f", {spent / done * (1 - done):.0f} s left" if done > 0 else ""
        line = f"{stage}: {100 * done:.0f} %, {spent:.0f} s{left} {words}"
        console.print(line, end="\r" if console.is_terminal else "\n", soft_wrap=True)

    figures = make_model(making, out, device=device, on_step=show)
    console.print(f"\n{out / making.name}.json: {json.dumps(figures)}")


@main.group()
def model() -> None:
    """Look at the models that come with gode, or at your own."""


@model.command("list")
def model_list() -> None:
    """List the models that come with gode."""
    from gode.model import load_model, model_names

    table = Table("model", "kind", "dimension", "exact on unseen", "unique")
    for name in model_names():
        space = load_model(name)
        figures = space.card.get("figures", {})
        shares = [f"{100 * figures[k]:.1f} %" if k in figures else "" for k in ("exact", "unique")]
        table.add_row(name, space.kind, str(space.dimension), *shares)
    console.print(table)


@model.command("check")
@click.argument("name")
@click.option("--seed", default=1, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def model_check(name: str, seed: int, as_json: bool) -> None:
    """Measure how good the space of model NAME is; takes about two minutes."""
    from gode.benchmarks.problems import truths
    from gode.model import load_model
    from gode.model.making import check_model

    space = load_model(name)
    quality = check_model(space, truths(), rng=np.random.default_rng(seed))
    if as_json:
        click.echo(json.dumps(asdict(quality)))
        return
    table = Table("figure", "value", title=f"{space.name}, {space.dimension} dimensions")
    for key, value in asdict(quality).items():
        text = json.dumps(value) if isinstance(value, dict) else f"{value:.4g}"
        table.add_row(key, text)
    console.print(table)

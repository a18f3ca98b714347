"""gode demo: an example measurement, its equation, a picture."""

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.table import Table

from gode.cli.app import console, main

if TYPE_CHECKING:
    from collections.abc import Callable

    from gode.discovery import Discovery, Step


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

"""gode demo: an example from data to picture."""

import time
from pathlib import Path

import click

from gode.cli.app import OutPath, main, say


@main.command("demo")
@click.option("--out", type=OutPath(), default=Path("out"), show_default=True, help="Folder.")
def demo_command(out: Path) -> None:
    """Discover the equation behind an example measurement, and draw a picture.

    \b
    Example:
      gode demo --out out
    """
    from gode.cli.results import print_discovery, save_results
    from gode.cli.running import compiling_ahead, live_progress
    from gode.data.example import load_example
    from gode.discovery import discover

    example = load_example("growth")
    say(f"The data: {len(example.t)} points. {example.truth}")
    say("The first run compiles the numerical core, which takes about 20 seconds; later ones do not.")
    begin = time.perf_counter()
    with compiling_ahead(), live_progress(quiet=False) as on_step:
        found = discover(example.t, example.u, order=1, on_step=on_step)
    print_discovery(found, seconds=time.perf_counter() - begin)
    for path in save_results(found, out):
        say(f"written: {path}")

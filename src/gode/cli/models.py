"""gode grammars, gode grammar learn, gode train, gode model: grammars and latent spaces."""

import json
import time
from dataclasses import asdict
from pathlib import Path

import click

from gode.cli.app import OutPath, StrictCommand, console, main, say
from gode.errors import GrammarError


@main.command("grammars")
@click.argument("name", required=False, type=click.Path())
def grammars_command(name: str | None) -> None:
    """List the grammars that come with gode, or print the one called NAME.

    \b
    Examples:
      gode grammars
      gode grammars first-order
    """
    from rich.table import Table

    from gode.grammar import grammar_names, load_grammar

    if name:
        click.echo(load_grammar(name).text(), nl=False)
        return
    table = Table("grammar", "rules", "longest", "meaning of a sentence")
    for each in grammar_names():
        grammar = load_grammar(each)
        table.add_row(each, str(len(grammar.rules)), str(grammar.limit), grammar.template)
    console().print(table)


@main.command("train")
@click.argument("grammar", type=click.Path())
@click.option("--out", type=OutPath(), required=True, help="Folder for the model.")
@click.option("--name", help="Name of the model; by default that of the grammar.")
@click.option("--source", help="Grammar to draw the library from, if another.")
@click.option("--order", type=click.IntRange(1, 2), help="Order of the equations; by default both.")
@click.option(
    "--size", type=click.IntRange(1), default=40_000, show_default=True, help="Skeletons in the library."
)
@click.option(
    "--latent", type=click.IntRange(1), default=24, show_default=True, help="Dimension of the space."
)
@click.option("--epochs", type=click.IntRange(1), default=100, show_default=True)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--device", default="cpu", show_default=True, help="cpu or cuda.")
def train_command(
    grammar: str, out: Path, name: str | None, source: str | None, order: int | None,
    size: int, latent: int, epochs: int, seed: int, device: str,
) -> None:  # fmt: skip
    """Train a latent space over GRAMMAR.

    GRAMMAR is a file or the name of one that comes with gode. A grammar of few equations needs no model:
    gode discover --grammar FILE tries them all. Started again with the same options, training goes on where
    it stopped.

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
    start, terminal = time.perf_counter(), console()

    def show(stage: str, done: float, words: str) -> None:
        spent = time.perf_counter() - start
        left = f", {spent / done * (1 - done):.0f} s left" if done > 0 else ""
        line = f"{stage}: {100 * done:.0f} %, {spent:.0f} s{left} {words}"
        terminal.print(line, end="\r" if terminal.is_terminal else "\n", soft_wrap=True)

    figures = make_model(making, out, device=device, on_step=show)
    terminal.print(f"\n{out / making.name}.json: {json.dumps(figures)}")


@main.group()
def model() -> None:
    """List and evaluate models, those of gode or your own."""


@model.command("list", cls=StrictCommand)
def model_list() -> None:
    """List the models that come with gode."""
    from rich.table import Table

    from gode.model import load_model, model_names

    table = Table("model", "kind", "dimension", "exact on unseen", "unique")
    for name in model_names():
        space = load_model(name)
        figures = space.card.get("figures", {})
        shares = [f"{100 * figures[k]:.1f} %" if k in figures else "" for k in ("exact", "unique")]
        table.add_row(name, space.kind, str(space.dimension), *shares)
    console().print(table)


@model.command("check", cls=StrictCommand)
@click.argument("name", type=click.Path())
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def model_check(name: str, seed: int, as_json: bool) -> None:
    """Evaluate the latent space of model NAME; takes about two minutes."""
    import numpy as np
    from rich.table import Table

    from gode.model import load_model
    from gode.model.making import check_model
    from gode.paper.benchmarks_sec3 import true_skeletons

    space = load_model(name)
    quality = check_model(space, true_skeletons(), rng=np.random.default_rng(seed))
    if as_json:
        click.echo(json.dumps(asdict(quality)))
        return
    table = Table("figure", "value", title=f"{space.name}, {space.dimension} dimensions")
    for key, value in asdict(quality).items():
        text = json.dumps(value) if isinstance(value, dict) else f"{value:.4g}"
        table.add_row(key, text)
    console().print(table)


KNOWN = "laws"  # stands for the laws that come with gode
FEW = 20  # laws that are named among those that cannot be written


@main.group()
def grammar() -> None:
    """Make grammars: learn the probabilities of their rules."""


@grammar.command("learn", cls=StrictCommand)
@click.argument("corpus", type=click.Path())
@click.option("--grammar", "name", required=True, help="The grammar: a file, or one that comes with gode.")
@click.option("--out", type=OutPath(), help="The grammar file to write; without it, print the grammar.")
@click.option(
    "--strength",
    type=click.FloatRange(0, min_open=True),
    help="Uses of a symbol that the grammar's own probabilities are worth; by default what predicts fields "
    "that are left out best.",
)
def learn_command(corpus: str, name: str, out: Path | None, strength: float | None) -> None:
    """Learn the probabilities of a grammar's rules from the laws in CORPUS.

    CORPUS is a text file with a law on each line, name: equation; equation, and fields in square brackets; or
    the word laws for those that come with gode. The rules stay as they are, so a model of the grammar stays
    valid.

    \b
    Examples:
      gode grammar learn laws --grammar first-order
      gode grammar learn mine.txt --grammar my.grammar --out learned.grammar
    """
    from gode.files import write_text
    from gode.grammar import load_grammar
    from gode.grammar.learning import (
        best_strength,
        cross_validated,
        learn_probabilities,
        nats,
        rounded,
    )
    from gode.prior import known_laws, load_corpus
    from gode.prior.writing import write_laws

    source = load_grammar(name)
    found = write_laws(source, known_laws() if corpus == KNOWN else load_corpus(corpus))
    if not found.written:
        raise GrammarError(
            f"no law of {corpus} can be written in grammar {source.name}: {found.beyond} equations are of "
            f"another order or in other signals, {len(found.missed)} need other rules; choose another grammar"
        )
    click.echo(_summary(source.name, found.missed, len(found.written), found.beyond), err=True)
    several = len({law.group for law in found.written}) > 1
    strength = strength or (best_strength(source, found.written) if several else 10.0)
    learned = rounded(learn_probabilities(source, found.written, strength))
    before, after = nats(source, found.written).mean(), nats(learned, found.written).mean()
    unseen = cross_validated(source, found.written, strength).mean() if several else None
    figures = f"{before:.2f} nats per equation before, {after:.2f} after"
    figures += f", {unseen:.2f} for fields that are left out" if unseen is not None else ""
    text = (
        f"# {source.name}, its probabilities learned from {len(found.written)} equations with strength "
        f"{strength:g}:\n# {figures}\n{learned.text()}"
    )
    if out is None:
        click.echo(text, nl=False)
        return
    write_text(out, text)
    say(f"{out}: {figures}")


def _summary(name: str, missed: tuple[str, ...], n_written: int, beyond: int) -> str:
    """Return what became of the laws: how many are written, beyond the grammar, and not in its language."""
    lines = [f"{n_written} equations can be written in grammar {name}"]
    if beyond:
        lines.append(f"{beyond} are of another order, or in signals that it does not have: not counted")
    if missed:
        lines.append(f"{len(missed)} cannot be written with its rules and are skipped:")
        lines += [f"  {law.replace(chr(10), ' ')}" for law in missed[:FEW]]
        lines += [f"  and {len(missed) - FEW} more"] if len(missed) > FEW else []
    return "\n".join(lines)

"""gode grammar learn: the probabilities of a grammar's rules, from laws that a field uses."""

from pathlib import Path

import click

from gode.cli.app import OutPath, StrictCommand, main, say
from gode.errors import GrammarError

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
    from gode.files import replacing
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
    with replacing(out) as draft:
        draft.write_text(text, encoding="utf-8")
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

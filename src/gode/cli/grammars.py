"""gode grammars: what may be written."""

import click

from gode.cli.app import main


@main.command()
@click.argument("name", required=False, type=click.Path())
def grammars(name: str | None) -> None:
    """List the grammars that come with gode, or print the one called NAME.

    \b
    Examples:
      gode grammars
      gode grammars first-order
    """
    from rich.table import Table

    from gode.cli.console import console
    from gode.grammar import grammar_names, load_grammar

    if name:
        click.echo(load_grammar(name).text(), nl=False)
        return
    table = Table("grammar", "rules", "longest", "meaning of a sentence")
    for each in grammar_names():
        grammar = load_grammar(each)
        table.add_row(each, str(len(grammar.rules)), str(grammar.limit), grammar.template)
    console.print(table)

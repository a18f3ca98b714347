"""A grammar of your own: write it, train a latent space on it, search in it.

The sizes are tiny, so that it takes seconds; for real work leave out --size and --epochs.
Training needs torch, the search does not.

python examples/own_grammar.py
"""

import importlib.util
import subprocess
import sys
import tempfile
from pathlib import Path

import gode
from gode.data.example import load_example

GRAMMAR = """\
# Populations: growth, crowding, harvest, and a predator that has enough at some point.
%template u' = {sentence}
%limit 24
sum -> term | term '+' sum
term -> 'C' | 'C' '*' power | 'C' '*' power '/' '(' 'C' '+' power ')' | 'C' '*' 'u' '*' 'log' '(' 'u' ')'
power -> 'u' | 'u' '^' '2' | 'u' '^' '3'
"""


def train(folder: Path) -> Path:
    """Train a space in `folder` with the command that a user would give."""
    (folder / "population.grammar").write_text(GRAMMAR, encoding="utf-8")
    command = ["train", folder / "population.grammar", "--out", folder, "--order", "1"]
    sizes = ["--size", "400", "--latent", "8", "--epochs", "20"]
    program = "from gode.cli import main; main(prog_name='gode')"
    subprocess.run([sys.executable, "-c", program, *map(str, command), *sizes], check=True)
    return folder / "population"


def main() -> None:
    """Train and discover."""
    if importlib.util.find_spec("torch") is None:
        print("This example trains a network, which needs torch: pip install 'gode-engine[train]'")
        return
    example = load_example("growth")
    with tempfile.TemporaryDirectory() as name:
        model = train(Path(name))
        found = gode.discover(example.t, example.u, order=1, grammar=str(model), effort="quick")
    print("truth:", example.truth)
    print("found:", found.equation)


if __name__ == "__main__":
    main()

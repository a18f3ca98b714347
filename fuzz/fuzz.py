"""Coverage-guided fuzzing of the readers of equations, grammars, tables and records.

    pip install atheris
    python fuzz/fuzz.py expression -max_total_time=600 [other options of libFuzzer]

The targets (tests/fuzz_targets.py) are expression, grammar, table, record and known. It starts from a corpus
and ends with a traceback, and the bytes in a file crash-*, if anything but an error of gode's own comes out.
New inputs go to out/fuzz; one that showed a bug is copied to the corpus, which the ordinary tests read too.
"""

import os
import sys
from pathlib import Path

import atheris

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
SOURCES = ROOT / "src"
COMPILED = [  # by numba, which cannot read code that is instrumented
    ".".join(path.relative_to(SOURCES).with_suffix("").parts)
    for path in SOURCES.rglob("*.py")
    if "njit" in path.read_text()
]

with atheris.instrument_imports(include=["gode"], exclude=COMPILED):
    from fuzz_targets import TARGETS


def main() -> None:
    """Fuzz the target that is named first."""
    if len(sys.argv) < 2 or sys.argv[1] not in TARGETS:
        sys.exit(f"usage: python fuzz/fuzz.py {{{','.join(TARGETS)}}} [options of libFuzzer]")
    name, options = sys.argv[1], sys.argv[2:]
    found = ROOT / "out" / "fuzz" / name
    found.mkdir(parents=True, exist_ok=True)
    usual = [f"-artifact_prefix={found}{os.sep}", "-max_len=4096", "-timeout=20", "-rss_limit_mb=2500"]
    words = [sys.argv[0], *usual, *options, str(found), str(ROOT / "fuzz" / "corpus" / name)]
    atheris.Setup(words, TARGETS[name])
    atheris.Fuzz()


if __name__ == "__main__":
    main()

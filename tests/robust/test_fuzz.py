"""The corpus of the fuzzer and random damage to it, through the same targets; see fuzz/fuzz.py."""

import json
import random
import resource
import time
from pathlib import Path

import pytest

from examples_found import fitted_oscillator
from fuzz_targets import TARGETS, expression
from gode.equation import parse_equation, parse_skeleton
from gode.errors import GodeError
from gode.grammar import Grammar
from gode.report.record import record_of

CORPUS = Path(__file__).parents[2] / "fuzz" / "corpus"
PIECES = [
    b"'",
    b'"',
    b"(",
    b")",
    b"^",
    b"*",
    b"C",
    b"u''",
    b"->",
    b"|",
    b"\n",
    b"\0",
    b"\xff",
    b"9e999",
    b"-1",
]
PIECES += [
    b"null",
    b"[",
    b"{",
    b"1e-320",
    b",",
    b";",
    b"%limit 1",
    b"inf",
    b"nan",
    "\u2028".encode(),
    b"0" * 400,
]


def seeds(name: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted((CORPUS / name).iterdir())]


def mutated(rng: random.Random, seed: bytes, other: bytes) -> bytes:
    data = bytearray(seed)
    for _ in range(rng.randint(1, 4)):
        at, length = rng.randint(0, len(data)), rng.choice([0, 1, 2, 8, 40])
        match rng.randrange(4):
            case 0:
                data[at : at + length] = rng.choice(PIECES)
            case 1:
                del data[at : at + length]
            case 2:
                data[at:at] = data[at : at + length] * rng.choice([1, 2, 30])
            case _:
                begin = rng.randint(0, len(other))
                data[at : at + length] = other[begin : begin + length]
    return bytes(data)


@pytest.mark.parametrize("name", TARGETS)
def test_the_corpus_is_there_and_passes(name):
    assert 3 <= len(seeds(name)) <= 40
    assert sum(map(len, seeds(name))) < 60_000
    for data in seeds(name):
        TARGETS[name](data)


@pytest.mark.parametrize("name", TARGETS)
def test_damaged_corpus_gives_no_traceback(name):
    mutate(name, 40)


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_much_damaged_corpus_gives_no_traceback(name):
    mutate(name, 5000)


def mutate(name: str, times: int) -> None:
    rng, known = random.Random(name), seeds(name)
    for _ in range(times):
        TARGETS[name](mutated(rng, rng.choice(known), rng.choice(known)))


def test_targets_let_no_other_error_pass(monkeypatch):
    monkeypatch.setattr("fuzz_targets.parse_skeleton", lambda text: [][0])
    with pytest.raises(IndexError):
        expression(b"u' = C*u")


HOSTILE = [
    "().__class__.__bases__[0].__subclasses__()",
    "u.__class__",
    "__import__('os').system('true')",
    "u' = __builtins__",
    "lambda: u",
    "u' = exec('1')",
    "u' = u[0]",
    "u' = {u}",
    "u' = 9^9^9^9^9^9",
    "u' = u^(9^(9^9))",
    "u' = " + "(" * 10_000 + "u" + ")" * 10_000,
    "u' = " + "sin(" * 5_000,
    "u' = " + "-" * 19_000 + "u",
    "u' = " + "u*" * 9_000 + "u",
    "u' = " + "(C+u)*" * 3_000 + "u",
    "u' = (" + "+".join(f"u^{i}" for i in range(60)) + ")^50",
    "u' = " + "+".join(f"C*sin({i}*u)" for i in range(1_200)),
    "u' = " + "1" * 19_000,
    "u' = u^" + "9" * 5_000,
    "u' = " + "u+" * 500_000 + "u",
    "\0" * 1_000_000,
    "u' = C*u" + " " * 1_000_000,
]


def complaint(read, text: str) -> str:
    """Return the sentence with which a text is refused, nothing if it is read."""
    try:
        read(text)
    except GodeError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: text[:24].replace("\0", "0"))
def test_a_hostile_expression_is_read_or_refused_soon_and_in_little_memory(text):
    begun, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for read in (parse_skeleton, parse_equation):
        assert len(complaint(read, text)) < 1000, read
    assert time.process_time() - begun < 10.0
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000  # kilobytes


@pytest.mark.parametrize(
    "text",
    [
        "a -> " + "a " * 100_000,
        "a -> " + " | ".join(f"'{i}'" for i in range(30_000)),
        "\n".join(f"a{i} -> a{i + 1} a{i + 1} | 'u'" for i in range(2_000)) + "\na2000 -> 'u'",
        "\n".join(f"a{i} -> a{i + 1}" for i in range(20_000)) + "\na20000 -> 'u'",
        "a -> b0\n" + "\n".join(f"b{i} -> b{i + 1}" for i in reversed(range(20_000))) + "\nb20000 -> 'u'",
        "\n".join(f"a{i} -> a{i + 1} a{i + 1}" for i in range(20_000)) + "\na20000 -> 'u'",
        "%limit 99999999999\na -> a a | 'u'",
        "%template " + "{sentence}" * 50_000 + "\na -> 'u'",
        "a -> 'u' [" + "9" * 10_000 + "]",
        "a" * 1_000_000,
    ],
    ids=[
        "itself",
        "wide",
        "deep",
        "chain",
        "chain from the end",
        "doubling",
        "limit",
        "template",
        "probability",
        "long",
    ],
)
def test_a_hostile_grammar_is_read_or_refused_soon(text):
    begun = time.process_time()
    assert len(complaint(Grammar.from_text, text)) < 2000
    assert time.process_time() - begun < 10.0


def test_the_record_of_the_corpus_is_one_of_this_version():
    newest = json.dumps(record_of(fitted_oscillator()))
    assert any(json.loads(data).keys() == json.loads(newest).keys() for data in seeds("record"))

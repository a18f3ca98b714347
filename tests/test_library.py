"""Libraries: different skeletons of the wanted order, reproducible, written and read without pickle."""

import io
import pickle
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from gode.equation import Skeleton, parse_tree
from gode.errors import EquationError, FileError, GrammarError
from gode.grammar import Grammar, generate, grammar_names, load_grammar, parse, sample_many
from gode.library import (
    Library,
    admitted,
    draw_library,
    load_library,
    rewrite,
    save_library,
    sentence_skeleton,
    skeleton_of,
    without_idle_parentheses,
)

SMALL = Grammar.from_text(
    "%template u' = {sentence}\n%limit 9\ns -> 'C' '*' 'u' | 'C' '*' 'u' '+' s\n", source="small"
)


@pytest.fixture(scope="module")
def library() -> Library:
    return draw_library(load_grammar("b1"), 300, order=1, rng=0)


@pytest.mark.parametrize("name", grammar_names())
def test_skeletons_are_unique(name: str):
    drawn = draw_library(load_grammar(name), 120, order=None, rng=1)
    assert len(drawn) == len(set(drawn)) == 120
    assert all(skeleton.order in (1, 2) for skeleton in drawn)


@pytest.mark.parametrize("name", grammar_names())
def test_sentence_means_what_its_text_means(name: str, rng):
    grammar = load_grammar(name)
    for derivation in sample_many(grammar, 100, rng=rng):
        tokens = generate(grammar, derivation)
        text = grammar.template.replace("{sentence}", f"({''.join(tokens)})")
        try:
            expected = Skeleton(parse_tree(text, states=("u", "v1", "v2", "v3")))
        except EquationError:  # a third derivative
            with pytest.raises(EquationError):
                sentence_skeleton(grammar, tokens)
            continue
        found = sentence_skeleton(grammar, tokens)
        assert found == expected
        assert (found.order, found.n_constants, found.inputs) == (
            expected.order,
            expected.n_constants,
            expected.inputs,
        )


def test_same_seed_gives_same_library(library):
    again = draw_library(load_grammar("b1"), 300, order=1, rng=np.random.default_rng(0))
    assert again.derivations == library.derivations
    assert draw_library(load_grammar("b1"), 300, order=1, rng=1).derivations != library.derivations


def test_shorter_library_is_the_start_of_a_longer_one(library):
    assert draw_library(load_grammar("b1"), 50, order=1, rng=0).derivations == library.derivations[:50]


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("name", ["b2-library", "implicit"])
def test_only_the_wanted_order_is_drawn(name: str, order: int):
    drawn = draw_library(load_grammar(name), 60, order=order, rng=0)
    assert {skeleton.order for skeleton in drawn} == {order}


def test_every_skeleton_holds_the_state(library):
    for skeleton in library:
        assert "u" in str(skeleton).split("=", 1)[1]


@pytest.mark.parametrize(
    ("sentence", "is_admitted"),
    [("C*v1", True), ("C*v1'+C", True), ("C*u", True), ("C*F", False), ("C", False)],
)
def test_an_equation_of_a_system_may_hold_another_state_alone(sentence: str, is_admitted: bool):
    grammar = load_grammar("systems")
    tokens = generate(grammar, parse(grammar, sentence))
    assert (admitted(grammar, tokens, 2) is not None) is is_admitted


def test_derivations_are_those_of_the_grammar(library):
    for derivation in library.derivations:
        assert parse(library.grammar, generate(library.grammar, derivation)) == derivation
        assert len(derivation) <= library.grammar.limit


@pytest.mark.parametrize("name", ["b2", "b3"])
def test_model_grammar_writes_the_same_skeletons(name: str):
    source, model = load_grammar(f"{name}-library"), load_grammar(name)
    drawn = draw_library(source, 150, order=None, rng=3, model=model)
    assert drawn.grammar is model
    assert len(set(drawn)) == len(drawn) == 150
    own = {skeleton_of(source, d) for d in sample_many(source, 400, rng=np.random.default_rng(3))}
    for derivation in drawn.derivations:
        assert len(derivation) <= model.limit
        assert parse(model, generate(model, derivation)) == derivation
    assert own & set(drawn)  # the first draws are the same in both grammars


@pytest.mark.parametrize("name", ["b2", "b3"])
def test_rewritten_sentence_means_the_same(name: str, rng):
    source, model = load_grammar(f"{name}-library"), load_grammar(name)
    rewritten = 0
    for derivation in sample_many(source, 150, rng=rng):
        found = rewrite(model, generate(source, derivation))
        if found is not None:
            rewritten += 1
            assert skeleton_of(model, found) == skeleton_of(source, derivation)
    assert rewritten > 140


def test_progress_is_reported_every_thousand():
    seen: list[int] = []
    draw_library(load_grammar("b1"), 1000, order=1, rng=0, on_step=seen.append)
    assert seen == [1000]


def test_exhausted_grammar_is_reported():
    with pytest.raises(
        GrammarError,
        match="gives only about 1 different skeletons of order 1, 5 were wanted; so few need no model",
    ):
        draw_library(SMALL, 5, order=1, rng=0)
    assert len(draw_library(SMALL, 1, order=1, rng=0)) == 1


def test_order_that_a_grammar_cannot_write_is_reported():
    with pytest.raises(GrammarError, match="only about 0 different skeletons of order 2"):
        draw_library(SMALL, 1, order=2, rng=0)


# Parentheses


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a-(b*c)", "a-b*c"),
        ("(a)", "a"),
        ("(a*b)+c", "a*b+c"),
        ("a-(0)", "a-0"),
        ("a-(b+c)", "a-(b+c)"),
        ("a*(b)", "a*(b)"),
        ("a-(b)*c", "a-(b)*c"),
        ("a-(b)/c", "a-(b)/c"),
        ("a/(b*c)", "a/(b*c)"),
        ("s(a)+b", "s(a)+b"),
        ("s((a))", "s((a))"),
        ("a-(s(b+c)*d)", "a-s(b+c)*d"),
        ("a-(s(b)-d)", "a-(s(b)-d)"),
        ("a+(b)-(c)", "a+b-c"),
        ("(b)^2", "(b)^2"),
    ],
)
def test_only_idle_parentheses_are_dropped(before: str, after: str):
    assert "".join(without_idle_parentheses(tuple(before))) == after


# Files


def test_library_survives_its_file(library, tmp_path: Path):
    path = tmp_path / "b1.library"
    save_library(library, path)
    back = load_library(path)
    assert back.derivations == library.derivations
    assert back.grammar.text() == library.grammar.text()
    assert back.grammar.name == library.grammar.name
    assert list(back)[:20] == list(library)[:20]


def test_name_with_dots_survives_its_file(tmp_path: Path):
    grammar = Grammar.from_text(SMALL.text(), source="v1.2.grammar")
    save_library(Library(grammar, ((0,),)), tmp_path / "x")
    assert load_library(tmp_path / "x").grammar.name == grammar.name == "v1.2"


def test_empty_library_survives_its_file(tmp_path: Path):
    save_library(Library(SMALL, ()), tmp_path / "empty")
    assert load_library(tmp_path / "empty").derivations == ()


def test_file_holds_no_pickle(library, tmp_path: Path):
    save_library(library, tmp_path / "x")
    with np.load(tmp_path / "x", allow_pickle=False) as stored:
        assert all(stored[key].dtype != object for key in stored.files)


def stored_parts(library: Library, path: Path) -> dict[str, np.ndarray]:
    save_library(library, path)
    with np.load(path) as stored:
        return {key: stored[key] for key in stored.files}


def test_truncated_and_corrupt_files_are_refused(library, tmp_path: Path):
    path = tmp_path / "x"
    save_library(library, path)
    good = path.read_bytes()
    for length in (0, 1, 10, 100, len(good) // 2, len(good) - 1):
        path.write_bytes(good[:length])
        with pytest.raises(FileError, match="no library that gode wrote"):
            load_library(path)
    for i in range(30, len(good), len(good) // 60):
        path.write_bytes(good[:i] + bytes([good[i] ^ 0xFF]) + good[i + 1 :])
        with suppress(FileError):
            assert load_library(path).derivations == library.derivations  # the byte did not matter


@pytest.mark.parametrize("kind", ["missing", "folder", "text", "pickle", "npy", "pickled npy", "zip", "npz"])
def test_foreign_files_are_refused(kind: str, tmp_path: Path):
    path = tmp_path / "x"
    npy, npz = io.BytesIO(), io.BytesIO()
    np.save(npy, np.arange(3))
    np.savez(npz, a=np.arange(3))
    content = {
        "text": b"hello",
        "pickle": pickle.dumps({"a": 1}),
        "npy": npy.getvalue(),
        "npz": npz.getvalue(),
    }
    if kind in content:
        path.write_bytes(content[kind])
    elif kind == "folder":
        path.mkdir()
    elif kind == "pickled npy":
        with path.open("wb") as file:
            np.save(file, np.array([{"a": 1}], object), allow_pickle=True)
    elif kind == "zip":
        with zipfile.ZipFile(path, "w") as file:
            file.writestr("hello.txt", "hello")
    with pytest.raises(FileError, match="no library that gode wrote"):
        load_library(path)


class Trap:
    """Unpickling this would raise."""

    def __reduce__(self):
        return pytest.fail, ("the file was unpickled",)


def test_pickle_inside_a_library_is_refused(library, tmp_path: Path):
    path = tmp_path / "x"
    parts = stored_parts(library, path) | {"name": np.array([Trap()], object)}
    with path.open("wb") as file:
        np.savez(file, **parts)
    with pytest.raises(FileError, match="no library that gode wrote"):
        load_library(path)


@pytest.mark.parametrize(
    "changes",
    [
        {"lengths": np.array([1, 2, 3])},
        {"lengths": np.array([-1, 5])},
        {"lengths": np.zeros((2, 2), int)},
        {"lengths": np.array(["a"])},
        {"rules": np.array([9999])},
        {"rules": np.array([-1])},
        {"grammar": np.array("no grammar")},
    ],
    ids=str,
)
def test_inconsistent_files_are_refused(changes, tmp_path: Path):
    path = tmp_path / "x"
    one = draw_library(SMALL, 1, order=1, rng=0)
    parts = stored_parts(one, path) | changes
    with path.open("wb") as file:
        np.savez(file, **parts)
    with pytest.raises(FileError, match="draw it anew"):
        load_library(path)


def test_other_format_is_named(library, tmp_path: Path):
    path = tmp_path / "x"
    parts = stored_parts(library, path) | {"format": np.array("gode-library-99")}
    with path.open("wb") as file:
        np.savez(file, **parts)
    with pytest.raises(FileError, match="has format gode-library-99, expected gode-library-1"):
        load_library(path)

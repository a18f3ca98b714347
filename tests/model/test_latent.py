"""LatentSpace: points and skeletons, and models on disk that are refused unless they are whole."""

import hashlib
import json
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load, save

from gode.equation import parse_skeleton
from gode.errors import ModelError
from gode.grammar import generate, load_grammar, sample_many
from gode.model import LatentSpace, load_model, model_names
from gode.model.latent import read_model, write_model
from model_spaces import SMALL, book_of, library_of, random_space, random_weights

each_kind = pytest.mark.parametrize("kind", ["gode", "paper"])


@pytest.fixture
def space(rng) -> LatentSpace:
    return random_space(SMALL, rng, terms=["+C", "+C*u", "+C*u^2", "+C*sin(C*u)", "+C*exp(C*t)"])


# Points


@each_kind
def test_points_have_the_dimension(kind: str, rng):
    space = random_space(SMALL, rng, kind=kind)
    derivations = list(sample_many(SMALL, 7, rng=rng))
    z = space.encode_derivations(derivations)
    assert z.shape == (7, space.dimension) == (7, 5)
    assert z.dtype == np.float32
    assert len(space.decode(z)) == 7
    assert space.encode_derivations([]).shape == (0, 5)
    assert space.decode_derivations(np.zeros((0, 5))) == []


def test_skeleton_and_its_derivation_have_the_same_point(space):
    skeleton = parse_skeleton("u' = C*u^2 + C*sin(C*u)")
    derivation = space.book.write(skeleton)
    assert space.meaning(derivation) == skeleton
    np.testing.assert_array_equal(space.encode([skeleton]), space.encode_derivations([derivation]))


def test_skeleton_without_words_is_an_error(space):
    with pytest.raises(ModelError, match="grammar small cannot write u' = C\\*tanh\\(u\\)"):
        space.encode([parse_skeleton("u' = C*tanh(u)")])


@each_kind
def test_derivation_beyond_the_limit_is_an_error(kind: str, rng):
    space = random_space(SMALL, rng, kind=kind)
    with pytest.raises(ModelError, match="a derivation has 100 rules, the limit of small is 24"):
        space.encode_derivations([(0,) * 100])


@each_kind
def test_far_points_decode_too(kind: str, rng):
    space = random_space(SMALL, rng, kind=kind)
    far = np.array([np.zeros(5), np.full(5, 1e6), np.full(5, -1e300), rng.standard_normal(5) * 1e30])
    for derivation in space.decode_derivations(far):
        assert generate(SMALL, derivation)


def test_one_point_is_a_batch_of_one(space, rng):
    z = rng.standard_normal(5)
    assert space.decode(z) == space.decode(z[None])
    assert space.decode(list(z)) == space.decode(z)


@pytest.mark.parametrize(
    "z", [np.zeros(4), np.zeros((3, 6)), np.zeros((2, 2, 5)), np.float64(1), []], ids=np.shape
)
def test_wrong_shape_is_an_error(space, z):
    with pytest.raises(ModelError, match="points of small have 5 coordinates, got shape"):
        space.decode(z)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_points_must_be_finite(space, bad: float):
    with pytest.raises(ModelError, match="points must be finite"):
        space.decode(np.array([[0, 0, 0, 0, bad]]))


@pytest.mark.parametrize("z", ["hello", [[1, 2], [3]], [None] * 5])
def test_points_must_be_numbers(space, z):
    with pytest.raises(ModelError, match="points must"):
        space.decode(z)


@each_kind
def test_switched_off_rules_never_appear(kind: str, rng):
    space = random_space(load_grammar("b1"), rng, kind=kind)
    small = space.without("log", "t")
    z = 3 * rng.standard_normal((200, 5))
    tokens = {
        t for d in small.decode_derivations(z, temperature=2.0, rng=rng) for t in generate(space.grammar, d)
    }
    assert not tokens & {"log", "t"}
    before = {
        t for d in space.decode_derivations(z, temperature=2.0, rng=rng) for t in generate(space.grammar, d)
    }
    assert {"log", "t"} <= before
    assert small.network is space.network


def test_sampling_repeats_with_the_rng(space, rng):
    z = rng.standard_normal((50, 5))
    draws = [space.decode_derivations(z, temperature=1.0, rng=np.random.default_rng(s)) for s in (1, 1, 2)]
    assert draws[0] == draws[1] != draws[2]
    assert space.decode_derivations(z, temperature=0.0, rng=rng) == space.decode_derivations(z)


@pytest.mark.parametrize("temperature", [-1.0, np.nan, np.inf])
def test_bad_temperature_is_an_error(space, temperature: float, rng):
    with pytest.raises(ModelError, match="temperature must be 0"):
        space.decode(np.zeros(5), temperature=temperature, rng=rng)


def test_temperature_needs_an_rng(space):
    with pytest.raises(ModelError, match=r"got 1\.0 without an rng"):
        space.decode(np.zeros(5), temperature=1.0)


@pytest.mark.parametrize("sentence", ["C*diff(diff(diff(u,t),t),t)-0", "C*u-C"])
def test_sentence_without_a_solvable_derivative_means_nothing(sentence: str, rng):
    from gode.grammar import parse

    space = random_space(load_grammar("b2"), rng)
    assert space.meaning(parse(space.grammar, sentence)) is None
    assert space.meaning(parse(space.grammar, "C*diff(u,t)-C")) is not None


def test_truncated_plan_is_not_rebuilt(space):
    assert space.plan is space.plan
    assert space.book is space.book
    assert space.without("exp").plan is not space.plan


# Models on disk


@pytest.fixture
def folder(tmp_path: Path, rng) -> Path:
    write_model(
        tmp_path, "m", "gode", SMALL, random_weights("gode", SMALL, rng), {"terms": ["+C*u"], "seed": 3}
    )
    return tmp_path


def change(folder: Path, **changes) -> None:
    card = json.loads((folder / "m.json").read_text()) | changes
    (folder / "m.json").write_text(json.dumps({k: v for k, v in card.items() if v is not None}))


def put_weights(folder: Path, content: bytes) -> None:
    """Put other weights in place and sign the card for them."""
    (folder / "m.safetensors").write_bytes(content)
    change(folder, weights_hash=hashlib.sha256(content).hexdigest())


@each_kind
def test_model_survives_its_files(kind: str, tmp_path: Path, rng):
    weights = random_weights(kind, SMALL, rng)
    half = {k: v.astype(np.float16).astype(np.float32) for k, v in weights.items()}
    write_model(tmp_path, "v1.2", kind, SMALL, weights, {"terms": book_of(library_of("b1", 5)), "seed": 3})
    for name in (tmp_path / "v1.2", str(tmp_path / "v1.2"), tmp_path / "v1.2.json"):
        back = load_model(name)
        assert (back.name, back.kind, back.dimension, back.card["seed"]) == ("v1.2", kind, 5, 3)
        assert back.grammar == SMALL
    network = random_space(SMALL, rng, kind=kind).network.__class__(half)
    z = rng.standard_normal((20, 5)).astype(np.float32)
    ours = LatentSpace("x", kind, SMALL, network, {"terms": []})
    assert back.decode_derivations(z) == ours.decode_derivations(z)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["v1.2.json", "v1.2.safetensors"]


def test_card_says_what_the_model_is(folder: Path):
    card = json.loads((folder / "m.json").read_text())
    assert card["grammar"] == SMALL.text()
    assert card["shapes"]["rule.weight"] == [len(SMALL.rules) + 1, 4]


@pytest.mark.parametrize("name", ["no such model", "", "/", "a/b", "weights.safetensors", "\0"])
def test_unknown_name_is_an_error(name: str):
    with pytest.raises(ModelError, match="there is no model"):
        load_model(name)


def test_missing_weights_are_named(folder: Path):
    (folder / "m.safetensors").unlink()
    with pytest.raises(ModelError, match=r"no weights beside it; expected .*m\.safetensors"):
        load_model(folder / "m")


def test_truncated_and_damaged_weights_are_refused(folder: Path):
    path = folder / "m.safetensors"
    good = path.read_bytes()
    for cut in (0, 1, 7, 8, 100, len(good) // 2, len(good) - 1):
        path.write_bytes(good[:cut])
        with pytest.raises(ModelError, match="not those it was written for, or are damaged"):
            load_model(folder / "m")
        put_weights(folder, good[:cut])  # even if the card was signed for them
        with pytest.raises(ModelError, match="weights cannot be read"):
            load_model(folder / "m")
        change(folder, weights_hash=hashlib.sha256(good).hexdigest())
    path.write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
    with pytest.raises(ModelError, match="damaged"):
        load_model(folder / "m")


class Trap:
    """Unpickling this would raise."""

    def __reduce__(self):
        return pytest.fail, ("the file was unpickled",)


def test_pickle_is_no_model(folder: Path):
    put_weights(folder, pickle.dumps(Trap()))
    with pytest.raises(ModelError, match="weights cannot be read"):
        load_model(folder / "m")


def test_weights_of_something_else_are_refused(folder: Path, rng):
    put_weights(folder, save({"a": np.zeros(3, np.float32)}))
    with pytest.raises(ModelError, match="weights of something else"):
        load_model(folder / "m")
    other = random_weights("gode", load_grammar("b1"), rng)
    put_weights(folder, save(other))
    with pytest.raises(ModelError, match="weights of something else"):
        load_model(folder / "m")


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_weights_must_be_finite(folder: Path, value: float):
    tensors = load((folder / "m.safetensors").read_bytes())
    tensors["out.bias"] = np.full_like(tensors["out.bias"], value)
    put_weights(folder, save(tensors))
    with pytest.raises(ModelError, match="no finite floats"):
        load_model(folder / "m")
    with pytest.raises(ModelError, match="not finite or beyond"):
        write_model(folder, "m", "gode", SMALL, tensors, {"terms": []})


def test_weights_must_be_floats(folder: Path):
    tensors = load((folder / "m.safetensors").read_bytes())
    tensors["out.bias"] = tensors["out.bias"].astype(np.int64)
    put_weights(folder, save(tensors))
    with pytest.raises(ModelError, match="no finite floats"):
        load_model(folder / "m")


def test_weights_too_large_for_half_precision_are_not_written(folder: Path, rng):
    weights = random_weights("gode", SMALL, rng)
    weights["out.bias"][0] = 1e5
    with pytest.raises(ModelError, match="beyond 65504"):
        write_model(folder, "m", "gode", SMALL, weights, {"terms": []})


@pytest.mark.parametrize(
    ("old", "new"), [("'sin'", "'cos'"), ("u' =", "u'' ="), ("%limit 24", "%limit 25"), ("'2'", "'4'")]
)
def test_changed_grammar_is_refused(folder: Path, old: str, new: str):
    text = SMALL.text()
    assert old in text
    change(folder, grammar=text.replace(old, new))
    with pytest.raises(ModelError, match="does not match its hash"):
        load_model(folder / "m")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"grammar": "no grammar"}, "the grammar on the card is broken"),
        ({"grammar_hash": "0" * 64}, "does not match its hash"),
        ({"format": "gode-model-99"}, "expected a card of format gode-model-1"),
        ({"format": None}, "expected a card of format gode-model-1"),
        ({"kind": "other"}, "of kind 'other', known are gode, paper"),
        ({"kind": "paper"}, "weights of something else"),
        ({"terms": [1, 2]}, "terms on the card must be texts"),
        ({"terms": "C"}, "lacks 'terms', or it is no list"),
        *[
            ({key: None}, f"lacks '{key}'")
            for key in ("name", "kind", "grammar", "grammar_hash", "weights_hash", "shapes", "terms")
        ],
    ],
    ids=str,
)
def test_faulty_card_is_refused(folder: Path, changes, reason: str):
    change(folder, **changes)
    with pytest.raises(ModelError, match=reason):
        load_model(folder / "m")


@pytest.mark.parametrize(
    "content", [b"", b"hello", b"{", b"\xff\xfe\x00", b"[" * 100_000, b"[]", b"null", b"3"]
)
def test_card_that_is_no_card_is_refused(folder: Path, content: bytes):
    (folder / "m.json").write_bytes(content)
    with pytest.raises(ModelError, match=r"not JSON|expected a card"):
        load_model(folder / "m")


def test_terms_the_grammar_has_not_are_an_error_once_needed(folder: Path):
    change(folder, terms=["+C*tanh(u)"])
    space = load_model(folder / "m")
    with pytest.raises(ModelError, match="the terms of grammar m are broken"):
        space.encode([parse_skeleton("u' = C*u")])


def test_huge_file_is_refused(folder: Path, monkeypatch):
    monkeypatch.setattr("gode.model.latent.MAX_FILE", 1000)
    with pytest.raises(ModelError, match="holds more than 1000 bytes"):
        load_model(folder / "m")


def test_error_names_the_file(folder: Path):
    with pytest.raises(ModelError, match="somewhere: the card is not JSON"):
        read_model(b"x", b"", "somewhere")


def test_shipped_models_load():
    for name in model_names():
        space = load_model(name)
        assert space.name == name
        assert len(space.decode(np.zeros((2, space.dimension)))) == 2


def test_torch_is_not_needed():
    code = "import sys, gode.model, gode.model.making, gode.model.making; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)

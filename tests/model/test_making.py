"""Making a model, from a grammar to files that load; checking it; and the commands for both."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from gode.cli import main
from gode.errors import ConfigError, FileError
from gode.grammar import load_grammar
from gode.library import draw_library
from gode.model import load_model
from gode.model.choices import is_held_out
from gode.model.making import Making, check_model, make_model, unseen_library
from model_spaces import SMALL, random_space

SHORT = {"order": 1, "size": 150, "latent": 4, "epochs": 12, "seed": 0}


def making(**changes) -> Making:
    return Making(**{"name": "tiny", "grammar": SMALL, "source": SMALL, **SHORT, **changes})


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    make_model(making(), folder, device="cpu")
    return folder


@pytest.mark.torch
def test_made_model_loads_and_says_how_it_was_made(made: Path):
    space = load_model(made / "tiny")
    card = space.card
    assert space.dimension == 4
    assert card["recipe"]["size"] == 150
    assert card["recipe"]["source"] == SMALL.text()
    assert len(card["epochs"]) == card["figures"]["epochs"] == 12
    assert 0 <= card["figures"]["exact"] <= 1
    library = draw_library(SMALL, 150, order=1, rng=0)
    assert space.encode(list(library)).shape == (150, 4)
    assert not list(made.glob("*.part*"))


@pytest.mark.torch
def test_interrupted_making_goes_on_to_the_same_model(made: Path, tmp_path: Path):
    """Stopped in epoch 7, the second call takes the library and the state of epoch 5 from disk."""

    def interrupt(stage: str, done: float, words: str) -> None:
        if stage == "training" and done >= 7 / 12:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_model(making(), tmp_path, device="cpu", on_step=interrupt)
    assert [p.suffix for p in tmp_path.glob("*.part")] == [".part"]
    stages = []
    make_model(making(), tmp_path, device="cpu", on_step=lambda *step: stages.append(step))
    assert min(done for stage, done, _ in stages if stage == "training") == 6 / 12
    assert not [s for s in stages if s[0] == "drawing skeletons"]
    assert (tmp_path / "tiny.safetensors").read_bytes() == (made / "tiny.safetensors").read_bytes()


@pytest.mark.torch
def test_progress_is_reported(tmp_path: Path):
    seen = []
    make_model(making(epochs=2), tmp_path, device="cpu", on_step=lambda *step: seen.append(step))
    assert seen[0] == ("measuring behaviour", 0.0, "")
    assert [(stage, done) for stage, done, _ in seen[1:]] == [("training", 0.5), ("training", 1.0)]
    assert seen[-1][2].startswith("epoch 2, loss ")


@pytest.mark.torch
def test_broken_state_is_an_error(tmp_path: Path):
    from safetensors.numpy import save

    path = tmp_path / f"tiny.{making().digest()}.part"
    for content in (b"hello", save({"a": np.zeros(2)})):
        path.write_bytes(content)
        with pytest.raises(FileError, match=r"no state of a training.*delete it to start anew"):
            make_model(making(), tmp_path, device="cpu")


@pytest.mark.torch
@pytest.mark.parametrize("device", ["abacus", "cuda:99"])
def test_unknown_device_is_an_error(tmp_path: Path, device: str):
    with pytest.raises(ConfigError, match=f"there is no device '{device}' here"):
        make_model(making(), tmp_path, device=device)


def test_missing_torch_is_an_error_before_anything_is_drawn(tmp_path: Path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "gode.model.training", raising=False)
    with pytest.raises(ConfigError, match="training needs torch; install it with: pip install"):
        make_model(making(), tmp_path, device="cpu")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "changes",
    [{"size": 99}, {"latent": 0}, {"epochs": 0}, {"seed": -1}, {"name": ""}, {"name": "a/b"}],
    ids=str,
)
def test_bad_recipe_is_an_error(changes):
    with pytest.raises(ConfigError):
        making(**changes)


def test_digest_tells_recipes_apart():
    digests = {making(**c).digest() for c in ({}, {"seed": 1}, {"size": 200}, {"order": None}, {"latent": 5})}
    assert len(digests) == 5
    assert making().digest() == making(name="other").digest()


def test_unseen_skeletons_are_held_out_and_new():
    source, model = load_grammar("b2-library"), load_grammar("b2")
    library = draw_library(source, 200, order=None, rng=0, model=model)
    unseen = unseen_library(library, source, None, 15, rng=np.random.default_rng(1))
    assert len(unseen) == len(set(unseen)) == 15
    assert all(is_held_out(skeleton) for skeleton in unseen)
    assert not set(unseen) & set(library)
    assert unseen.grammar is model


def test_small_grammar_gives_what_it_has(monkeypatch):
    from gode.grammar import Grammar

    tiny = Grammar.from_text(
        "%template u' = {sentence}\ns -> 'C' '*' 'u' | 'C' '*' 'u' '^' '2'\n", source="tiny"
    )
    monkeypatch.setattr("gode.model.making.DRAWS_PER_UNSEEN", 20)
    library = draw_library(tiny, 2, order=1, rng=0)
    assert len(unseen_library(library, tiny, 1, 5, rng=np.random.default_rng(0))) == 0


def test_model_without_a_recipe_cannot_be_checked(rng):
    with pytest.raises(FileError, match="does not say how the model was made"):
        check_model(random_space(SMALL, rng), (), rng=rng)


# The commands


@pytest.fixture(scope="module")
def grammar_file(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("grammar") / "tiny.grammar"
    path.write_text(SMALL.text())
    return path


@pytest.mark.torch
def test_train_command_writes_a_model(grammar_file: Path, tmp_path: Path):
    options = ["--out", str(tmp_path), "--order", "1", "--size", "150", "--latent", "4", "--epochs", "2"]
    done = CliRunner().invoke(main, ["train", str(grammar_file), *options])
    assert done.exit_code == 0, done.output
    assert "epoch 2, loss" in done.output
    assert '"exact_held_out"' in done.output
    assert load_model(tmp_path / "tiny").name == "tiny"


@pytest.mark.slow
@pytest.mark.torch
def test_check_command_measures(made: Path, monkeypatch):
    monkeypatch.setattr("gode.model.making.N_UNSEEN", 10)
    checked = CliRunner().invoke(main, ["model", "check", str(made / "tiny"), "--json"])
    assert checked.exit_code == 0, checked.output
    figures = json.loads(checked.output)
    assert figures["valid"] == 1
    assert set(figures["locality"]) == {"0.05", "0.1", "0.2", "0.5"}
    table = CliRunner().invoke(main, ["model", "check", str(made / "tiny")])
    assert "random_pair" in table.output


def test_list_command_lists():
    done = CliRunner().invoke(main, ["model", "list"])
    assert done.exit_code == 0, done.output
    assert "exact on unseen" in done.output


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["model", "check", "nothing"], "there is no model 'nothing'"),
        (["train", "nothing", "--out", "x"], "no grammar is called 'nothing'"),
        (["train", "b1", "--out", "x", "--size", "5"], "teaches nothing"),
    ],
)
def test_command_says_what_is_wrong_in_a_sentence(arguments: list[str], reason: str):
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 2
    assert reason in done.output
    assert "Traceback" not in done.output

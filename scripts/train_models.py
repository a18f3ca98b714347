"""Retrain all models that come with the package.

    python scripts/train_models.py prepare DIR             # libraries and corpora; processor only
    python scripts/train_models.py train DIR NAME ...      # several at once on one GPU
    python scripts/train_models.py ship DIR                # check them, write cards into the package

Ours: one network per grammar. The paper's: its own network on the same libraries, `NAME-paper`.
"""

import argparse
import json
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Spec:
    """What one model is trained on."""

    source: str
    model: str
    order: int | None
    n: int
    latent: int
    paper: dict[str, object] | None = None  # the paper's settings for its own network


SPECS = {
    "b1": Spec(
        "b1",
        "b1",
        1,
        42_000,
        24,
        {
            "latent": 24,
            "kernels": (7, 8, 9),
            "dense": 80,
            "n": 10_000,
            "kl_weight": 1e-3,
            "patience": 400,
            "lowest_rate": 5e-5,
        },
    ),
    "b2": Spec(
        "b2-library",
        "b2",
        None,
        53_000,
        32,
        {
            "latent": 26,
            "kernels": (7, 7, 7),
            "dense": 100,
            "n": 50_000,
            "kl_weight": 1e-4,
            "patience": 500,
            "lowest_rate": 1e-4,
        },
    ),
    "b3": Spec(
        "b3-library",
        "b3",
        None,
        53_000,
        32,
        {
            "latent": 21,
            "kernels": (7, 8, 9),
            "dense": 100,
            "n": 40_000,
            "kl_weight": 1e-4,
            "patience": 500,
            "lowest_rate": 1e-4,
        },
    ),
    "first-order": Spec("first-order", "first-order", 1, 53_000, 24),
    "second-order": Spec("second-order", "second-order", 2, 53_000, 32),
    "implicit": Spec("implicit", "implicit", None, 53_000, 32),
}


def prepare(folder: Path, names: list[str]) -> None:
    from gode.grammar import load_grammar
    from gode.library import draw_library, save_library
    from gode.model.behaviour import behaviour_of, make_yardstick
    from gode.model.corpus import is_held_out, make_corpus, save_corpus

    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        spec = SPECS[name]
        start = time.perf_counter()
        library = draw_library(
            load_grammar(spec.source), spec.n, order=spec.order, rng=0, model=load_grammar(spec.model)
        )
        save_library(library, folder / f"{name}.library.npz")
        drawn = time.perf_counter() - start
        skeletons = list(library)
        yardstick = make_yardstick(skeletons, rng=np.random.default_rng(1))
        behaviour = behaviour_of(skeletons, yardstick)
        held = np.array([is_held_out(s) for s in skeletons])
        save_corpus(make_corpus(library, held, behaviour), folder / f"{name}.corpus.npz")
        print(
            f"{name}: {len(library)} drawn in {drawn:.0f} s, all in {time.perf_counter() - start:.0f} s, "
            f"{held.sum()} held out, behaviour in use {np.mean(behaviour.any(1)):.2f}",
            flush=True,
        )


def train(folder: Path, names: list[str], seconds: float, device: str) -> None:
    for label in names:
        name, _, variant = label.partition("+")
        if variant == "paper":
            train_one_paper(folder, name, seconds, device)
        else:
            train_one(folder, name, variant, seconds, device)


def train_one(folder: Path, name: str, variant: str, seconds: float, device: str) -> None:
    from gode.model.corpus import Corpus, load_corpus
    from gode.model.gvae import Sizes
    from gode.model.training import TrainConfig
    from gode.model.training import train as train_ours

    corpus = load_corpus(folder / f"{name}.corpus.npz")
    weight = {"": 0.0, "plain": 0.0, "behaviour": 2.0, "strong": 10.0}[variant]
    if not weight:
        corpus = Corpus(corpus.rules, corpus.heads, corpus.lengths, corpus.allowed, corpus.held_out)
    n_heads, n_rules = corpus.allowed.shape
    sizes = Sizes(
        n_rules=n_rules,
        n_heads=n_heads,
        latent=SPECS[name].latent,
        behaviour=corpus.behaviour.shape[1] if weight else 0,
    )
    config = TrainConfig(epochs=EPOCHS, behaviour_weight=weight, max_seconds=seconds, enough=1.1, batch=BATCH)
    log = (folder / f"{name}+{variant}.log").open("w")

    def show(record, _state) -> None:
        print(json.dumps(asdict(record)), file=log, flush=True)

    trained = train_ours(corpus, sizes, config=config, device=device, on_step=show)
    np.savez(folder / f"{name}+{variant}.weights.npz", **trained.weights)
    best = max(trained.epochs, key=lambda e: e.exact)
    print(
        f"{name}+{variant}: exact {best.exact:.4f} at epoch {best.number}, {trained.epochs[-1].seconds:.0f} s, kl {best.kl:.1f}",
        flush=True,
    )


def train_one_paper(folder: Path, name: str, seconds: float, device: str) -> None:
    from gode.library import load_library
    from gode.model.corpus import load_corpus
    from gode.model.gvae import PaperSizes
    from gode.model.paper_training import PaperTrainConfig, train_paper
    from gode.model.plan import padded

    spec = SPECS[name].paper
    library = load_library(folder / f"{name}.library.npz")
    held = load_corpus(folder / f"{name}.corpus.npz").held_out
    kept = [d for d, out in zip(library.derivations, held, strict=True) if not out][: spec["n"]]
    n_rules, n_max = len(library.grammar.rules), library.grammar.limit
    rules, _ = padded(kept, n_rules, n_max)
    sizes = PaperSizes(
        n_rules=n_rules + 1, n_max=n_max, latent=spec["latent"], kernels=spec["kernels"], dense=spec["dense"]
    )
    config = PaperTrainConfig(
        kl_weight=spec["kl_weight"],
        patience=spec["patience"],
        lowest_rate=spec["lowest_rate"],
        max_seconds=seconds,
    )
    log = (folder / f"{name}+paper.log").open("w")

    def show(record) -> None:
        if record.number % 10 == 0:
            print(json.dumps(asdict(record)), file=log, flush=True)

    trained = train_paper(rules, sizes, config=config, device=device, on_step=show)
    np.savez(folder / f"{name}+paper.weights.npz", **trained.weights)
    last = trained.epochs[-1]
    print(
        f"{name}+paper: {last.number + 1} epochs, {last.seconds:.0f} s, validation loss {min(e.reconstruction for e in trained.epochs):.6f}",
        flush=True,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("stage", choices=["prepare", "train"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--batch", type=int, default=512)
    given = parser.parse_args()
    EPOCHS, BATCH = given.epochs, given.batch
    sys.stdout.reconfigure(line_buffering=True)
    if given.stage == "prepare":
        prepare(given.folder, given.names or list(SPECS))
    else:
        train(given.folder, given.names, given.seconds, given.device)

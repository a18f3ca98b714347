"""Retrain all models that come with the package.

    python scripts/train_models.py prepare DIR             # libraries and corpora; processor only
    python scripts/train_models.py train DIR NAME ...      # several at once on one GPU
    python scripts/train_models.py ship DIR NAME+VARIANT ...    # check, write into the package

Ours: one network per grammar. The paper's: its own network on the same libraries, `NAME+paper`, shipped as
`NAME-paper`. DIR holds the libraries, --trained (by default DIR) the weights and logs of training.
"""

import argparse
import json
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

WEIGHTS = ".weights.npz"
MAX_CARD = 200_000  # bytes
CHECK_SEED = 1


@dataclass(frozen=True)
class Spec:
    """What one model is trained on."""

    source: str
    model: str
    order: int | None
    n: int
    latent: int
    encoder: int = 128
    decoder: int = 192
    kl_weight: float = 0.1
    behaviour_weight: float = 2.0
    paper: dict[str, object] | None = None  # the paper's settings for its own network


OURS = ("first-order", "second-order", "implicit")
DRAWN_LIMIT = 60  # rules of the longest sentences that our default models learn; they write up to 40

SPECS = {
    "b1": Spec(
        "b1",
        "b1",
        1,
        42_000,
        24,
        paper={
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
        paper={
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
        paper={
            "latent": 21,
            "kernels": (7, 8, 9),
            "dense": 100,
            "n": 40_000,
            "kl_weight": 1e-4,
            "patience": 500,
            "lowest_rate": 1e-4,
        },
    ),
    "first-order": Spec("first-order", "first-order", 1, 53_000, 32, 160, 224, 0.06, 1.0),
    "second-order": Spec("second-order", "second-order", 2, 53_000, 32, 160, 224, 0.06, 1.0),
    "implicit": Spec("implicit", "implicit", None, 53_000, 32, 160, 224, 0.06, 1.0),
}


def prepare(folder: Path, names: list[str]) -> None:
    """Draw the library of each model and measure its behaviour."""
    from gode.grammar import load_grammar
    from gode.library import draw_library, save_library
    from gode.model.behaviour import behaviour_of, make_yardstick
    from gode.model.corpus import is_held_out, make_corpus, save_corpus

    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        spec = SPECS[name]
        start = time.perf_counter()
        source = load_grammar(spec.source)
        model = source if spec.model == spec.source else load_grammar(spec.model)
        longest = DRAWN_LIMIT if name in OURS else source.limit
        library = draw_library(source, spec.n, order=spec.order, rng=0, model=model, max_rules=longest)
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
    """Train the models NAME+VARIANT, one after the other."""
    for label in names:
        name, _, variant = label.partition("+")
        if variant == "paper":
            train_one_paper(folder, name, seconds, device)
        else:
            train_one(folder, name, variant, seconds, device)


def train_one(folder: Path, name: str, variant: str, seconds: float, device: str) -> None:
    """Train our network."""
    from gode.model.corpus import Corpus, load_corpus
    from gode.model.gvae import Sizes
    from gode.model.training import TrainConfig
    from gode.model.training import train as train_ours

    corpus = load_corpus(folder / f"{name}.corpus.npz")
    spec = SPECS[name]
    weight = 0.0 if variant == "plain" else spec.behaviour_weight
    if not weight:
        corpus = Corpus(corpus.rules, corpus.heads, corpus.lengths, corpus.allowed, corpus.held_out)
    n_heads, n_rules = corpus.allowed.shape
    sizes = Sizes(
        n_rules=n_rules,
        n_heads=n_heads,
        latent=spec.latent,
        encoder=spec.encoder,
        decoder=spec.decoder,
        behaviour=corpus.behaviour.shape[1] if weight else 0,
    )
    config = TrainConfig(
        epochs=EPOCHS,
        behaviour_weight=weight,
        kl_weight=spec.kl_weight,
        max_seconds=seconds,
        enough=1.1,
        batch=BATCH,
    )
    log = (folder / f"{name}+{variant}.log").open("w")

    def show(record, _state) -> None:
        print(json.dumps(asdict(record)), file=log, flush=True)

    trained = train_ours(corpus, sizes, config=config, device=device, on_step=show)
    np.savez(folder / f"{name}+{variant}.weights.npz", **trained.weights)
    best = max(trained.epochs, key=lambda e: e.exact)
    print(
        f"{name}+{variant}: exact {best.exact:.4f} at epoch {best.number}, "
        f"{trained.epochs[-1].seconds:.0f} s, kl {best.kl:.1f}",
        flush=True,
    )


def train_one_paper(folder: Path, name: str, seconds: float, device: str) -> None:
    """Train the paper's network."""
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
        f"{name}+paper: {last.number + 1} epochs, {last.seconds:.0f} s, "
        f"validation loss {min(e.reconstruction for e in trained.epochs):.6f}",
        flush=True,
    )


def ship(folder: Path, labels: list[str], trained: Path, out: Path) -> None:
    """Check trained models and write them, with all that is known of them on the card, into `out`."""
    from gode.library import load_library

    known = [f"{name}+{variant}" for name in SPECS for variant in ("behaviour", "paper")]
    for label in labels or [k for k in known if (trained / f"{k}{WEIGHTS}").is_file()]:
        name, _, variant = label.partition("+")
        start = time.perf_counter()
        figures = ship_one(load_library(folder / f"{name}.library.npz"), name, variant, trained, out)
        print(f"{label}: {json.dumps(figures)}, checked in {time.perf_counter() - start:.0f} s", flush=True)


def ship_one(library, name: str, variant: str, trained: Path, out: Path) -> dict[str, object]:
    """Check one model and write it; return its figures."""
    from tempfile import TemporaryDirectory

    from gode.benchmarks.problems import truths
    from gode.grammar import load_grammar
    from gode.library import Library
    from gode.model.latent import load_model, write_model
    from gode.model.making import unseen_library
    from gode.model.quality import check

    spec, kind = SPECS[name], "paper" if variant == "paper" else "gode"
    shipped = f"{name}-paper" if kind == "paper" else name
    with np.load(trained / f"{name}+{variant}{WEIGHTS}", allow_pickle=False) as stored:
        weights = {key: stored[key] for key in stored.files}
    facts = facts_of(library, name, variant, trained)
    grammar = load_grammar(spec.model)
    library = Library(grammar, library.derivations)
    with TemporaryDirectory() as draft:
        write_model(Path(draft), shipped, kind, grammar, weights, facts)
        space = load_model(Path(draft) / shipped)
    rng = np.random.default_rng(CHECK_SEED)
    unseen = unseen_library(library, load_grammar(spec.source), spec.order, 1000, rng=rng)
    figures = asdict(check(space, library, unseen, truths(), rng=rng))
    write_model(out, shipped, kind, grammar, weights, {"figures": figures, **facts})
    size = (out / f"{shipped}.json").stat().st_size
    assert size < MAX_CARD, f"the card of {shipped} has {size} bytes"
    return figures


def facts_of(library, name: str, variant: str, trained: Path) -> dict[str, object]:
    """Return what the card says about the making of a model."""
    from gode.grammar import load_grammar
    from gode.model.terms import make_book

    spec = SPECS[name]
    source = load_grammar(spec.source)
    log = trained / f"{name}+{variant}.log"
    epochs = [json.loads(line) for line in log.read_text().splitlines()]
    exact = [e["exact"] for e in epochs if np.isfinite(e["exact"])]
    training = {
        "variant": variant,
        "skeletons": spec.paper["n"] if variant == "paper" else spec.n,
        "epochs": epochs[-1]["number"] + 1,
        "seconds": round(epochs[-1]["seconds"], 1),
        "loss": min(e["loss"] for e in epochs),
    }
    recipe = {
        "source": source.text(),
        "source_name": source.name,
        "order": spec.order,
        "size": spec.n,
        "latent": spec.paper["latent"] if variant == "paper" else spec.latent,
        "epochs": training["epochs"],
        "seed": 0,
        "max_rules": DRAWN_LIMIT if name in OURS else source.limit,
    }
    terms = make_book(library.grammar, library.derivations)
    while sum(len(json.dumps(text)) + 4 for text in terms) > MAX_CARD * 0.8:  # the rarest go first
        terms = terms[: int(0.95 * len(terms))]
    return {
        "recipe": recipe,
        "command": f"python scripts/train_models.py train DIR {name}+{variant}",
        "training": training | ({"exact_held_out": max(exact)} if exact else {}),
        "terms": terms,
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("stage", choices=["prepare", "train", "ship"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--trained", type=Path, help="folder of the weights to ship; by default DIR")
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "src/gode/model/weights")
    given = parser.parse_args()
    EPOCHS, BATCH = given.epochs, given.batch
    sys.stdout.reconfigure(line_buffering=True)
    if given.stage == "prepare":
        prepare(given.folder, given.names or list(SPECS))
    elif given.stage == "ship":
        ship(given.folder, given.names, given.trained or given.folder, given.out)
    else:
        train(given.folder, given.names, given.seconds, given.device)

"""Retrain all models that come with the package.

    python scripts/train_models.py prepare DIR             # libraries and corpora; processor only
    python scripts/train_models.py train DIR NAME+VARIANT ...   # one after the other
    python scripts/train_models.py paper DIR NAME ...      # the same as train DIR NAME+paper ...
    python scripts/train_models.py ship DIR NAME+VARIANT ...    # check, write into the package
    python scripts/train_models.py table                   # the figures of the shipped models, for the docs
    python scripts/train_models.py views DIR               # those of `systems` by number of states and order

Ours: one network per grammar, of the variant `behaviour` or `plain`. The paper's: its own network on the same
libraries, `NAME+paper`, shipped as `NAME-paper`. DIR holds the libraries, --trained (by default DIR) what
training writes: weights and logs.
"""

import argparse
import json
import sys
import time
from dataclasses import asdict, dataclass
from functools import lru_cache
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


LEARNED = ("first-order", "second-order")  # whose libraries are drawn with probabilities learned from laws
OURS = (*LEARNED, "implicit", "systems")
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
    "systems": Spec("systems", "systems", 2, 106_000, 32, 160, 224, 0.06, 1.0),
}


@lru_cache
def grammars_of(name: str):
    """Return the grammar that the library of a model is drawn from, and the model's own.

    The probabilities of `LEARNED` ones are learned from the laws that come with gode. Few of those are
    implicit, so that grammar keeps its own.
    """
    from gode.grammar import load_grammar
    from gode.grammar.learning import best_strength, learn_probabilities, rounded
    from gode.prior import known_laws
    from gode.prior.writing import write_laws

    spec = SPECS[name]
    source = load_grammar(spec.source)
    if name not in LEARNED:
        return source, source if spec.model == spec.source else load_grammar(spec.model)
    written = write_laws(source, known_laws()).written
    learned = rounded(learn_probabilities(source, written, best_strength(source, written)))
    return learned, learned


def prepare(folder: Path, names: list[str]) -> None:
    """Draw the library of each model and measure its behaviour."""
    from gode.library import draw_library, save_library
    from gode.model.choices import is_held_out, make_corpus, save_corpus
    from gode.model.making import behaviour_of, make_probe

    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        spec = SPECS[name]
        start = time.perf_counter()
        source, model = grammars_of(name)
        longest = DRAWN_LIMIT if name in OURS else source.limit
        library = draw_library(source, spec.n, order=spec.order, rng=0, model=model, max_rules=longest)
        save_library(library, folder / f"{name}.library.npz")
        drawn = time.perf_counter() - start
        skeletons = list(library)
        probe = make_probe(skeletons, rng=np.random.default_rng(1))
        behaviour = behaviour_of(skeletons, probe)
        held = np.array([is_held_out(s) for s in skeletons])
        save_corpus(make_corpus(library, held, behaviour), folder / f"{name}.corpus.npz")
        print(
            f"{name}: {len(library)} drawn in {drawn:.0f} s, all in {time.perf_counter() - start:.0f} s, "
            f"{held.sum()} held out, behaviour in use {np.mean(behaviour.any(1)):.2f}",
            flush=True,
        )


def train(folder: Path, labels: list[str], trained: Path, seconds: float, device: str) -> None:
    """Train the networks NAME+VARIANT, one after the other; write their weights and a log of the epochs."""
    trained.mkdir(parents=True, exist_ok=True)
    for label in labels:
        name, _, variant = label.partition("+")
        with (trained / f"{name}-{variant}.log").open("w") as log:

            def show(record, _state=None) -> None:
                print(json.dumps(asdict(record)), file=log, flush=True)

            if variant == "paper":
                done = train_published(folder, name, seconds, device, show)
                best = min(done.epochs, key=lambda e: e.reconstruction)
            else:
                done = train_ours(folder, name, variant, seconds, device, show)
                best = max(done.epochs, key=lambda e: e.exact)
        np.savez(trained / f"{name}-{variant}{WEIGHTS}", **done.weights)
        print(f"{label}: {len(done.epochs)} epochs, {done.epochs[-1].seconds:.0f} s, best {best}", flush=True)


def train_ours(folder: Path, name: str, variant: str, seconds: float, device: str, show):
    """Train our network."""
    from gode.model.choices import Corpus, load_corpus
    from gode.model.training import Sizes, TrainConfig, train

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
    return train(corpus, sizes, config=config, device=device, on_step=show)


def train_published(folder: Path, name: str, seconds: float, device: str, show):
    """Train the paper's network, for `seconds` or to its stopping rule."""
    from gode.library import load_library
    from gode.model.choices import load_corpus, padded
    from gode.paper.autoencoder_eq3 import PaperSizes, PaperTrainConfig, train_paper

    spec = SPECS[name].paper
    library = load_library(folder / f"{name}.library.npz")
    held = load_corpus(folder / f"{name}.corpus.npz").held_out
    kept = [d for d, out in zip(library.derivations, held, strict=True) if not out][: spec["n"]]
    n_rules, n_max = len(library.grammar.rules), library.grammar.limit
    rules, _ = padded(kept, n_rules, n_max)
    sizes = PaperSizes(
        n_rules=n_rules + 1, n_max=n_max, latent=spec["latent"], kernels=spec["kernels"], dense=spec["dense"]
    )
    steering = {key: spec[key] for key in ("kl_weight", "patience", "lowest_rate")}
    config = PaperTrainConfig(**steering, max_seconds=seconds)
    return train_paper(rules, sizes, config=config, device=device, on_step=show)


def ship(folder: Path, labels: list[str], trained: Path, out: Path) -> None:
    """Check trained models and write them, with all that is known of them on the card, into `out`."""
    from gode.library import load_library

    for label in labels:
        name, _, variant = label.partition("+")
        start = time.perf_counter()
        figures = ship_one(load_library(folder / f"{name}.library.npz"), name, variant, trained, out)
        print(f"{label}: {json.dumps(figures)}, checked in {time.perf_counter() - start:.0f} s", flush=True)


def read_trained(name: str, variant: str, trained: Path) -> tuple[dict, list[dict]]:
    """Return the weights of a trained network and the records of its epochs."""
    with np.load(trained / f"{name}-{variant}{WEIGHTS}", allow_pickle=False) as stored:
        weights = {key: stored[key] for key in stored.files}
    log = (trained / f"{name}-{variant}.log").read_text()
    return weights, [json.loads(line) for line in log.splitlines()]


def ship_one(library, name: str, variant: str, trained: Path, out: Path) -> dict[str, object]:
    """Check one model and write it; return its figures."""
    from tempfile import TemporaryDirectory

    from gode.library import Library
    from gode.model.latent import load_model, write_model
    from gode.model.making import check, unseen_library
    from gode.paper.benchmarks_sec3 import true_skeletons

    spec, kind = SPECS[name], "paper" if variant == "paper" else "gode"
    shipped = f"{name}-paper" if kind == "paper" else name
    weights, epochs = read_trained(name, variant, trained)
    facts = facts_of(library, name, variant, epochs)
    source, grammar = grammars_of(name)
    library = Library(grammar, library.derivations)
    with TemporaryDirectory() as draft:
        write_model(Path(draft), shipped, kind, grammar, weights, facts)
        space = load_model(Path(draft) / shipped)
    rng = np.random.default_rng(CHECK_SEED)
    unseen = unseen_library(library, source, spec.order, 1000, rng=rng)
    figures = asdict(check(space, library, unseen, true_skeletons(), rng=rng))
    write_model(out, shipped, kind, grammar, weights, {"figures": figures, **facts})
    size = (out / f"{shipped}.json").stat().st_size
    assert size < MAX_CARD, f"the card of {shipped} has {size} bytes"
    return figures


def facts_of(library, name: str, variant: str, epochs: list[dict]) -> dict[str, object]:
    """Return what the card says about the making of a model."""
    from gode.model.termbook import make_book

    spec = SPECS[name]
    source, _ = grammars_of(name)
    exact = [e["exact"] for e in epochs if np.isfinite(e["exact"])]
    training = {
        "variant": variant,
        "skeletons": spec.paper["n"] if variant == "paper" else spec.n,
        "epochs": int(epochs[-1]["number"]) + 1,
        "seconds": round(epochs[-1]["seconds"], 1),
        "loss": min(e["loss"] for e in epochs),
    }
    if variant == "paper":
        best = min(epochs, key=lambda e: e["reconstruction"])
        training |= {"best_epoch": int(best["number"]) + 1, "validation_loss": best["reconstruction"]}
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


def table(out: Path) -> None:
    """Print the figures of the shipped models as rows of the table in docs/models.md."""
    for name in [*SPECS, *(f"{name}-paper" for name in SPECS if SPECS[name].paper)]:
        card = json.loads((out / f"{name}.json").read_text())
        f, t, size = card["figures"], card["training"], (out / f"{name}.safetensors").stat().st_size
        cells = [f"`{name}`", card["recipe"]["latent"], f"{size / 1e3:.0f} kB", *figure_cells(f)]
        cells += [f"{f['covered'] * f['expressible']:.0f} of {f['expressible']}"]
        cells += [f"{t['epochs']} in {t['seconds']:.0f} s"]
        print("| " + " | ".join(map(str, cells)) + " |")


def figure_cells(f: dict) -> list[str]:
    """Return the figures that every row of a table shows."""
    steps = " / ".join(f"{f['locality'][step]:.2f}" for step in ("0.05", "0.1", "0.2", "0.5"))
    shares = [
        f"{100 * f['exact']:.1f} %",
        f"{100 * f['valid']:.0f} %",
        f"{100 * f['unique']:.1f} %",
        f"{100 * f['novel']:.0f} %",
    ]
    return [*shares, steps, f"{f['random_pair']:.2f}", f"{f['behaviour']:.2f}"]


def views(folder: Path) -> None:
    """Print the figures of the model of systems for each number of states and order, as rows of a table."""
    from gode.equation.system import columns_seen
    from gode.library import load_library
    from gode.model import equation_space, load_model

    space = load_model("systems")
    library = load_library(folder / "systems.library.npz")
    for order in (1, 2):
        for n_states in (2, 3, 4):
            view = equation_space(space, order, columns_seen(0, n_states, 1))
            figures = check_view(view, library, space.grammar.template)
            print(f"| {n_states} of order {order} | " + " | ".join(figure_cells(figures)) + " |", flush=True)


def check_view(view, library, template: str) -> dict[str, object]:
    """Return the figures of a view; what was learned and what was held out is told by the whole template."""
    from dataclasses import replace

    from gode.library import Library
    from gode.model.making import check, unseen_library

    active = view.grammar.active
    learned = tuple(d for d in library.derivations if all(active[rule] for rule in d))
    whole = replace(view.grammar, template=template)
    rng = np.random.default_rng(CHECK_SEED)
    unseen = unseen_library(Library(whole, learned), whole, SPECS["systems"].order, 1000, rng=rng)
    known, unknown = (Library(view.grammar, each) for each in (learned, unseen.derivations))
    return asdict(check(view, known, unknown, [], n_prior=2000, rng=rng))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("stage", choices=["prepare", "train", "paper", "ship", "table", "views"])
    parser.add_argument("folder", type=Path, nargs="?", default=Path("out/models"))
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--trained", type=Path, help="folder of what training writes; by default DIR")
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "src/gode/model/weights")
    given = parser.parse_args()
    EPOCHS, BATCH = given.epochs, given.batch
    sys.stdout.reconfigure(line_buffering=True)
    trained_in = given.trained or given.folder
    if given.stage == "prepare":
        prepare(given.folder, given.names or list(SPECS))
    elif given.stage == "ship":
        ship(given.folder, given.names, trained_in, given.out)
    elif given.stage == "table":
        table(given.out)
    elif given.stage == "views":
        views(given.folder)
    else:
        names = given.names or [name for name in SPECS if SPECS[name].paper]
        labels = [f"{name}+paper" for name in names] if given.stage == "paper" else given.names
        train(given.folder, labels, trained_in, given.seconds, given.device)

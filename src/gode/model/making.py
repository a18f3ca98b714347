"""Making a model: draw a library, train, write; an interrupted call resumes from the files it left."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gode.equation import Skeleton
from gode.errors import ConfigError, FileError, shortened
from gode.files import make_folder
from gode.grammar import Derivation, Grammar, generate, sample
from gode.library import Library, admitted, draw_library, load_library, rewrite, save_library, skeleton_of
from gode.model.choices import Corpus, is_held_out, make_corpus
from gode.model.latent import LatentSpace, load_model, write_model
from gode.model.quality import Quality, behaviour_of, check, exact_share, make_probe
from gode.model.termbook import make_book

Show = Callable[[str, float, str], None]
RECIPE = {"source", "source_name", "order", "size", "latent", "epochs", "seed"}
N_UNSEEN = 1000  # skeletons, never trained on, by which a model is measured
LONGEST = 200  # bytes of a name: file names made of it stay below the usual limit of 255
DRAWS_PER_UNSEEN = 2000  # at most: 1 in 20 is held out, and most of a small grammar is in the library


@dataclass(frozen=True, kw_only=True)
class Making:
    """What a model is made from."""

    name: str
    grammar: Grammar
    source: Grammar  # the grammar the library is drawn from
    order: int | None
    size: int
    latent: int
    epochs: int
    seed: int

    def __post_init__(self) -> None:
        if self.size < 100:
            raise ConfigError(
                f"a library of {self.size} skeletons teaches nothing; ask for 100 or more; if the grammar "
                "has fewer, do without a model: gode discover --grammar FILE tries them all"
            )
        if self.latent < 1 or self.epochs < 1 or self.seed < 0:
            raise ConfigError(
                f"latent and epochs must be at least 1 and seed at least 0, "
                f"got {self.latent}, {self.epochs} and {self.seed}"
            )
        if not self.name or Path(self.name).name != self.name or len(self.name.encode()) > LONGEST:
            raise ConfigError(
                f"a model's name becomes a file's name, which {shortened(self.name)!r} cannot be"
            )

    def recipe(self) -> dict[str, Any]:
        """Return everything that decides the result, for the card."""
        texts = {
            "source": self.source.text(),
            "source_name": self.source.name,
            "grammar": self.grammar.text(),
        }
        numbers = {k: getattr(self, k) for k in ("order", "size", "latent", "epochs", "seed")}
        return {**texts, **numbers}

    def digest(self) -> str:
        """Return a short name for the recipe."""
        return hashlib.sha256(json.dumps(self.recipe(), sort_keys=True).encode()).hexdigest()[:12]


def make_model(making: Making, folder: Path, *, device: str, on_step: Show | None = None) -> dict[str, float]:
    """Draw the library, train the network, write the model into `folder`; return its figures.

    Finished steps are kept in `folder`; the same call resumes from there.
    """
    try:
        from gode.model.training import train_resumable  # torch is needed from here on
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"training needs {error.name}; install it with: pip install gode-engine[train]"
        ) from None

    show = on_step or (lambda stage, done, words: None)
    make_folder(folder)
    library = _library(making, folder, show)
    corpus = _corpus(library, making.seed, show)
    part = folder / f"{making.name}.{making.digest()}.part"
    weights, epochs = train_resumable(
        corpus,
        part,
        latent=making.latent,
        epochs=making.epochs,
        seed=making.seed,
        device=device,
        on_step=show,
    )
    figures = {
        "exact_held_out": max(e.exact for e in epochs),
        "seconds": epochs[-1].seconds,
        "epochs": len(epochs),
    }
    recipe = making.recipe()
    facts = {
        "recipe": {k: recipe[k] for k in recipe if k != "grammar"},
        "figures": figures,
        "epochs": [asdict(e) for e in epochs],
        "terms": make_book(making.grammar, library.derivations),
    }
    write_model(folder, making.name, "gode", making.grammar, weights, facts)
    pairs = zip(library.derivations, corpus.held_out, strict=True)
    unseen = Library(library.grammar, tuple(d for d, out in pairs if out)[:N_UNSEEN])
    figures["exact"] = exact_share(load_model(folder / making.name), unseen)
    write_model(folder, making.name, "gode", making.grammar, weights, facts)
    part.unlink(missing_ok=True)
    return figures


def check_model(space: LatentSpace, truths: Sequence[Skeleton], *, rng: np.random.Generator) -> Quality:
    """Return the figures of a model; its training library is drawn again, to know what is unseen."""
    recipe = space.card.get("recipe")
    if not isinstance(recipe, dict) or not recipe.keys() >= RECIPE:
        raise FileError(f"the card of {space.name} does not say how the model was made; train it again")
    source = Grammar.from_text(recipe["source"], source=recipe["source_name"])
    library = draw_library(
        source,
        recipe["size"],
        order=recipe["order"],
        rng=recipe["seed"],
        model=space.grammar,
        max_rules=recipe.get("max_rules"),
    )
    unseen = unseen_library(library, source, recipe["order"], N_UNSEEN, rng=rng)
    return check(space, library, unseen, truths, rng=rng)


def unseen_library(
    library: Library, source: Grammar, order: int | None, n: int, *, rng: np.random.Generator
) -> Library:
    """Return skeletons of the same kind as those of `library`, held out and none of them in it.

    They are `n`, or fewer if the grammar has not so many.
    """
    model = library.grammar
    seen = {hash(skeleton.key) for skeleton in library}
    found: list[Derivation] = []
    for _ in range(DRAWS_PER_UNSEEN * n):
        tokens = generate(source, sample(source, rng=rng))
        key = admitted(source, tokens, order)
        if key is None or hash(key) in seen:
            continue
        seen.add(hash(key))
        derivation = rewrite(model, tokens) if is_held_out(Skeleton(key)) else None
        if derivation is not None and is_held_out(skeleton_of(model, derivation)):
            found.append(derivation)
        if len(found) == n:
            break
    return Library(model, tuple(found))


def _library(making: Making, folder: Path, show: Show) -> Library:
    path = folder / f"{making.name}.{making.digest()}.library.npz"
    if path.is_file():
        return load_library(path)
    library = draw_library(
        making.source,
        making.size,
        order=making.order,
        rng=making.seed,
        model=making.grammar,
        on_step=lambda n: show("drawing skeletons", n / making.size, f"{n} of {making.size}"),
    )
    save_library(library, path)
    return library


def _corpus(library: Library, seed: int, show: Show) -> Corpus:
    show("measuring behaviour", 0.0, "")
    skeletons = list(library)
    probe = make_probe(skeletons, rng=np.random.default_rng(seed + 1))
    held = np.array([is_held_out(s) for s in skeletons])
    return make_corpus(library, held, behaviour_of(skeletons, probe))

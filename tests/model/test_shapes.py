"""Shapes: those of torch's networks, and nothing else."""

import pytest

from gode.errors import ModelError
from gode.grammar import load_grammar
from gode.model.shapes import check_shapes, wanted_shapes
from model_spaces import SIZES

B1 = load_grammar("b1")
FACTS = len(B1.rules), len(B1.nonterminals), B1.limit
each_kind = pytest.mark.parametrize("kind", ["gode", "paper"])


@pytest.mark.torch
def test_our_shapes_are_torch_s():
    from gode.model.gvae import GrammarVAE, Sizes

    sizes = Sizes(n_rules=FACTS[0], n_heads=FACTS[1], behaviour=3)
    state = {k: tuple(v.shape) for k, v in GrammarVAE(sizes).state_dict().items()}
    check_shapes("gode", {k: v for k, v in state.items() if not k.startswith("behaviour")}, *FACTS)


@pytest.mark.torch
def test_the_paper_s_shapes_are_torch_s():
    from gode.paper.autoencoder_eq3 import PaperSizes, PaperVAE

    model = PaperVAE(PaperSizes(n_rules=FACTS[0] + 1, n_max=B1.limit))
    check_shapes("paper", {k: tuple(v.shape) for k, v in model.state_dict().items()}, *FACTS)


@each_kind
def test_every_weight_counts(kind: str):
    good = wanted_shapes(kind, SIZES[kind], *FACTS)
    check_shapes(kind, good, *FACTS)
    for name, shape in good.items():
        for other in (None, (), (*shape, 1), (shape[0] + 1, *shape[1:]), (0, *shape[1:])):
            changed = {k: v for k, v in good.items() if k != name} | (
                {name: other} if other is not None else {}
            )
            with pytest.raises(ModelError, match="these are the weights of something else"):
                check_shapes(kind, changed, *FACTS)
    with pytest.raises(ModelError, match="'more' should be absent"):
        check_shapes(kind, good | {"more": (1,)}, *FACTS)


@each_kind
def test_another_grammar_has_other_shapes(kind: str):
    good = wanted_shapes(kind, SIZES[kind], *FACTS)
    with pytest.raises(ModelError):
        check_shapes(kind, good, FACTS[0] + 1, *FACTS[1:])

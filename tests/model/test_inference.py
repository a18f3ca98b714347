"""The networks in NumPy: twins of torch's, and decoding that can only write sentences."""

from importlib.resources import files

import numpy as np
import pytest
from safetensors.numpy import load

from gode.errors import ModelError
from gode.grammar import generate, grammar_names, load_grammar, sample_many
from gode.model.choices import Plan, padded
from gode.model.inference import (
    SIZE_TENSORS,
    GrammarNetwork,
    Machine,
    PaperNetwork,
    check_shapes,
    greedy,
    sampled,
    wanted_shapes,
)
from gode.model.latent import model_names, read_model
from model_spaces import NETWORKS, SIZES, SMALL, random_weights

each_grammar = pytest.mark.parametrize("name", grammar_names())
each_kind = pytest.mark.parametrize("kind", ["gode", "paper"])


def twin_of(kind: str, weights: dict[str, np.ndarray], grammar):
    """Torch's network with these weights."""
    import torch

    from gode.model.training import GrammarVAE, Sizes
    from gode.paper.autoencoder_eq3 import PaperSizes, PaperVAE

    n_rules = len(grammar.rules)
    sizes = {size: weights[name].shape[axis] for size, (name, axis) in SIZE_TENSORS[kind].items()}
    if kind == "gode":
        twin = GrammarVAE(Sizes(n_rules=n_rules, n_heads=len(grammar.nonterminals), **sizes))
    else:
        kernels = tuple(sizes.pop(f"{which}_kernel") for which in ("first", "second", "third"))
        twin = PaperVAE(PaperSizes(n_rules=n_rules + 1, n_max=grammar.limit, kernels=kernels, **sizes))
    twin.load_state_dict({name: torch.as_tensor(value) for name, value in weights.items()})
    return twin.eval()


def torch_twin(kind: str, weights: dict[str, np.ndarray], grammar):
    import torch

    return torch, twin_of(kind, weights, grammar)


def our_logits(network, plan: Plan, z: np.ndarray, twin, torch) -> tuple[np.ndarray, np.ndarray]:
    """The logits along the greedy sentence at one point, NumPy's and torch's."""
    seen: list[np.ndarray] = []

    def record(logits, allowed):
        seen.append(logits.copy())
        return greedy(logits, allowed)

    rules, lengths = network.decode(z, plan, record)
    written = rules[0, : lengths[0]]
    before = np.array([len(plan.grammar.rules), *written[:-1]])
    steps = (torch.as_tensor(x[:, None]) for x in (before, plan.heads[written]))
    with torch.no_grad():
        return np.vstack(seen), twin.decode(torch.as_tensor(z), *steps).numpy()[:, 0]


@pytest.mark.torch
@pytest.mark.parametrize("name", ["b1", "b2", "implicit"])
def test_our_encoder_agrees_with_torch(name: str, rng):
    grammar = load_grammar(name)
    weights = random_weights("gode", grammar, rng)
    torch, twin = torch_twin("gode", weights, grammar)
    plan = Plan(grammar)
    rules, lengths = padded([plan.choices(d) for d in sample_many(grammar, 60, rng=rng)], len(grammar.rules))
    back = np.full_like(rules, len(grammar.rules))
    for row, n in enumerate(lengths):
        back[row, :n] = rules[row, :n][::-1]
    with torch.no_grad():
        mean, _ = twin.encode(*map(torch.as_tensor, (rules.T.copy(), back.T.copy(), lengths)))
    np.testing.assert_allclose(GrammarNetwork(weights).encode(rules, lengths), mean.numpy(), atol=1e-4)


@pytest.mark.torch
@pytest.mark.parametrize("name", ["b1", "b2", "implicit"])
def test_our_decoder_agrees_with_torch(name: str, rng):
    grammar = load_grammar(name)
    weights = random_weights("gode", grammar, rng)
    torch, twin = torch_twin("gode", weights, grammar)
    plan, network = Plan(grammar), GrammarNetwork(weights)
    for z in rng.standard_normal((8, 1, 5)).astype(np.float32):
        ours, theirs = our_logits(network, plan, z, twin, torch)
        np.testing.assert_allclose(ours, theirs, atol=1e-4)


@pytest.mark.torch
@pytest.mark.parametrize("name", ["b1", "b2"])
def test_the_paper_s_network_agrees_with_torch(name: str, rng):
    grammar = load_grammar(name)
    weights = random_weights("paper", grammar, rng)
    torch, twin = torch_twin("paper", weights, grammar)
    network = PaperNetwork(weights)
    rules, lengths = padded(list(sample_many(grammar, 40, rng=rng)), len(grammar.rules), grammar.limit)
    z = rng.standard_normal((20, 5)).astype(np.float32)
    with torch.no_grad():
        one_hot = torch.nn.functional.one_hot(torch.as_tensor(rules), len(grammar.rules) + 1).float()
        mean, logits = twin.encode(one_hot)[0].numpy(), twin.decode(torch.as_tensor(z)).numpy()
    np.testing.assert_allclose(network.encode(rules, lengths), mean, atol=1e-4)
    np.testing.assert_allclose(network.logits(z, grammar.limit), logits, atol=1e-4)


@each_grammar
@each_kind
def test_every_point_decodes_to_a_sentence(name: str, kind: str, rng):
    """Near and far, greedy and sampled, with weights that favour anything."""
    grammar = load_grammar(name)
    plan = Plan(grammar, every_step=kind == "paper")
    network = NETWORKS[kind](random_weights(kind, grammar, rng, scale=2.0))
    scales = np.array([0, 1e-3, 1, 1, 1, 30, 1e3, 1e6])
    z = (rng.standard_normal((8, 8, 5)) * scales[:, None, None]).reshape(-1, 5).astype(np.float32)
    for pick in (greedy, sampled(1.0, rng), sampled(100.0, rng), sampled(1e-9, rng)):
        rules, lengths = network.decode(z, plan, pick)
        for row, n in zip(rules, lengths, strict=True):
            derivation = plan.derivation(row[:n].tolist())
            assert generate(grammar, derivation)
            assert len(derivation) <= grammar.limit


def test_a_point_decodes_alike_alone_and_in_a_batch(rng):
    grammar = load_grammar("b2")
    network, plan = GrammarNetwork(random_weights("gode", grammar, rng)), Plan(grammar)
    z = rng.standard_normal((30, 5)).astype(np.float32)
    together, _ = network.decode(z, plan, greedy)
    alone = [network.decode(one[None], plan, greedy)[0][0] for one in z]
    np.testing.assert_array_equal(together, alone)


def test_a_sequence_encodes_alike_alone_and_in_a_batch(rng):
    plan, network = Plan(SMALL), GrammarNetwork(random_weights("gode", SMALL, rng))
    choices = [plan.choices(d) for d in sample_many(SMALL, 30, rng=rng)]
    together = network.encode(*padded(choices, len(SMALL.rules)))
    alone = [network.encode(*padded([one], len(SMALL.rules)))[0] for one in choices]
    np.testing.assert_allclose(together, alone, atol=1e-6)


def test_sampling_follows_the_softmax(rng):
    logits = np.log(np.tile([0.1, 0.2, 0.3, 0.4], (20_000, 1))).astype(np.float32)
    allowed = np.tile([True, False, True, True], (20_000, 1))
    counts = np.bincount(sampled(1.0, rng)(logits, allowed), minlength=4) / 20_000
    np.testing.assert_allclose(counts, np.array([1, 0, 3, 4]) / 8, atol=0.02)
    cold = np.bincount(sampled(0.5, rng)(logits, allowed), minlength=4) / 20_000
    np.testing.assert_allclose(cold, np.array([1, 0, 9, 16]) / 26, atol=0.02)


def test_machine_keeps_what_is_open(rng):
    """Follow random derivations: the machine's next symbol is the head of the next choice."""
    plan = Plan(SMALL)
    choices = [plan.choices(d) for d in sample_many(SMALL, 40, rng=rng)]
    every, machine = choices, Machine.fresh(plan, len(choices))
    rows = np.arange(len(choices))
    for step in range(max(map(len, choices))):
        (rows,) = machine.retire(rows)
        assert sorted(rows) == [i for i, c in enumerate(every) if len(c) > step]
        choices = [every[i] for i in rows]
        assert machine.heads().tolist() == [plan.heads[c[step]] for c in choices]
        machine.apply(np.array([c[step] for c in choices]))
    assert not machine.size.any()
    assert (machine.spare >= 0).all()


@pytest.mark.torch
@pytest.mark.parametrize("name", model_names())
def test_shipped_model_agrees_with_torch(name: str):
    home = files("gode.model") / "weights"
    content = {end: (home / f"{name}{end}").read_bytes() for end in (".json", ".safetensors")}
    check_agreement(content[".json"], content[".safetensors"])


def check_agreement(card: bytes, content: bytes) -> None:
    """Compare means and logits of a model's files with those of torch's network."""
    space = read_model(card, content, "shipped")
    grammar, plan = space.grammar, space.plan
    weights = {key: value.astype(np.float32) for key, value in load(content).items()}
    rng = np.random.default_rng(0)
    derivations = list(sample_many(grammar, 20, rng=rng))
    z = rng.standard_normal((20, space.dimension)).astype(np.float32)
    import torch

    twin = twin_of(space.kind, weights, grammar)
    with torch.no_grad():
        if space.kind == "paper":
            rules, _ = padded(derivations, len(grammar.rules), grammar.limit)
            one_hot = torch.nn.functional.one_hot(torch.as_tensor(rules), len(grammar.rules) + 1).float()
            mean = twin.encode(one_hot)[0].numpy()
            ours, theirs = space.network.logits(z, grammar.limit), twin.decode(torch.as_tensor(z)).numpy()
            exact = twin.double().decode(torch.as_tensor(z).double()).numpy()
            rounding = np.abs(theirs - exact).max()  # single precision errs by 3e-3 over forty steps
        else:
            one = plan.choices(derivations[0])
            rules, back = (torch.as_tensor([x]).T for x in (one, one[::-1]))
            mean = twin.encode(rules, back, torch.tensor([len(one)]))[0].numpy()
            derivations = derivations[:1]
            ours, theirs = our_logits(space.network, plan, z[:1], twin, torch)
            rounding = 0.0
    np.testing.assert_allclose(space.encode_derivations(derivations), mean, atol=1e-4)
    # both round: where torch itself errs by more than 1e-4, the two may differ by a few times that
    np.testing.assert_allclose(ours, theirs, atol=max(1e-4, 5 * rounding))


B1 = load_grammar("b1")
FACTS = len(B1.rules), len(B1.nonterminals), B1.limit
each_kind = pytest.mark.parametrize("kind", ["gode", "paper"])


@pytest.mark.torch
def test_our_shapes_are_torch_s():
    from gode.model.training import GrammarVAE, Sizes

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

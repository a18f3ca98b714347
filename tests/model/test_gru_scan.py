"""GRU layers as whole sequences: the same states and derivatives as torch's, step by step."""

import copy

import pytest

torch = pytest.importorskip("torch")

from gode.model.gru_scan import cuda_scan, repeated_gru  # noqa: E402 -- needs torch

HIDDEN, INPUTS, STEPS = 16, 5, 7
needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="the kernels need a GPU")


class PlainScan:
    """What the kernels compute, one step after the other."""

    def forward(self, gates, weight, bias, n_steps):
        batch, hidden = gates.shape[1], weight.shape[2]
        out = gates.new_zeros(n_steps, batch, 2, hidden)
        saved = gates.new_zeros(n_steps, batch, 2, 4, hidden)
        for way, steps in enumerate((range(n_steps), reversed(range(n_steps)))):
            h = gates.new_zeros(batch, hidden)
            for t in steps:
                given = gates[0 if len(gates) == 1 else t, :, way]
                r, z, n, inner = (torch.cat([given, torch.zeros_like(h)], dim=1) + bias[way]).chunk(4, dim=1)
                by_r, by_z, by_n = (h @ weight[way].T).chunk(3, dim=1)
                r, z, inner = torch.sigmoid(r + by_r), torch.sigmoid(z + by_z), inner + by_n
                n = torch.tanh(n + r * inner)
                h = (1 - z) * n + z * h
                out[t, :, way] = h
                saved[t, :, way] = torch.stack([r, z, n, inner], dim=1)
        return out.flatten(2), saved.flatten(3)

    def backward(self, slope, out, saved, weight, *, repeated):
        n_steps, batch = out.shape[:2]
        hidden = weight.shape[2]
        states, slope = (x.reshape(n_steps, batch, 2, hidden) for x in (out, slope))
        slopes, inner = (out.new_zeros(n_steps, batch, 2, 3 * hidden) for _ in range(2))
        for way, steps in enumerate((reversed(range(n_steps)), range(n_steps))):
            carried = out.new_zeros(batch, hidden)
            for t in steps:
                r, z, n, h = saved[t, :, way].chunk(4, dim=1)
                past = t - 1 if way == 0 else t + 1
                before = states[past, :, way] if 0 <= past < n_steps else torch.zeros_like(carried)
                d = carried + slope[t, :, way]
                dn = d * (1 - z) * (1 - n**2)
                dz = d * (before - n) * z * (1 - z)
                dr = dn * h * r * (1 - r)
                slopes[t, :, way] = torch.cat([dr, dz, dn], dim=1)
                inner[t, :, way] = torch.cat([dr, dz, dn * r], dim=1)
                carried = d * z + inner[t, :, way] @ weight[way]
        by_bias = torch.cat([slopes, inner[..., 2 * hidden :]], dim=3).sum((0, 1))
        return slopes.sum(0, keepdim=True) if repeated else slopes, inner, by_bias


def outcome(gru, x, run):
    """States, and the derivatives of some function of them by the input and every weight."""
    gru, x = copy.deepcopy(gru), x.detach().clone().requires_grad_()
    states = run(gru, x)
    torch.sin(3 * states).sum().backward()
    return [states.detach(), x.grad, *(p.grad for p in gru.parameters())]


def torch_s(gru, x):
    return gru(x.expand(STEPS, *x.shape))[0]


def compare(device: str, scan, hidden: int, batch: int, dtype, tolerance: float) -> None:
    torch.manual_seed(0)
    gru = torch.nn.GRU(INPUTS, hidden, num_layers=3, bidirectional=True).to(device, dtype)
    x = torch.randn(batch, INPUTS, device=device, dtype=dtype)
    expected = outcome(gru, x, torch_s)
    found = outcome(gru, x, lambda gru, x: repeated_gru(gru, x, STEPS, scan))
    for ours, theirs in zip(found, expected, strict=True):
        assert (ours - theirs).abs().max() <= tolerance * theirs.abs().max()


@pytest.mark.parametrize("batch", [1, 9])
def test_states_and_derivatives_are_those_of_torch(batch: int):
    compare("cpu", PlainScan(), HIDDEN, batch, torch.float64, 1e-12)


@needs_gpu
@pytest.mark.parametrize(("hidden", "batch"), [(16, 1), (48, 8), (80, 21)])
def test_kernels_compute_the_same_in_lower_precision(hidden: int, batch: int):
    scan = cuda_scan(hidden)
    assert scan is not None
    compare("cuda", scan, hidden, batch, torch.float32, 5e-3)


@pytest.mark.parametrize("hidden", [8, 96])
def test_sizes_without_kernels_are_left_to_torch(hidden: int):
    assert cuda_scan(hidden) is None

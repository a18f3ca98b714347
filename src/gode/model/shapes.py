"""Names and shapes of a network's weights, checked before a file from elsewhere is used."""

from collections.abc import Mapping

from gode.errors import ModelError

Shape = tuple[int, ...]

# The tensors from which the free sizes of a network are read, with the axis that holds each.
SIZES = {
    "gode": {
        "latent": ("first.weight", 1),
        "rule_width": ("rule.weight", 1),
        "head_width": ("head.weight", 1),
        "encoder": ("forward_gru.weight_hh_l0", 1),
        "decoder": ("out.weight", 1),
    },
    "paper": {
        "latent": ("mean.bias", 0),
        "dense": ("dense.bias", 0),
        "hidden": ("gru.weight_hh_l0", 1),
        "first_kernel": ("convolutions.0.bias", 0),
        "second_kernel": ("convolutions.1.bias", 0),
        "third_kernel": ("convolutions.2.bias", 0),
    },
}


def check_shapes(kind: str, found: Mapping[str, Shape], n_rules: int, n_heads: int, limit: int) -> None:
    """Check that tensors of these names and shapes form a network of `kind` for such a grammar.

    Raises:
        ModelError: if one is missing, left over or of another shape.
    """
    sizes = {size: _axis(found, *place) for size, place in SIZES[kind].items()}
    wanted = wanted_shapes(kind, sizes, n_rules, n_heads, limit)
    for name in sorted(wanted.keys() | found.keys()):
        if found.get(name) != wanted.get(name):
            raise ModelError(
                f"weight {name!r} should be {wanted.get(name, 'absent')}, "
                f"but is {found.get(name, 'absent')}; these are the weights of something else"
            )


def wanted_shapes(
    kind: str, sizes: Mapping[str, int], n_rules: int, n_heads: int, limit: int
) -> dict[str, Shape]:
    """Return the shapes of a network's weights by name; `sizes` are those named in `SIZES`."""
    return _gode(sizes, n_rules, n_heads) if kind == "gode" else _paper(sizes, n_rules, limit)


def _axis(found: Mapping[str, Shape], name: str, axis: int) -> int:
    shape = found.get(name, ())
    if len(shape) <= axis or not shape[axis]:
        raise ModelError(
            f"weight {name!r} is missing or empty, its shape is {shape}; "
            f"these are the weights of something else"
        )
    return shape[axis]


def _gode(sizes: Mapping[str, int], n_rules: int, n_heads: int) -> dict[str, Shape]:
    z, r, h, e, d = (sizes[k] for k in ("latent", "rule_width", "head_width", "encoder", "decoder"))
    return {
        "rule.weight": (n_rules + 1, r),
        "head.weight": (n_heads, h),
        **_gru("forward_gru", "_l0", r, e),
        **_gru("backward_gru", "_l0", r, e),
        **_linear("posterior", 2 * e, 2 * z),
        **_linear("first", z, d),
        **_gru("decoder_gru", "_l0", r + h + z, d),
        **_linear("out", d, n_rules),
    }


def _paper(sizes: Mapping[str, int], n_rules: int, limit: int) -> dict[str, Shape]:
    z, f, g = sizes["latent"], sizes["dense"], sizes["hidden"]
    kernels = [sizes[k] for k in ("first_kernel", "second_kernel", "third_kernel")]
    widths = [n_rules + 1, *kernels]
    wanted: dict[str, Shape] = {}
    for i, k in enumerate(kernels):
        wanted |= {f"convolutions.{i}.weight": (k, widths[i], k), f"convolutions.{i}.bias": (k,)}
    left = limit - sum(k - 1 for k in kernels)
    wanted |= _linear("dense", left * kernels[-1], f)
    wanted |= _linear("mean", f, z) | _linear("logvar", f, z) | _linear("first", z, z)
    for layer in range(3):
        for end in ("", "_reverse"):
            wanted |= _gru("gru", f"_l{layer}{end}", 2 * g if layer else z, g)
    return wanted | _linear("out", 2 * g, n_rules + 1)


def _linear(name: str, into: int, out: int) -> dict[str, Shape]:
    return {f"{name}.weight": (out, into), f"{name}.bias": (out,)}


def _gru(name: str, suffix: str, into: int, size: int) -> dict[str, Shape]:
    return {
        f"{name}.weight_ih{suffix}": (3 * size, into),
        f"{name}.weight_hh{suffix}": (3 * size, size),
        f"{name}.bias_ih{suffix}": (3 * size,),
        f"{name}.bias_hh{suffix}": (3 * size,),
    }

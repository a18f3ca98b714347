"""The grammar variational autoencoder of our own models (torch; to train only)."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from gode.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """The dimensions of our network; the same names stand on the model's card."""

    n_rules: int
    n_heads: int
    latent: int = 32
    rule_width: int = 24
    head_width: int = 16
    encoder: int = 128  # of each direction
    decoder: int = 192
    behaviour: int = 0  # outputs of the auxiliary head; 0 for none

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value < (0 if name == "behaviour" else 1):
                raise ConfigError(f"{name} must be positive, got {value}")


class GrammarVAE(nn.Module):
    """The decoder predicts the next rule from z, the rules so far and the symbol to replace."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.sizes = sizes
        s = sizes
        self.rule = nn.Embedding(s.n_rules + 1, s.rule_width)  # the last row stands for "nothing yet"
        self.head = nn.Embedding(s.n_heads, s.head_width)
        self.forward_gru = nn.GRU(s.rule_width, s.encoder)
        self.backward_gru = nn.GRU(s.rule_width, s.encoder)
        self.posterior = nn.Linear(2 * s.encoder, 2 * s.latent)
        self.first = nn.Linear(s.latent, s.decoder)
        self.decoder_gru = nn.GRU(s.rule_width + s.head_width + s.latent, s.decoder)
        self.out = nn.Linear(s.decoder, s.n_rules)
        if s.behaviour:
            self.behaviour = nn.Sequential(
                nn.Linear(s.latent, 128), nn.SiLU(), nn.Linear(128, s.behaviour), nn.Sigmoid()
            )

    def encode(self, rules: Tensor, backward: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Return mean and log-variance; `rules` and `backward` are (time, batch), padded at the end."""
        last = (lengths - 1).clamp(min=0)
        batch = torch.arange(len(lengths), device=lengths.device)
        ends = [
            gru(self.rule(x))[0][last, batch]
            for gru, x in ((self.forward_gru, rules), (self.backward_gru, backward))
        ]
        mean, logvar = self.posterior(torch.cat(ends, dim=1)).chunk(2, dim=1)
        return mean, logvar

    def decode(self, z: Tensor, before: Tensor, heads: Tensor) -> Tensor:
        """Return the logits (time, batch, rules) given the rules before each step and the symbols."""
        wide = z.expand(before.shape[0], *z.shape)
        x = torch.cat([self.rule(before), self.head(heads), wide], dim=2)
        hidden, _ = self.decoder_gru(x, torch.tanh(self.first(z))[None])
        logits: Tensor = self.out(hidden)
        return logits

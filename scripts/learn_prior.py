"""Learn the prior from the laws that come with gode, and keep it: python scripts/learn_prior.py."""

from pathlib import Path

import gode.prior.model
from gode.prior import known_laws, learn_prior

if __name__ == "__main__":
    home = Path(gode.prior.model.__file__).parent
    text = gode.prior.model.prior_text(learn_prior(known_laws()))
    (home / gode.prior.model.FILE).write_text(text, encoding="utf-8")

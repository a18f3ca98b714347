"""Learn the prior from the laws that come with gode, and keep it: python scripts/learn_prior.py."""

from pathlib import Path

import gode.prior.learned
from gode.prior import known_laws, learn_prior

if __name__ == "__main__":
    home = Path(gode.prior.learned.__file__).parent
    text = gode.prior.learned.prior_text(learn_prior(known_laws()))
    (home / gode.prior.learned.FILE).write_text(text, encoding="utf-8")

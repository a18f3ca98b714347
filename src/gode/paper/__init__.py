"""The method of Yu, Chatzi & Kissas (2025) as published: `preset="paper"`.

Each module carries the section or the equations of the preprint in its name, in the order of the method:

- `autoencoder_eq3`: the grammar variational autoencoder and its training (secs. 2.2 and 3.1.2; needs torch);
- `smoothing_sec23`, `smoothing_network`: the network that smooths the data (sec. 2.3, eq. 11);
- `losses_eq4_to_9`: the losses of an equation, triviality, the criterion (sec. 2.4);
- `simplex_sec23`: constants by Nelder & Mead;
- `objective_sec24`: the score of a skeleton, with the threshold for solving (sec. 3.2);
- `evolution_sec23`: CMA-ES in the latent space;
- `benchmarks_sec3`: the settings of its benchmarks B1, B2 and B3;
- `discover`: the whole method.
"""

from gode.paper.benchmarks_sec3 import paper_grammar
from gode.paper.discover import discover_by_paper
from gode.paper.objective_sec24 import PaperObjective

__all__ = ["PaperObjective", "discover_by_paper", "paper_grammar"]

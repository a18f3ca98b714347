"""Draw the pictures of README and docs into docs/pictures, and print what the tutorial quotes.

python scripts/make_pictures.py
"""

from pathlib import Path

import numpy as np

import gode
from gode.data.example import load_example
from gode.report import figures

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"
DPI = 100


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    growth = load_example("growth")
    found = gode.discover(growth.t, growth.u, order=1)
    print(found.equation, found.equation.constants, len(found.ties) - 1, found.n_fitted)
    print(found.answers())
    draw(figures.overview(found), "growth")
    draw(figures.data_and_fit(found), "growth-fit")
    draw(figures.residual_plots(found), "growth-residuals")
    draw(figures.front_picture(found), "growth-front")
    shaker = load_example("shaker")
    force = shaker.columns["force"]
    known = gode.fit("C*u'' + C*u' + C*u + C*u^3 = F", shaker.t, shaker.u, force=force)
    print(known.equation, np.round([c.error for c in known.equation.constants], 4))
    draw(figures.data_and_fit(known), "shaker-fit")


def draw(figure: figures.Figure, name: str) -> None:
    path = FOLDER / f"{name}.png"
    figure.savefig(path, dpi=DPI, pil_kwargs={"optimize": True})
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()

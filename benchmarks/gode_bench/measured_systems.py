"""Measured systems: published tables of two to four signals, and the laws that textbooks give for them.

    python -m gode_bench.measured_systems [--half tuned|held] [--effort quick] [--out FILE.csv] [NAME ...]

Each record is searched whole for the law that is named, and on its first 60 % for the forecast of the rest,
beside the textbook forms fitted to the same rows. Half of the records were used while the search was built,
the other half are for reports alone: sorted by name, the odd places are tuned on and the even ones held back.
"""

import argparse
import csv
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import gode
from gode.arrays import Float
from gode.equation.system import parse_system
from gode.tables.read import read_table

SHARE = 0.6
HERE = Path(__file__).parent / "records" / "systems"
COLUMNS = (
    "record",
    "place",
    "verdict",
    "misfit",
    "textbook verdict",
    "textbook misfit",
    "forecast",
    "textbook",
    "seconds",
    "named",
    "on 60 %",
)
Form = tuple[str, ...]


@dataclass(frozen=True)
class System:
    """A file, and the forms that textbooks give, an equation for each state."""

    name: str
    forms: tuple[Form, ...]
    order: int = 1


def predation(x: str, y: str) -> tuple[Form, ...]:
    """Return the laws of prey x and predator y: Lotka and Volterra, limited prey, saturated predators."""
    meal = f"C*{x}*{y}/(C + {x})"
    return (
        (f"{x}' = C*{x} + C*{x}*{y}", f"{y}' = C*{y} + C*{x}*{y}"),
        (f"{x}' = C*{x} + C*{x}^2 + C*{x}*{y}", f"{y}' = C*{y} + C*{x}*{y}"),
        (f"{x}' = C*{x} + {meal}", f"{y}' = C*{y} + {meal}"),
        (f"{x}' = C*{x} + C*{x}^2 + {meal}", f"{y}' = C*{y} + {meal}"),
    )


def chain(*equations: str) -> tuple[Form, ...]:
    """Return linear kinetics: each text is a substance and what it is made of, as in 'b: a'."""
    form = []
    for text in equations:
        own, _, sources = text.partition(":")
        terms = [*sources.split(), own] if not own.endswith("!") else sources.split()
        form.append(f"{own.rstrip('!')}' = " + " + ".join(f"C*{term}" for term in terms))
    return (tuple(form),)


# Both arms: angles from the vertical, in the form solved for the accelerations.
ARMS = "(C + C*cos(2*upper - 2*lower))"
PENDULUM = (
    (
        f"upper'' = (C*sin(upper) + C*sin(upper - 2*lower) + C*sin(upper - lower)*lower'^2"
        f" + C*sin(2*upper - 2*lower)*upper'^2)/{ARMS}",
        f"lower'' = (C*sin(lower) + C*sin(2*upper - lower) + C*sin(upper - lower)*upper'^2"
        f" + C*sin(2*upper - 2*lower)*lower'^2)/{ARMS}",
    ),
)
SYSTEMS = (
    System(
        "alpha_pinene",
        chain("pinene:", "dipentene!: pinene", "alloocimene: pinene dimer", "dimer: alloocimene"),
    ),
    System("beta_carotene", chain("carotene:", "apocarotenal: carotene")),
    System("boraas_rotifers", predation("algae", "rotifers")),
    System(
        "covid_hunan",
        (("infected' = C*infected + C*infected^2 + C*infected*removed", "removed' = C*infected"),),
    ),
    System("cryptoxanthin", chain("cryptoxanthin:", "apo: cryptoxanthin", "hydroxyapo: cryptoxanthin")),
    System("d24_soil", chain("acid:", "phenol: acid", "anisole: phenol")),
    System("dimethenamid_soil", chain("parent:", "m23: parent", "m27: parent m31", "m31: parent")),
    System("double_pendulum", PENDULUM, order=2),
    System("focus_d", chain("parent:", "metabolite: parent")),
    System("gause_yeast", predation("yeast", "paramecium")),
    System(
        "glucose_insulin", (("glucose' = C + C*glucose + C*insulin", "insulin' = C + C*glucose + C*insulin"),)
    ),
    System("heaters", (("first' = C + C*first + C*second", "second' = C + C*first + C*second"),)),
    System("huffaker_mites", predation("prey", "predators")),
    System("isle_royale", predation("moose", "wolves")),
    System("jost_tetrahymena", predation("bacteria", "ciliates")),
    System("luckinbill_didinium", predation("paramecium", "didinium")),
    System("tsuchiya_amoebae", predation("bacteria", "amoebae")),
    System("utida_weevils", predation("weevils", "wasps")),
    System("yoshida_rotifers", predation("algae", "rotifers")),
    System("zeaxanthin", chain("zeaxanthin:", "apocarotenal: zeaxanthin")),
)
TUNED = tuple(s.name for s in SYSTEMS)[::2]
HELD = tuple(s.name for s in SYSTEMS)[1::2]


def main() -> None:
    """Print the table of the records."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("names", nargs="*")
    options.add_argument("--half", choices=("tuned", "held"), default="tuned")
    options.add_argument("--effort", default="quick")
    options.add_argument("--seconds", type=float, default=60.0)
    options.add_argument("--out", type=Path)
    given = options.parse_args()
    half = TUNED if given.half == "tuned" else HELD
    rows: list[dict[str, str]] = []
    for system in SYSTEMS:
        if system.name not in (given.names or half):
            continue
        rows.append(row(system, given.effort, given.seconds))
        print(" | ".join(rows[-1].values()), flush=True)
        if given.out:
            with given.out.open("w", newline="") as file:
                csv.writer(file).writerows([COLUMNS, *(each.values() for each in rows)])
    places = [int(r["place"]) for r in rows if r["place"] != "-"]
    print(f"a textbook form is named in {places.count(1)} of {len(rows)}, second in {places.count(2)}")
    both = [(float(r["forecast"]), float(r["textbook"])) for r in rows]
    ratios = [own / best for own, best in both if np.isfinite(own) and np.isfinite(best) and best > 0]
    print(f"forecast over the best textbook form's: median {np.median(ratios):.2f} of {len(ratios)}")
    print(f"answers: {sum(r['verdict'] in ('good', 'pattern', 'poor', 'unsupported') for r in rows)}")


def read(system: System) -> tuple[Float, dict[str, Float]]:
    """Return the times and the states of a record; what was not measured at a time is NaN."""
    table = read_table(HERE / f"{system.name}.csv")
    values = {name: np.asarray(table.numbers(name), float) for name in table.names}
    return values.pop("t"), values


def row(system: System, effort: str, seconds: float) -> dict[str, str]:
    """Return the row of the table."""
    t, data = read(system)
    start = time.process_time()
    named, verdict, misfit, place = searched(system, t, data, effort, seconds)
    spent = time.process_time() - start
    forms = [fitted(form, t, data) for form in system.forms]
    best = min((f for f in forms if f is not None), key=lambda f: f.quality.misfit, default=None)
    n = int(SHARE * len(t))
    part = {name: values[:n] for name, values in data.items()}
    found = answer(t[:n], part, system.order, effort, seconds)
    own = np.inf if isinstance(found, str) else forecast(found, t, data, n)
    books = [forecast(f, t, data, n) for form in system.forms if (f := fitted(form, t[:n], part)) is not None]
    return dict(
        zip(
            COLUMNS,
            (
                system.name,
                str(place or "-"),
                verdict,
                misfit,
                best.quality.verdict.value if best else "-",
                f"{best.quality.misfit:.3g}" if best else "-",
                f"{own:.3g}",
                f"{min(books, default=np.inf):.3g}",
                f"{spent:.1f}",
                named,
                found if isinstance(found, str) else "; ".join(found.equation.lines()),
            ),
            strict=True,
        )
    )


def searched(
    system: System, t: Float, data: dict[str, Float], effort: str, seconds: float
) -> tuple[str, str, str, int]:
    """Return the law named, its verdict and misfit, and the place of the first textbook form, 0 for none."""
    found = answer(t, data, system.order, effort, seconds)
    if isinstance(found, str):
        return found, "no answer", "-", 0
    structures = list(dict.fromkeys(c.equation.skeleton.structure for c in found.candidates))
    keys = {parse_system(list(form)).structure for form in system.forms}
    place = next((i for i, each in enumerate(structures, 1) if each in keys), 0)
    quality = found.quality
    return "; ".join(found.equation.lines()), quality.verdict.value, f"{quality.misfit:.3g}", place


def answer(t: Float, data: dict[str, Float], order: int, effort: str, seconds: float) -> gode.Discovery | str:
    """Return what is found in a record, or the sentence that came instead."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return gode.discover(t, data, order=order, effort=effort, max_seconds=seconds)
        except gode.GodeError as error:
            return str(error)


def fitted(form: Form, t: Float, data: dict[str, Float]) -> gode.Discovery | None:
    """Return the fit of a textbook form, None where it has none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return gode.fit(list(form), t, data)
        except gode.GodeError:
            return None


def forecast(found: gode.Discovery, t: Float, data: dict[str, Float], n: int) -> float:
    """Return the error after row n, in standard deviations of each state, averaged over the states."""
    try:
        path = found.simulate(t)
    except gode.GodeError:
        return np.inf
    squares = [
        np.nanmean((path[name][n:] - values[n:]) ** 2) / np.nanvar(values) for name, values in data.items()
    ]
    return float(np.sqrt(np.mean(squares)))


if __name__ == "__main__":
    main()

"""Laws with a state that is not measured: are their constants fitted, and are they found?

    python -m gode_bench.hidden_states fit [--seeds 0 10] [--models motor tanks] [--out out/hidden.jsonl]
    python -m gode_bench.hidden_states discover [--seeds 0 5] [--effort normal]
    python -m gode_bench.hidden_states auto [--seeds 0 5] [--effort quick]

The records are simulated with noise of 3 % (`gode_bench.hidden_models`); seed 100 was used to set
numbers of the search. `fit` starts without a guess. `discover` is given 60 % of a record and asked for one
hidden state. `auto` compares none, one and two on records of laws that need none. Rows that the file already
holds are not made again.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

import gode
from gode.discovery.given import parse_law
from gode.discovery.simulate import Scenario, simulate
from gode.errors import GodeError
from gode.selection import ties
from gode_bench.hidden_models import MODELS, NOISE, HiddenRecord, Model, simulated
from gode_bench.rows import Row, append_row, read_rows

SEEN = 0.6  # of a record is given to a search
PLAIN = {  # laws of one state: solution by (t, three random numbers about one)
    "growth with a limit": lambda t, a, b, c: 10 * a / (1 + 9 * b * np.exp(-6 * c * t)),
    "relaxation": lambda t, a, b, c: 2 * a - 3 * b * np.exp(-4 * c * t),
    "oscillation": lambda t, a, b, c: a * np.exp(-1.5 * b * t) * np.cos(20 * c * t),
    "decay": lambda t, a, b, c: 5 * a * np.exp(-3 * b * t),
    "decay of second order": lambda t, a, b, c: a / (1 + 8 * b * t),
}


def fitted(record: HiddenRecord) -> Row:
    """Return the errors of constants that the data determine, in standard errors; no guess is given."""
    model = record.model
    initial = {name: record.start[(0, -1)[model.states.index(name)]] for name in model.known}
    found = gode.fit(
        list(model.equations),
        record.t,
        {model.states[0]: record.measured},
        force=record.force or None,
        hold=True if record.force else None,
        initial=initial or None,
        fixed={name: record.constants[name] for name in model.fixed} or None,
    )
    constants = {c.place: c for c in found.equation.constants}
    determined = [n for n in record.constants if n in constants and n not in (*model.open, *model.fixed)]
    gaps = {
        n: (constants[n].value - record.constants[n]) / (constants[n].error or np.inf) for n in determined
    }
    return {
        "gaps": {name: round(float(gap), 2) for name, gap in gaps.items()},
        "rms": round(found.candidates[0].rms, 3),
        "other": any("explained as well" in remark for remark in found.remarks),
    }


def discovered(record: HiddenRecord, effort: str) -> Row:
    """Return how well a search with one hidden state forecasts, and whether it names the true form."""
    model, n = record.model, int(SEEN * len(record.t))
    found = gode.discover(
        record.t[:n],
        {model.states[0]: record.measured[:n]},
        force={name: values[:n] for name, values in record.force.items()} or None,
        hold=True if record.force else None,
        order=model.order,
        hidden=["w"],
        effort=effort,
    )
    best, prepared = found.candidates[0], found.prepared
    solved = simulate(best, prepared, Scenario(record.t, force=record.force or None))
    later, true = solved.values[0, n:], record.clean[n:]
    left = np.sum((later - true) ** 2) / np.sum((true - true.mean()) ** 2)
    near = ties(found.candidates, found.settings.selection, prepared.floor)
    forms = {parse_law(list(form), prepared.dataset).structure for form in model.forms}
    places = [i for i, c in enumerate(near) if c.equation.skeleton.structure in forms]
    alike = spearmanr(solved.values[3, :n], record.hidden[:n])[0]
    return {
        "forecast": round(float(1 - left), 4) if np.isfinite(left) else None,
        "named": bool(places) and places[0] == 0,
        "near": bool(places),
        "rank": round(float(abs(alike)), 4),
        "rms": round(best.rms, 3),
        "law": str(best.equation).replace("\n", "; "),
    }


def compared(name: str, seed: int, effort: str) -> Row:
    """Return how many hidden states a search takes for a record of a law that needs none."""
    rng = np.random.default_rng((seed, len(name)))
    t = np.linspace(0.0, 1.0, 60)
    clean = PLAIN[name](t, *np.exp(0.15 * rng.standard_normal(3)))
    u = clean + NOISE * np.std(clean) * rng.standard_normal(len(t))
    found = gode.discover(t, u, hidden="auto", effort=effort)
    return {"hidden": len(found.prepared.dataset.hidden), "law": str(found.equation).replace("\n", "; ")}


def tell(what: str, rows: Sequence[Row]) -> None:
    """Print the figures of one part of the study."""
    good = [row for row in rows if "error" not in row]
    print(f"{what}: {len(rows)} records, {len(rows) - len(good)} without an answer")
    if what == "fit" and good:
        gaps = np.array([abs(gap) for row in good for gap in row["gaps"].values()])
        all_near = np.mean([max(map(abs, row["gaps"].values())) <= 3 for row in good])
        print(f"  all constants within 3 standard errors: {100 * all_near:.0f} % of fits")
        print(f"  intervals of 95 % that hold the truth: {100 * np.mean(gaps <= 1.96):.0f} % of {len(gaps)}")
    if what == "discover" and good:
        for text, test in (
            ("forecast of the last 40 % with R2 of .95", lambda r: (r["forecast"] or -1) >= 0.95),
            ("true form named", lambda r: r["named"]),
            ("true form named or a near tie", lambda r: r["near"]),
            ("hidden curve with a rank correlation of .95", lambda r: r["rank"] >= 0.95),
        ):
            print(f"  {text}: {sum(map(test, good))} of {len(rows)}")
    if what == "auto":
        print(f"  a hidden state where none acts: {sum(row['hidden'] > 0 for row in good)} of {len(rows)}")


def main() -> None:
    """Run the study that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("what", choices=["fit", "discover", "auto"])
    parser.add_argument("--seeds", nargs=2, type=int, default=(0, 5))
    parser.add_argument("--models", nargs="*", default=[])
    parser.add_argument("--effort", default="normal")
    parser.add_argument("--out", type=Path, default=Path("out/hidden.jsonl"))
    asked = parser.parse_args()
    makers: dict[str, Callable[[str, int], Row]] = {
        "fit": lambda name, seed: fitted(simulated(_model(name), seed)),
        "discover": lambda name, seed: discovered(simulated(_model(name), seed), asked.effort),
        "auto": lambda name, seed: compared(name, seed, asked.effort),
    }
    names = [*PLAIN] if asked.what == "auto" else [model.name for model in MODELS]
    wanted = [n for n in names if not asked.models or any(word in n for word in asked.models)]
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    rows = [row for row in read_rows(asked.out) if row["what"] == asked.what] if asked.out.exists() else []
    done = {(row["model"], row["seed"]) for row in rows}
    for seed in range(*asked.seeds):
        for name in wanted:
            if (name, seed) in done:
                continue
            begun = time.process_time()
            row: Row = {"what": asked.what, "model": name, "seed": seed, "effort": asked.effort}
            try:
                row |= makers[asked.what](name, seed)
            except GodeError as error:
                row["error"] = str(error)
            row["seconds"] = round(time.process_time() - begun, 1)
            append_row(asked.out, row)
            rows.append(row)
            print(row, flush=True)
    tell(asked.what, rows)


def _model(name: str) -> Model:
    return next(model for model in MODELS if model.name == name)


if __name__ == "__main__":
    main()

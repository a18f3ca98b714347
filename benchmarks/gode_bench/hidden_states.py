"""Laws with a state that is not measured: are their constants fitted, and are they found?

    python -m gode_bench.hidden_states fit [--seeds 0 10] [--models motor tanks] [--out out/hidden.jsonl]
    python -m gode_bench.hidden_states discover [--seeds 0 5] [--effort normal]
    python -m gode_bench.hidden_states frame [--seeds 0 5] [--effort normal]
    python -m gode_bench.hidden_states auto [--seeds 0 5] [--effort quick]

The records are simulated with noise of 3 % (`gode_bench.hidden_models`); seeds 100 to 102 were used to set
numbers of the search. `fit` starts without a guess. `discover` is given 60 % of a record and asked for one
hidden state; so is `frame`, but for the unknown functions of a law of which the rest is known. Beside its
forecast stands that of the true form, fitted to the same part. `auto` compares none, one and two on records
of laws that need none, and of the models. Rows that the file already holds are not made again.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

import gode
from gode.arrays import Float
from gode.discovery.given import parse_law
from gode.discovery.simulate import Scenario, simulate
from gode.equation import Node, parse_tree
from gode.equation.sums import to_sum
from gode.equation.tree import renamed, unlabelled
from gode.errors import GodeError
from gode.selection import Candidate, ties
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
    near = ties(found.candidates, found.settings.selection, prepared.floor)
    forms = {parse_law(list(form), prepared.dataset).structure for form in model.forms}
    places = [i for i, c in enumerate(near) if c.equation.skeleton.structure in forms]
    curves = solved.values[[3, 0], :n]
    alike = _alike(curves[:1], record.hidden[:n])
    return {
        "forecast": _forecast(record, solved.values[0], n),
        "possible": _possible(record, n),
        "named": bool(places) and places[0] == 0,
        "near": bool(places),
        "rank": alike,
        "mixed": _alike(curves, record.hidden[:n]) if model.mixes and places else alike,
        "rms": round(best.rms, 3),
        "law": str(best.equation).replace("\n", "; "),
    }


def _forecast(record: HiddenRecord, values: Float, n: int) -> float | None:
    """Return the share of the later variation that a solution foretells."""
    later, true = values[n:], record.clean[n:]
    left = np.sum((later - true) ** 2) / np.sum((true - true.mean()) ** 2)
    return round(float(1 - left), 4) if np.isfinite(left) else None


def _possible(record: HiddenRecord, n: int) -> float | None:
    """Return the forecast of the true form, fitted to what a search is given."""
    force = {name: values[:n] for name, values in record.force.items()}
    given = {record.model.states[0]: record.measured[:n]}
    held = True if force else None
    try:
        found = gode.fit(list(record.model.forms[0]), record.t[:n], given, force=force or None, hold=held)
    except GodeError:
        return None
    solved = simulate(
        found.candidates[0], found.prepared, Scenario(record.t, force=record.force or None)
    ).values
    return _forecast(record, solved[0], n)


def _alike(curves: Float, hidden: Float) -> float:
    """Return the rank correlation, up to sign, of a hidden state and the nearest sum of curves."""
    terms = np.vstack([curves, np.ones_like(hidden)])
    nearest = np.linalg.lstsq(terms.T, hidden, rcond=None)[0] @ terms if len(curves) > 1 else curves[0]
    return round(float(abs(spearmanr(nearest, hidden)[0])), 4)


def framed(record: HiddenRecord, effort: str) -> Row:
    """Return whether the unknown functions of a frame with a hidden state are found."""
    model, n = record.model, int(SEEN * len(record.t))
    initial = {name: record.start[(0, -1)[model.states.index(name)]] for name in model.known}
    found = gode.discover(
        record.t[:n],
        {model.states[0]: record.measured[:n]},
        force={name: values[:n] for name, values in record.force.items()} or None,
        hold=True if record.force else None,
        frame=list(model.frame),
        initial=initial or None,
        effort=effort,
    )
    best, prepared = found.candidates[0], found.prepared
    solved = simulate(best, prepared, Scenario(record.t, force=record.force or None))
    near = ties(found.candidates, found.settings.selection, prepared.floor)
    right = [i for i, c in enumerate(near) if _has_filled(c, model)]
    return {
        "forecast": _forecast(record, solved.values[0], n),
        "named": right[:1] == [0],
        "near": bool(right),
        "rms": round(best.rms, 3),
        "law": str(best.equation).replace("\n", "; "),
        "found": found.equation.functions,
    }


def _has_filled(candidate: Candidate, model: Model) -> bool:
    """Tell whether the unknown functions of a law have the terms of the true ones."""
    skeleton, seen = candidate.equation.skeleton, set[str]()
    for s, part in enumerate(skeleton.parts):
        for found in part.functions:
            if found.name in seen:  # which is written as in its first equation
                continue
            seen.add(found.name)
            terms = _terms(renamed(found.tree, skeleton.names(s)))
            texts = model.holes[found.name]
            if terms not in [_terms(parse_tree(x, inputs=model.inputs, states=model.states)) for x in texts]:
                return False
    return seen == set(model.holes)


def _terms(tree: Node) -> frozenset[Node]:
    return frozenset(to_sum(unlabelled(tree)))


def compared(name: str, seed: int, effort: str) -> Row:
    """Return how many hidden states a search takes for a record, of a law that needs none or one."""
    if name not in PLAIN:
        record = simulated(_model(name), seed)
        found = gode.discover(
            record.t,
            {record.model.states[0]: record.measured},
            force=record.force or None,
            hold=True if record.force else None,
            hidden="auto",
            effort=effort,
        )
    else:
        rng = np.random.default_rng((seed, len(name)))
        t = np.linspace(0.0, 1.0, 60)
        clean = PLAIN[name](t, *np.exp(0.15 * rng.standard_normal(3)))
        u = clean + NOISE * np.std(clean) * rng.standard_normal(len(t))
        found = gode.discover(t, u, hidden="auto", effort=effort)
    best = found.candidates[0]
    return {
        "hidden": len(found.prepared.dataset.hidden),
        "order": max(best.equation.skeleton.orders),
        "rms": round(best.rms, 3),
        "law": str(found.equation).replace("\n", "; "),
    }


def tell(what: str, rows: Sequence[Row]) -> None:
    """Print the figures of one part of the study."""
    good = [row for row in rows if "error" not in row]
    print(f"{what}: {len(rows)} records, {len(rows) - len(good)} without an answer")
    if what == "fit" and good:
        gaps = np.array([abs(gap) for row in good for gap in row["gaps"].values()])
        all_near = np.mean([max(map(abs, row["gaps"].values())) <= 3 for row in good])
        print(f"  all constants within 3 standard errors: {100 * all_near:.0f} % of fits")
        print(f"  intervals of 95 % that hold the truth: {100 * np.mean(gaps <= 1.96):.0f} % of {len(gaps)}")
    if what in ("discover", "frame") and good:
        for text, test in (
            ("forecast of the last 40 % with R2 of .95", lambda r: (r["forecast"] or -1) >= 0.95),
            ("true form named", lambda r: r["named"]),
            ("true form named or a near tie", lambda r: r["near"]),
            ("hidden curve with a rank correlation of .95", lambda r: r.get("rank", 0) >= 0.95),
            ("the same up to a multiple of what was measured", lambda r: r.get("mixed", 0) >= 0.95),
            ("forecast with R2 of .95 by the true form, fitted", lambda r: (r.get("possible") or -1) >= 0.95),
        ):
            if what == "frame" and text.startswith(("hidden", "the same", "forecast with")):
                continue
            print(f"  {text}: {sum(map(test, good))} of {len(rows)}")
    if what == "auto":
        for text, own in (
            ("a hidden state where none acts", [row for row in good if row["model"] in PLAIN]),
            ("a hidden state where one acts", [row for row in good if row["model"] not in PLAIN]),
        ):
            print(f"  {text}: {sum(row['hidden'] > 0 for row in own)} of {len(own)}")


def main() -> None:
    """Run the study that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("what", choices=["fit", "discover", "frame", "auto"])
    parser.add_argument("--seeds", nargs=2, type=int, default=(0, 5))
    parser.add_argument("--models", nargs="*", default=[])
    parser.add_argument("--effort", default="normal")
    parser.add_argument("--out", type=Path, default=Path("out/hidden.jsonl"))
    asked = parser.parse_args()
    makers: dict[str, Callable[[str, int], Row]] = {
        "fit": lambda name, seed: fitted(simulated(_model(name), seed)),
        "discover": lambda name, seed: discovered(simulated(_model(name), seed), asked.effort),
        "frame": lambda name, seed: framed(simulated(_model(name), seed), asked.effort),
        "auto": lambda name, seed: compared(name, seed, asked.effort),
    }
    models = [model.name for model in MODELS]
    names = [*PLAIN, *models] if asked.what == "auto" else models
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

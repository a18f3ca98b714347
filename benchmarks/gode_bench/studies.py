"""The studies behind the page of results: the command of each, a small form of it, and its tables."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import dropwhile, takewhile
from pathlib import Path

from gode.files import read_text
from gode_bench import (
    calibration,
    engine,
    error_bars,
    false_discoveries,
    fleet,
    measured,
    nonlinear,
    robustness,
)
from gode_bench.methods import METHODS, title_of
from gode_bench.records import read_records
from gode_bench.report import main_table
from gode_bench.rows import read_rows
from gode_bench.tables import TextTable, settings

MAX_BYTES = 100_000_000
PRINTED = "printed.txt"  # what the command of a study printed, in its folder
ROWS = "rows.jsonl"


@dataclass(frozen=True)
class Study:
    """A command, its small form, and how its tables are read from its folder.

    In the words, DIR is the folder of the study, and DATA that of measured records that are not part of gode.
    """

    name: str
    title: str
    about: str  # what is measured, in a sentence or two
    words: tuple[str, ...]
    quick: tuple[str, ...]
    tables: Callable[[Path], list[TextTable]]
    needs_data: bool = False  # others do with the records of this project

    @property
    def methods(self) -> list[str]:
        """The methods that the command names."""
        named = list(dropwhile("--methods".__ne__, self.words))[1:]
        return list(takewhile(lambda word: not word.startswith("-"), named))

    @property
    def absent(self) -> list[str]:
        """The titles of the methods that are not installed."""
        return [title_of(name) for name in self.methods if not METHODS[name].installed]


def of_runs(folder: Path) -> list[TextTable]:
    """Return the tables of a folder of runs, one for each setting."""
    return [main_table(setting, own) for setting, own in settings(read_records(folder)).items()]


def _printed(folder: Path) -> list[TextTable]:
    return engine.tables(json.loads(read_text(folder / PRINTED, MAX_BYTES)))


def _bench(*words: str) -> tuple[str, ...]:
    return ("bench", *words)


SUITES = ("all", "--methods", "gode", "floor", "pysindy", "pyoperon", "--jobs", "1", "--out", "DIR")
PEERS = ("--methods", "gode", "pysindy", "--jobs", "1", "--out", "DIR")
OUT = ("--out", f"DIR/{ROWS}")
SOME = "ID1 ID6 ID11 ID16 ID21 ID26 NLODE1 NLODE4 Pendulum Duffing"
FEW = "yeast_growth falling_ball coffee_black coffee_filter foam_erdinger chick indometh n2o5"
STUDIES = (
    Study(
        "suites",
        "The paper's 43 problems",
        "B1 has thirty equations of first order, B2 ten of first and second, B3 three driven oscillators of "
        "which the acceleration is measured. All have 5 % noise and known initial values.",
        _bench(*SUITES, "--seeds", "40", "41", "42"),
        _bench(*SUITES, "--seeds", "40", "--problems", *SOME.split()),
        of_runs,
    ),
    Study(
        "odebench",
        "ODEBench",
        "Systems of one to four states, each value with 5 % noise of its own.",
        _bench("odebench", *PEERS, "--seeds", "21"),
        _bench("odebench", *PEERS, "--seeds", "21", "--problems", "1-51"),
        of_runs,
    ),
    Study(
        "dysts",
        "Chaotic systems",
        "Systems of three states of the collection dysts, ten periods of each, with 1 % noise.",
        _bench("dysts", *PEERS, "--seeds", "21"),
        _bench("dysts", *PEERS, "--seeds", "21", "--effort", "quick", "--problems", "Lorenz", "SprottD"),
        of_runs,
    ),
    Study(
        "autosindy",
        "AutoSINDy's systems and noise levels",
        "Six systems, six noise levels and five seeds. Published for all 180 trials (arXiv 2605.09696): R² "
        "of .99 from the other start in 68.3 % by AutoSINDy, 18.9 % by PySINDy, 8.3 % by PySR.",
        _bench("autosindy", *PEERS, "--seeds", "32", "33", "34", "35", "36"),
        _bench(
            "autosindy",
            *PEERS,
            "--seeds",
            "32",
            "--noise",
            "0.01",
            "0.05",
            "--problems",
            "duffing",
            "van-der-pol",
        ),
        of_runs,
    ),
    Study(
        "calibration",
        "Probabilities",
        "Laws that people use are simulated with constants, noise and sampling drawn at random, and "
        "discovered: of the laws that are named with some probability, how many are right?",
        ("calibration", "--laws", "150", "--seed", "7000", *OUT),
        ("calibration", "--laws", "12", "--seed", "7000", *OUT),
        lambda folder: calibration.tables(read_rows(folder / ROWS)),
    ),
    Study(
        "coverage",
        "Error bars",
        "How often do the 95 % intervals of the constants of a known law hold the truth?",
        ("error_bars", "--runs", "24", *OUT),
        ("error_bars", "--runs", "4", *OUT),
        lambda folder: error_bars.tables(read_rows(folder / ROWS)),
    ),
    Study(
        "noise",
        "False discoveries",
        "Series of noise alone follow no equation: how many are said to?",
        ("false_discoveries", "--series", "100", *OUT),
        ("false_discoveries", "--series", "10", *OUT),
        lambda folder: false_discoveries.tables(read_rows(folder / ROWS)),
    ),
    Study(
        "robustness",
        "Outliers, correlated noise, rounded readings",
        "Four laws, each with four kinds of noise.",
        ("robustness", "--seeds", "10", *OUT),
        ("robustness", "--seeds", "1", "--effort", "quick", *OUT),
        lambda folder: robustness.tables(read_rows(folder / ROWS)),
    ),
    Study(
        "measured",
        "Measured records",
        "Published tables of measurements: which law is named, and how well it forecasts what was held back.",
        ("measured", "--data", "DATA", *OUT),
        ("measured", *FEW.split(), "--data", "DATA", *OUT),
        lambda folder: measured.tables(read_rows(folder / ROWS)),
    ),
    Study(
        "nonlinear",
        "Records of nonlinearbenchmark.org",
        "A law is found on the training record and simulated over the test records; the published methods "
        "name no law.",
        _bench("nonlinear", "--data", "DATA", "--rows", f"DIR/{ROWS}"),
        _bench("nonlinear", "--effort", "quick", "--data", "DATA", "--rows", f"DIR/{ROWS}"),
        lambda folder: nonlinear.tables(read_rows(folder / ROWS)),
        needs_data=True,
    ),
    Study(
        "fleets",
        "Many records",
        "What a record and a worker cost when thousands of records are searched.",
        ("fleet", "cost", "--out", "DIR"),
        ("fleet", "cost", "--out", "DIR"),
        lambda folder: fleet.tables(read_rows(folder / fleet.FIGURES)),
    ),
    Study(
        "speed",
        "Speed of the engine",
        "Rates on one core, beside a baseline in the same process.",
        _bench("engine", "fits", "solves", "decode", "smooth", "--json"),
        _bench("engine", "fits", "solves", "--quick", "--json"),
        _printed,
    ),
)

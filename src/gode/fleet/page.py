"""The HTML page of a fleet: its laws, what its constants depend on, and a table to sort and filter."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import pandas as pd

from gode.files import make_folder, replacing
from gode.fleet.folder import PICTURES, file_name
from gode.fleet.result import Fit
from gode.report.page import page
from gode.templates import text_of

MOST_ROWS = 5000  # records in the page; the CSV has all
MOST_LINES = 30  # of the smaller tables
MOST_LAWS = 8  # whose constants are shown
CLEAR = "clear"
TEMPLATES = "gode/fleet/templates"
Cells = tuple[object, ...]


class Summary(Protocol):
    """What the page shows of a fleet; see `gode.Fleet`."""

    @property
    def records(self) -> pd.DataFrame: ...  # noqa: D102 - as of Fleet
    @property
    def table(self) -> pd.DataFrame: ...  # noqa: D102
    @property
    def fits(self) -> Mapping[str, Sequence[Fit]]: ...  # noqa: D102
    @property
    def groups(self) -> pd.DataFrame: ...  # noqa: D102
    @property
    def common(self) -> pd.DataFrame: ...  # noqa: D102
    def population(self, law: str | None = None) -> pd.DataFrame: ...  # noqa: D102
    @property
    def outliers(self) -> pd.DataFrame: ...  # noqa: D102
    def against(self, metadata: pd.DataFrame) -> pd.DataFrame: ...  # noqa: D102


def write_page(fleet: Summary, path: Path, metadata: pd.DataFrame | None = None) -> Path:
    """Write the page of a fleet; pictures beside it in a folder `pictures` are linked."""
    make_folder(path.parent)
    text = fleet_page(fleet, metadata, path.parent)
    with replacing(path) as draft:
        draft.write_text(text, encoding="utf-8")
    return path


def fleet_page(fleet: Summary, metadata: pd.DataFrame | None = None, folder: Path | None = None) -> str:
    """Return the page as text. It loads nothing; what it runs is the script of its table."""
    return page(
        f"{TEMPLATES}/fleet.html",
        title="Fleet of records",
        script=text_of(f"{TEMPLATES}/table.js"),
        headline=_headline(fleet),
        overview=list(_overview(fleet)),
        laws=_laws(fleet),
        common=_common(fleet),
        constants=_constants(fleet),
        outliers=_outliers(fleet),
        regressions=_regressions(fleet, metadata),
        records=_records(fleet, folder),
        more=max(len(fleet.table) - MOST_ROWS, 0),
    )


def _headline(fleet: Summary) -> str:
    groups = fleet.groups
    if groups.empty:
        return f"No law was found in {len(fleet.records)} records."
    first = groups.iloc[0]
    return (
        f"{len(fleet.records)} records, {len(groups)} {'laws' if len(groups) > 1 else 'law'}; the most "
        f"frequent, {first['law']}, is behind {first['records']}."
    )


def _overview(fleet: Summary) -> Iterator[str]:
    records = fleet.records
    failed = records[records["failure"] != ""]
    yield f"In {len(fleet.fits)} of {len(records)} records a law was found that they support."
    verdicts = records.loc[records["failure"] == "", "verdict"].value_counts()
    yield "Verdicts: " + ", ".join(f"{n} {word}" for word, n in verdicts.items()) + "."
    for reason, n in failed["failure"].value_counts().head(5).items():
        yield f"{n} without an equation: {reason}"
    if "seconds" in records:
        yield f"{records['seconds'].median():.1f} s a record in the median."


def _laws(fleet: Summary) -> list[Cells]:
    return [
        (str(row["law"]), int(row["records"]), f"{100 * row['share']:.1f} %", int(row["could explain"]))
        for _, row in fleet.groups.head(MOST_LINES).iterrows()
    ]


def _common(fleet: Summary) -> list[Cells]:
    return [
        (str(row["law"]), f"{row['serves']} of {row['of']}", row["gain"])
        for _, row in fleet.common.head(5).iterrows()
    ]


def _constants(fleet: Summary) -> list[Cells]:
    return [
        (
            str(law),
            str(place),
            int(row["records"]),
            f"{row['mean']:.4g} ± {row['error']:.2g}",
            float(row["spread"]),
        )
        for law in fleet.groups["law"].head(MOST_LAWS)
        for place, row in fleet.population(str(law)).iterrows()
    ]


def _outliers(fleet: Summary) -> list[Cells]:
    return [
        (str(name), str(row["law"]), str(row["constant"]), *map(float, row[["value", "usual", "deviations"]]))
        for name, row in fleet.outliers.head(MOST_LINES).iterrows()
    ]


def _regressions(fleet: Summary, metadata: pd.DataFrame | None) -> list[Cells] | None:
    """Return lines of constants against columns of the metadata; None without metadata."""
    if metadata is None:
        return None
    return [
        (str(row["law"]), str(row["constant"]), str(row["column"]), int(row["n"]),
         f"{row['slope']:.4g} ± {row['error']:.2g}", float(row["r2"]), f"{row['p']:.2g}",
         CLEAR if row["clear"] else "")
        for _, row in fleet.against(metadata).head(MOST_LINES).iterrows()
    ]  # fmt: skip


def _records(fleet: Summary, folder: Path | None) -> list[tuple[str, str, list[object]]]:
    """Return name, address of the picture and further cells of each record."""
    return [
        (
            str(name),
            _picture(str(name), folder),
            [
                row["group"],
                " ".join(f"{c:.4g}" for c in row["constants"]),
                float(row["misfit"]) if row["misfit"] is not None and row["misfit"] == row["misfit"] else "",
                row["verdict"] or "failed",
                row["equation"] or row["failure"],
            ],
        )
        for name, row in fleet.table.head(MOST_ROWS).iterrows()
    ]


def _picture(name: str, folder: Path | None) -> str:
    """Return the address of the picture of a record; empty if there is none."""
    picture = f"{file_name(name)}.svg"
    if folder is None or not (folder / PICTURES / picture).is_file():
        return ""
    return f"{PICTURES}/{picture.replace('%', '%25')}"  # The name of the file has percent signs of its own.

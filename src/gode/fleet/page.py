"""The HTML page of a fleet: its laws, what its constants depend on, and a table to sort and filter."""

import re
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Protocol

import pandas as pd

from gode.files import make_folder, replacing
from gode.fleet.folder import PICTURES, file_name
from gode.fleet.result import Fit
from gode.markup import Markup, bullets, html, paragraph, section, table
from gode.report.html import page

MOST_ROWS = 5000  # records in the page; the CSV has all
MOST_LINES = 30  # of the smaller tables
MOST_LAWS = 8  # whose constants are shown
CLEAR = "clear"


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
    text = page(
        "Fleet of records",
        Markup(f'<div class="verdict">{paragraph(_headline(fleet))}</div>'),
        section("In short", bullets(_overview(fleet))),
        section("Laws", _groups(fleet)),
        section("One law for the whole fleet", *_common(fleet)),
        section("Constants", *_constants(fleet)),
        section("Records that lie apart", *_outliers(fleet)),
        section("What the constants depend on", *_regressions(fleet, metadata)),
        section("Records", *_records(fleet, folder)),
    )
    return _with_script(text, (files("gode.fleet") / "table.js").read_text(encoding="utf-8"))


def _with_script(text: str, script: str) -> str:
    """Return a page with one script, which its policy allows by its hash and no other."""
    digest = b64encode(sha256(script.encode()).digest()).decode()
    allowed = f"default-src 'none'; script-src 'sha256-{digest}'"
    text = text.replace("default-src 'none'", allowed, 1)
    text = text.replace("it loads nothing and runs nothing", "it loads nothing")
    return re.sub(r"</body>", lambda _: f"<script>{script}</script>\n</body>", text, count=1)


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


def _groups(fleet: Summary) -> Markup:
    rows = [
        (str(row["law"]), int(row["records"]), f"{100 * row['share']:.1f} %", int(row["could explain"]))
        for _, row in fleet.groups.head(MOST_LINES).iterrows()
    ]
    return table(("law", "records", "share", "could explain"), rows)


def _common(fleet: Summary) -> list[Markup]:
    found = fleet.common.head(5)
    if found.empty:
        return []
    counts = [f"{row['serves']} of {row['of']}" for _, row in found.iterrows()]
    rows = [(str(law), n, gain) for law, n, gain in zip(found["law"], counts, found["gain"], strict=True)]
    better = "a better description of these than" if rows[0][2] > 0 else "no better for them than"
    words = f"The form {rows[0][0]}, with constants of each record's own, serves {counts[0]}"
    return [
        paragraph(f"{words}; it is {better} forms of their own."),
        table(("form", "serves", "gain over own forms"), rows),
        paragraph(
            "The gain is that of -2 log of the probability: the price of the form is paid once, not "
            "for each record, less what the form explains worse than each record's own.",
            "soft",
        ),
    ]


def _constants(fleet: Summary) -> list[Markup]:
    rows = [
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
    if not rows:
        return []
    note = "The spread is that between records, without the errors of their estimates; ± is a standard error."
    return [
        table(("law", "constant of", "records", "mean", "spread"), rows),
        paragraph(f"{note} Records that lie apart are left out.", "soft"),
    ]


def _outliers(fleet: Summary) -> list[Markup]:
    found = fleet.outliers.head(MOST_LINES)
    if found.empty:
        return [paragraph("No record has constants that lie apart from those of others with the same law.")]
    rows = [
        (str(name), str(row["law"]), str(row["constant"]), float(row["value"]), float(row["usual"]),
         float(row["deviations"]))
        for name, row in found.iterrows()
    ]  # fmt: skip
    return [table(("record", "law", "constant of", "value", "usual", "standard deviations"), rows)]


def _regressions(fleet: Summary, metadata: pd.DataFrame | None) -> list[Markup]:
    if metadata is None:
        return []
    found = fleet.against(metadata).head(MOST_LINES)
    if found.empty:
        return [paragraph("No column of numbers belongs to enough of the records.")]
    rows = [
        (str(row["law"]), str(row["constant"]), str(row["column"]), int(row["n"]),
         f"{row['slope']:.4g} ± {row['error']:.2g}", float(row["r2"]), f"{row['p']:.2g}",
         CLEAR if row["clear"] else "")
        for _, row in found.iterrows()
    ]  # fmt: skip
    note = "Lines by least squares; ± is a standard error. Clear: too steep for chance among all lines."
    return [
        table(("law", "constant of", "against", "records", "slope", "R²", "p", ""), rows),
        paragraph(note, "soft"),
    ]


def _records(fleet: Summary, folder: Path | None) -> list[Markup]:
    shown = fleet.table.head(MOST_ROWS)
    names = ("id", "law", "constants", "misfit", "verdict", "equation")
    rows = [
        (
            _linked(str(name), folder),
            row["group"],
            " ".join(f"{c:.4g}" for c in row["constants"]),
            float(row["misfit"]) if row["misfit"] is not None and row["misfit"] == row["misfit"] else "",
            row["verdict"] or "failed",
            row["equation"] or row["failure"],
        )
        for name, row in shown.iterrows()
    ]
    hint = "words, verdict=poor, misfit&gt;2"
    box = (
        f'<p><label>Show <input type="search" size="32" placeholder="{hint}" disabled></label> '
        '<span class="count" role="status"></span> <button type="button" hidden>Show all</button></p>'
    )
    more = len(fleet.table) - len(shown)
    return [
        Markup(f'<div class="records">{box}{table(names, rows)}</div>'),
        paragraph(
            "Click on the head of a column to sort by it."
            + (f" {more} more are in the CSV." if more else ""),
            "soft",
        ),
    ]


def _linked(name: str, folder: Path | None) -> object:
    """Return a name with a link to its picture, if there is one."""
    picture = f"{file_name(name)}.svg"
    if folder is None or not (folder / PICTURES / picture).is_file():
        return name
    target = picture.replace("%", "%25")  # of the name of the file, which has some of its own
    return Markup(f'<a href="{PICTURES}/{html(target)}">{html(name)}</a>')

"""Fleet: what many records have in common, as pandas tables and as a page."""

from __future__ import annotations  # help() then shows types by their names

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, fields
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Protocol

import numpy as np
import pandas as pd

from gode.discovery.quality import Verdict
from gode.errors import ConfigError
from gode.files import make_folder, write_text
from gode.fitting.population import population_of
from gode.fleet.engine import engine_of, work_through
from gode.fleet.folder import PICTURES, file_name, packed_record, read_rows
from gode.fleet.grouping import FEWEST, LEVEL, NEAR, Grouping, deviations, group, line, to_fit, too_far
from gode.fleet.many import discover_many
from gode.fleet.result import Fit, Refit, Result, Row, begin, refit
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
    write_text(path, text)
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


NEEDED = ("law", "verdict", "failure", "fits")
HIDDEN = ("fits", "gode")  # columns of a row that tables do not show
Packed = Callable[[str], bytes]  # the compressed record of a name


class Fleet:
    """Many records and the laws behind them: tables in, tables out.

    Args:
        table: a row for each record, as `Fleet.discover`, `Fleet.read` or `table_of` make it.

    Example:
        >>> fleet = Fleet.discover(wells, id="well", effort="quick")  # doctest: +SKIP
        >>> fleet.groups, fleet.outliers, fleet.against(temperatures)  # doctest: +SKIP
    """

    def __init__(self, table: pd.DataFrame, packed: Packed | None = None) -> None:
        missing = [name for name in NEEDED if name not in table.columns]
        if missing:
            raise ConfigError(
                f"a fleet's table needs the columns {', '.join(NEEDED)}, but {missing[0]} is missing; make "
                "it by Fleet.discover or Fleet.read"
            )
        self.records = table
        self._packed = packed

    @classmethod
    def discover(
        cls,
        records: object,
        *,
        executor: Executor | None = None,
        n_jobs: int | None = None,
        settle: bool = True,
        **options: object,
    ) -> Fleet:
        """Return the fleet of these records; see `discover_many` for the arguments.

        Args:
            settle: whether laws that others share are fitted to records that did not try them.
        """
        found = discover_many(records, executor=executor, n_jobs=n_jobs, **options)  # type: ignore[arg-type]
        results = {result.id: result for result in found}
        fleet = cls(table_of(result.row for result in results.values()), lambda name: results[name].packed)
        return fleet.settle(executor=executor, n_jobs=n_jobs) if settle else fleet

    @classmethod
    def read(cls, folder: str | PathLike[str]) -> Fleet:
        """Return the fleet that `gode discover-many --out` wrote to a folder."""
        return cls(table_of(read_rows(Path(folder))), lambda name: packed_record(Path(folder), name))

    @cached_property
    def fits(self) -> dict[str, tuple[Fit, ...]]:
        """The laws that were fitted to each record in which an equation was found, and is supported."""
        good = self.records[
            (self.records["failure"] == "") & (self.records["verdict"] != Verdict.UNSUPPORTED)
        ]
        return {str(name): tuple(own) for name, own in good["fits"].items() if len(own)}

    @cached_property
    def grouping(self) -> Grouping:
        """The few laws that explain the fleet, and the law of each record."""
        return group(self.fits)

    @cached_property
    def table(self) -> pd.DataFrame:
        """A row for each record: its own law and that of its group, with constants in the latter."""
        shown = self.records.drop(columns=[c for c in HIDDEN if c in self.records])
        law_of = self.grouping.law_of
        shown.insert(0, "group", [law_of.get(str(name), "") for name in shown.index])
        for column in ("constants", "errors", "places"):
            shown[column] = [getattr(self._fit(name), column, ()) for name in shown.index]
        return shown

    def _fit(self, name: object) -> Fit | None:
        """Return the fit of the law of its group to a record."""
        law = self.grouping.law_of.get(str(name))
        return next((fit for fit in self.fits.get(str(name), ()) if fit.law == law), None)

    @cached_property
    def groups(self) -> pd.DataFrame:
        """The laws, the most frequent first: records of each, and how many it could explain."""
        found = self.grouping
        n = max(len(self.fits), 1)
        rows = [
            {"law": law, "records": size, "share": size / n, "could explain": found.could[law]}
            for law, size in found.sizes.items()
        ]
        return pd.DataFrame(rows, columns=["law", "records", "share", "could explain"])

    @cached_property
    def common(self) -> pd.DataFrame:
        """One form with individual constants, against a form of each record's own.

        `serves` counts the records that it could explain. `gain` is how much less -2 log of the probability
        of these is with the one form, whose price is paid once; above zero, it is the better description.
        """
        rows = []
        for law in self.grouping.laws:
            own = [fit for fits in self.fits.values() for fit in fits if fit.law == law and fit.gap <= NEAR]
            price = own[0].prior if own else 0.0
            gain = sum(fit.prior - fit.gap for fit in own) - price
            rows.append({"law": law, "serves": len(own), "of": len(self.fits), "gain": gain})
        out = pd.DataFrame(rows, columns=["law", "serves", "of", "gain"])
        return out.sort_values(["serves", "gain"], ascending=False, ignore_index=True)

    def constants(self, law: str | None = None) -> pd.DataFrame:
        """The constants of the records of a law, by default the most frequent, by what they multiply."""
        values, errors = self._constants(self._known(law))
        return values.join(errors.add_prefix("error of "))

    def _constants(self, law: str) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return the constants of a law, and their standard errors, by record."""
        names = [name for name, own in self.grouping.law_of.items() if own == law]
        fits = {name: fit for name in names if (fit := self._fit(name)) is not None}
        columns = _columns(next(iter(fits.values())).places) if fits else []
        values = [fit.constants for fit in fits.values()]
        errors = [[_number(error) for error in fit.errors] for fit in fits.values()]
        shape = len(fits), len(columns)
        one, two = (np.array(part, float).reshape(shape) for part in (values, errors))
        return pd.DataFrame(one, list(fits), columns), pd.DataFrame(two, list(fits), columns)

    def population(self, law: str | None = None) -> pd.DataFrame:
        """Mean of each constant of a law with its standard error, and the spread between the records.

        The spread is that of the individuals, without the errors of their estimates, as where one law is
        fitted to many of them. Records that lie apart are left out.
        """
        law = self._known(law)
        values, errors = self._constants(law)
        others = self.outliers
        kept = ~values.index.isin(others.index[others["law"] == law]) & errors.notna().all(axis=1)
        values, errors = values[kept], errors[kept]
        names = ["mean", "error", "spread", "records"]
        if values.empty:
            return pd.DataFrame(columns=names)
        bars = errors.to_numpy(float)[:, :, None] ** 2 * np.eye(errors.shape[1])
        found = population_of(values.to_numpy(float), bars)
        columns = (found.mean, found.errors, found.deviations, len(values))
        return pd.DataFrame(dict(zip(names, columns, strict=True)), values.columns)

    def _known(self, law: str | None) -> str:
        laws = self.grouping.laws
        if law is None and laws:
            return laws[0]
        if law is None or law not in laws:
            raise ConfigError(f"no records have the law {law!r}; the laws are {', '.join(laws) or 'none'}")
        return law

    @cached_property
    def outliers(self) -> pd.DataFrame:
        """The records whose constants lie apart from those of others with the same law."""
        found = []
        for law in self.grouping.laws:
            values, errors = self._constants(law)
            if len(values) < FEWEST:
                continue
            names, x = list(values.index), values.to_numpy(float)
            for k, place in enumerate(values.columns):
                z = deviations(x[:, k], errors.to_numpy(float)[:, k])
                usual = float(np.median(x[:, k]))
                for i in np.flatnonzero(z > too_far(x.size)).tolist():
                    found.append((names[i], law, str(place), float(x[i, k]), usual, float(z[i])))
        columns = ["id", "law", "constant", "value", "usual", "deviations"]
        out = pd.DataFrame(found, columns=columns).sort_values("deviations", ascending=False)
        return out.set_index("id")

    def against(self, metadata: pd.DataFrame) -> pd.DataFrame:
        """Return regressions of the constants on the columns of numbers of a table about the records.

        Args:
            metadata: by the names of the records, as its index or as a column id.

        Each row is a line, constant = intercept + slope*column, by least squares, with the standard error of
        its slope. `clear` tells whether the slope is too large for chance among so many lines.
        """
        about = _by_name(metadata).select_dtypes("number")
        found = []
        for law in self.grouping.laws:
            values, _ = self._constants(law)
            known = about.reindex([_entry(name, about) for name in values.index]).to_numpy(float)
            for c, column in enumerate(about.columns):
                for k, place in enumerate(values.columns):
                    fitted = line(known[:, c], values.to_numpy(float)[:, k])
                    if fitted is not None:
                        found.append({"law": law, "constant": place, "column": column, **fitted._asdict()})
        names = ["law", "constant", "column", "n", "intercept", "slope", "error", "r2", "p"]
        out = pd.DataFrame(found, columns=names).sort_values("p", ignore_index=True, kind="stable")
        return out.assign(clear=out["p"] < LEVEL / max(len(out), 1))

    @property
    def unsettled(self) -> dict[str, tuple[str, ...]]:
        """For each record the laws of others that may be behind it, but were not fitted to it."""
        return to_fit(self.fits, self.grouping)

    def settle(
        self,
        *,
        executor: Executor | None = None,
        n_jobs: int | None = None,
        on_note: Callable[[str], None] | None = None,
    ) -> Fleet:
        """Return the fleet with the laws that others share also fitted to records that did not try them."""
        wanted = self.unsettled
        if not wanted or self._packed is None:
            return self
        tasks = (Refit(name, self._packed(name), laws) for name, laws in wanted.items())
        engine = engine_of(executor, n_jobs, begin)
        try:
            done = list(work_through(tasks, refit, engine, on_note=on_note))
        finally:
            engine.close()
        return self.with_fits({each.task.id: each.result for each in done if each.result})

    def with_fits(self, more: Mapping[str, Sequence[Fit]]) -> Fleet:
        """Return the fleet with further laws fitted to some records."""
        pairs = zip(self.records.index, self.records["fits"], strict=True)
        fits = [(*own, *more.get(str(name), ())) for name, own in pairs]
        return Fleet(self.records.assign(fits=pd.Series(fits, self.records.index)), self._packed)

    def report(self, path: str | PathLike[str], metadata: pd.DataFrame | None = None) -> Path:
        """Write one self-contained HTML page about the fleet, and return its path."""
        return write_page(self, Path(path), metadata)

    def __repr__(self) -> str:
        without = len(self.records) - len(self.fits)
        return (
            f"<Fleet of {len(self.records)} records, {len(self.grouping.laws)} laws, {without} without one>"
        )


def table_of(rows: Iterable[Row | Result]) -> pd.DataFrame:
    """Return results as the table of a fleet, in the order of their names."""
    plain = sorted((row.row if isinstance(row, Result) else row for row in rows), key=lambda row: row.id)
    values = [{**asdict(row), "fits": row.fits} for row in plain]
    return pd.DataFrame(values, columns=[f.name for f in fields(Row)]).set_index("id")


def _columns(places: Sequence[str]) -> list[str]:
    """Return a name for each constant: what it multiplies, with a number where that is not enough."""
    out: list[str] = []
    for place in places:
        same = sum(name == place or name.startswith(f"{place} (") for name in out)
        out.append(f"{place} ({same + 1})" if same else place)
    return out


def _by_name(metadata: pd.DataFrame) -> pd.DataFrame:
    frame = metadata.set_index("id") if "id" in metadata.columns else metadata
    return frame.set_axis(frame.index.map(str), axis=0)


def _entry(name: str, about: pd.DataFrame) -> str:
    """Return the name of a record in a table about records, which may leave out the ending of a file."""
    return name if name in about.index else Path(name).stem


def _number(value: float | None) -> float:
    return np.nan if value is None else value

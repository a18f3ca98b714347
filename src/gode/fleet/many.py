"""discover_many(): one discovery for each record, on any executor."""

from __future__ import annotations  # help() then shows types by their names

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import replace

from gode.fleet.engine import Done, Engine, work_through
from gode.fleet.engines import engine_of
from gode.fleet.result import Result, Row
from gode.fleet.sources import tasks_of
from gode.fleet.task import Task
from gode.fleet.work import begin, work


def discover_many(
    records: object,
    *,
    id: str | None = None,
    each: Mapping[str, Mapping[str, object]] | None = None,
    executor: Executor | None = None,
    n_jobs: int | None = None,
    picture: bool = False,
    on_note: Callable[[str], None] | None = None,
    **options: object,
) -> Iterator[Result]:
    """Find the equation behind each of many records; yield the results as they end, in any order.

    Each result is the same as if its record had been given to `discover` alone, whatever the executor, the
    number of its workers and the order. A record that cannot be used yields a result whose `failure` is a
    sentence. Few records are in flight at a time, so the memory of this process does not grow with them.

    Args:
        records: a list or any iterable of mappings of arguments of `discover`, as {"t": t, "u": u}, or of
            pairs (t, u); a mapping of names to such records; a folder of files, one record each; or a long
            table, a DataFrame or a file, with a column of names `id`.
        id: the column of a long table that tells records apart. A record in a list may have a key "id";
            otherwise its place is its name, "0", "1", ...
        each: options of single records, by their names.
        executor: any `concurrent.futures.Executor`, such as that of a Dask client (client.get_executor()),
            of loky or of mpi4py; by default processes of this machine. It is not shut down. If one of its
            workers dies, what it had is done again.
        n_jobs: number of our own processes; by default one for each core.
        picture: whether results have a picture, an SVG of data and solution.
        on_note: called with a sentence where a worker died or the executor broke.
        **options: those of `discover` that all records share, such as order=2 or effort="quick"; for files
            and tables also the columns, as time="t", u="angle" or states="prey,predator".

    Raises:
        DataError, ConfigError: with a sentence that says what to do, before the work begins.

    Example:
        >>> for found in discover_many("wells", effort="quick"):  # doctest: +SKIP
        ...     print(found.id, found.failure or found.equation)
    """
    tasks = tasks_of(records, id=id, each=each, picture=picture, options=options)
    return _results(tasks, engine_of(executor, n_jobs, begin), on_note)


def _results(
    tasks: Iterator[Task], engine: Engine, on_note: Callable[[str], None] | None
) -> Iterator[Result]:
    try:
        for done in work_through(tasks, work, engine, on_note=on_note):
            yield result_of(done)
    finally:
        engine.close()


def result_of(done: Done[Task, Result]) -> Result:
    """Return the result of a task, also if it has none."""
    if done.result is None:
        row = Row(id=done.task.id, failure=done.failure, seconds=round(done.seconds, 3), deaths=done.deaths)
        return Result(row)
    return replace(done.result, row=replace(done.result.row, deaths=done.deaths))

"""Traces in Spark: a data source, and a function that checks many sessions as one job.

    from adatrace.spark import AtfDataSource
    spark.dataSource.register(AtfDataSource)
    events = spark.read.format("atf").load("traces")

`docs/spark.md` describes options and limits. The workers need this package and pyarrow.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    EqualTo,
    GreaterThan,
    GreaterThanOrEqual,
    InputPartition,
    LessThan,
    LessThanOrEqual,
)
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

import adatrace

__all__ = ["AtfDataSource", "check", "sessions"]

LAST_NS = 2**63 - 1
"""The maximum value of a time column."""


@dataclass(frozen=True)
class Found:
    """A session below a folder, with the values of `host=` and `session=` in its path."""

    path: str
    host: str
    session: str


def sessions(root: str):
    """Finds the sessions below a folder: folders with `thread_N` folders or a manifest, sorted by path.

    The host comes from a folder `host=H` above the session, or else is empty. The session's name comes from a folder
    `session=S`, or else is its path below `root`.
    """
    def fail(error):
        raise error

    for folder, folders, files in os.walk(root, onerror=fail):
        # Unfinished outputs of a recovery begin with a dot.
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        if "manifest.json" in files or any(name.startswith("thread_") for name in folders):
            below = os.path.relpath(folder, root)
            keys = dict(part.split("=", 1) for part in folder.split(os.sep) if "=" in part)
            name = os.path.basename(os.path.abspath(folder)) if below == "." else below
            yield Found(folder, keys.get("host", ""), keys.get("session", name))
            folders.clear()


@dataclass
class Part(InputPartition):
    """The input of one task: a thread's table, or some of its events."""

    found: Found
    # The table's threads; None for all, in tables of whole sessions.
    thread: int | None = None
    # The positions of the events to read; None for all events. Only a read of all events verifies
    # them.
    seqs: tuple[int, int] | None = None
    # Whether to verify all events of the thread without returning rows. Other partitions return the rows.
    verifies: bool = False


class AtfDataSource(DataSource):
    """The format `atf`: a table of all sessions below a folder."""

    @classmethod
    def name(cls):
        return "atf"

    def schema(self):
        first = next(sessions(self.options["path"]), None)
        if first is None:
            raise adatrace.AtfError(f"{self.options['path']}: there is no session", self.options["path"])
        table = adatrace.open(first.path).table(
            _table(self.options), clock=_clock(self.options), dictionaries=False
        )
        return _spark_schema([*HOST_AND_SESSION, *pa.schema(table)])

    def reader(self, schema):
        is_pushed = self.options.get("pushdown", "false").lower() == "true"
        return (PushingReader if is_pushed else Reader)(self.options, schema)


HOST_AND_SESSION = [pa.field("host", pa.string()), pa.field("session", pa.string())]
BY_THREAD = ("events", "calls", "details")
"""The tables that are read thread by thread."""
EVENT_BYTES = 32
"""The size of an event in bytes, to estimate the number of events from a file's size."""


class Reader(DataSourceReader):
    """Reads a table: one partition per thread or, for large threads, per range of events."""

    def __init__(self, options, schema):
        self.path = options["path"]
        self.table = _table(options)
        self.clock = _clock(options)
        self.problems = options.get("problems", "raise")
        self.part_events = int(options.get("events_per_partition", 8_000_000))
        if self.part_events < 1:
            raise ValueError("events_per_partition: must be greater than 0")
        self.batch_rows = int(options.get("batch_rows", 65_536))
        self.schema = to_arrow_schema(schema)
        # The inclusive bounds of pushed filters, and the values of pushed equality filters.
        self.from_ns, self.to_ns, self.only = 0, LAST_NS, {}

    def partitions(self):
        parts = [part for found in self._sessions() for part in self._parts(found)]
        # Spark needs at least one partition.
        return parts or [Part(Found("", "", ""))]

    def read(self, partition):
        if not partition.found.path:
            return
        session = adatrace.open(partition.found.path)
        columns = [name for name in self.schema.names if name not in ("host", "session")]
        options = {
            # If only `host` and `session` are needed, any column yields the number of rows.
            "columns": columns or session.table(self.table).columns[:1],
            "clock": self.clock,
            "dictionaries": False,
            "problems": self.problems,
            "batch_rows": self.batch_rows,
            "seqs": partition.seqs,
        }
        if partition.thread is not None:
            options["threads"] = [partition.thread]
        if (self.from_ns, self.to_ns) != (0, LAST_NS):
            options.update(from_ns=self.from_ns, to_ns=max(self.to_ns, 0))
        table = session.table(self.table, **options)
        for batch in pa.RecordBatchReader.from_stream(table):
            if not partition.verifies:
                yield self._batch(partition.found, batch)

    def _sessions(self):
        for found in sessions(self.path):
            values = {"host": found.host, "session": found.session}
            if all(self.only.get(key, value) == value for key, value in values.items()):
                yield found

    def _parts(self, found):
        """Returns the partitions of a session. Reads no events."""
        if self.table not in BY_THREAD:
            return [Part(found)]
        threads = adatrace.open(found.path).thread_ids
        parts = []
        for thread in threads:
            if self.only.get("thread", thread) == thread:
                parts += self._parts_of_thread(found, thread)
        # Even a session without threads can have problems.
        return parts or ([] if threads else [Part(found)])

    def _parts_of_thread(self, found, thread):
        index = os.path.join(found.path, f"thread_{thread}", "index.atf")
        events = os.path.getsize(index) // EVENT_BYTES if os.path.isfile(index) else 0
        is_in_time = (self.from_ns, self.to_ns) != (0, LAST_NS)
        if self.table != "events" or is_in_time or events <= self.part_events:
            return [Part(found, thread)]
        starts = range(0, events, self.part_events)
        ends = [*starts[1:], LAST_NS]
        parts = [Part(found, thread, (start, end)) for start, end in zip(starts, ends)]
        if self.problems == "raise":
            # Reading parts of a thread does not verify it.
            parts.append(Part(found, thread, verifies=True))
        return parts

    def _batch(self, found, batch):
        constants = {"host": found.host, "session": found.session}
        columns = [
            pa.repeat(pa.scalar(constants[name]), batch.num_rows) if name in constants else batch.column(name)
            for name in self.schema.names
        ]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)


class PushingReader(Reader):
    """A reader that also applies filters on `host`, `session`, `thread` and event times before reading."""

    def pushFilters(self, filters):
        for each in filters:
            column = each.attribute[0] if hasattr(each, "attribute") else None
            if isinstance(each, EqualTo) and column in ("host", "session", "thread"):
                self.only[column] = each.value
            elif column == "time_ns" and self.table == "events":
                self._bound(each)
            # Spark also applies every filter itself, so contradictory filters leave no rows.
            yield each

    def _bound(self, each):
        value = getattr(each, "value", None)
        if isinstance(each, (GreaterThan, GreaterThanOrEqual, EqualTo)):
            start = value + isinstance(each, GreaterThan)
            self.from_ns = max(self.from_ns, start)
        if isinstance(each, (LessThan, LessThanOrEqual, EqualTo)):
            end = value - isinstance(each, LessThan)
            self.to_ns = min(self.to_ns, end)


def check(spark, paths, partitions=None):
    """Checks many sessions, files or folders as one job. Returns a DataFrame with the rows of the table `check`.

    Each task checks its paths one after the other. `partitions` is the number of tasks, by default one per path but at
    most 1,000.
    """
    paths = [(os.fspath(path),) for path in paths]
    count = partitions or max(1, min(len(paths), 1_000))
    fields = pa.schema(adatrace.check(dictionaries=False))
    schema = _spark_schema(fields)
    arrow = to_arrow_schema(schema)

    def rows(batches):
        for batch in batches:
            table = adatrace.check(*batch.column(0).to_pylist(), dictionaries=False)
            for found in pa.RecordBatchReader.from_stream(table):
                yield pa.RecordBatch.from_arrays(found.columns, schema=arrow)

    # `parallelize` puts every path into its own task if there are enough tasks.
    frame = spark.createDataFrame(spark.sparkContext.parallelize(paths, count), "path string")
    return frame.mapInArrow(rows, schema)


def _table(options):
    return options.get("table", "events")


def _clock(options):
    return options.get("clock", "trace")


def _spark_schema(fields):
    """Returns the schema for Spark, whose Python data sources need nullable columns."""
    return from_arrow_schema(pa.schema([field.with_nullable(True) for field in fields]))

"""Sessions and their tables."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypedDict

from . import _atf
from ._atf import Table
from .errors import Loss, Problem

if TYPE_CHECKING:
    from typing_extensions import Unpack

AtEnd = Literal["raise", "keep"]
Clock = Literal["trace", "media"]
StrPath = str | os.PathLike[str]


class ReadOptions(TypedDict, total=False):
    """The options of `Session.table`."""

    columns: Sequence[str] | None
    from_ns: int | None
    to_ns: int | None
    clock: Clock
    threads: Iterable[int] | None
    batch_rows: int | None
    dictionaries: bool
    problems: AtEnd | None
    seqs: tuple[int, int] | None


class WriteOptions(TypedDict, total=False):
    """The options of `Session.to_parquet` and `Session.to_arrow`."""

    tables: Sequence[str] | None
    host: str | None
    session: str | None
    split: Literal["threads", "sessions"]
    from_ns: int | None
    to_ns: int | None
    clock: Clock
    threads: Iterable[int] | None
    problems: AtEnd | None


__all__ = ["ReadOptions", "Recovered", "Session", "WriteOptions", "Written", "check", "open", "open_all"]


def open(path: StrPath, *, problems: AtEnd = "raise") -> Session:
    """Opens a session: a folder with `thread_N` folders, or a folder with one session at any depth below it.

    Events of a damaged or unfinished trace may be missing or wrong. With `problems="raise"`, reading a table of such a
    trace ends with an error after all readable rows. With `problems="keep"`, reading ends without an error, and
    `Table.problems` contains the reasons.

    A session is a snapshot: it does not include threads and names that are written later.
    """
    return Session(_atf.open(path), problems)


def open_all(path: StrPath, *, problems: AtEnd = "raise") -> list[Session]:
    """Opens all sessions at or below a path: the processes and the segments of a recording, or of several. Segments of
    a process are next to each other, in order. A thread's folder is opened as its session."""
    return [Session(session, problems) for session in _atf.open_all(path)]


def check(
    *paths: StrPath,
    columns: Sequence[str] | None = None,
    batch_rows: int | None = None,
    dictionaries: bool = True,
) -> Table:
    """Returns the table `check` of files, threads, sessions, or folders that contain any of these."""
    read = _read("keep", columns=columns, batch_rows=batch_rows, dictionaries=dictionaries)
    return _atf.check([os.fspath(path) for path in paths], read)


@dataclass(frozen=True)
class Written:
    """The output of `Session.to_parquet` and `Session.to_arrow`."""

    folders: list[Path]
    files: int
    rows: int
    bytes: int
    problems: list[Problem]


@dataclass(frozen=True)
class Recovered:
    """The output of `Session.recover`.

    `losses` is the number of losses and changes, and `changed` shows whether any file differs from the original. `text`
    is the whole report.
    """

    events: int
    details: int
    losses: int
    changed: bool
    text: str


class Session:
    """An open session, returned by `adatrace.open`.

    The methods that return tables take the same options, all of them by keyword:

    - `columns`: the columns in the order in which to return them, all by default. Fewer columns are faster.
    - `from_ns`, `to_ns`: the time range, both inclusive. A call counts if it overlaps the range.
    - `clock`: the clock of the time range and of the rows: `trace`, the default, or `media`, the clock of the sound or
      screen recording that the session's timing anchors refer to.
    - `threads`: the ids of the threads.
    - `batch_rows`: the maximum number of rows in a record batch, 65,536 by default.
    - `dictionaries`: whether names and words are dictionary arrays, the default, or plain text.
    - `problems`: as for `adatrace.open`, whose value is the default.
    """

    def __init__(self, session: _atf.Session, problems: AtEnd):
        self._session = session
        self._problems: AtEnd = problems

    def __repr__(self) -> str:
        return f"<adatrace.Session {self.path}>"

    @property
    def path(self) -> Path:
        """The folder with the threads."""
        return self._session.path

    @property
    def thread_ids(self) -> list[int]:
        """The ids of the threads, ascending."""
        return self._session.thread_ids

    @property
    def losses(self) -> list[Loss]:
        """The events and details that the tracer lost, or may have lost, according to the manifest.

        Losses raise no error: the tables contain every row of the files, but the files lack what was not recorded. The
        metadata of tables' schemas and of Parquet files lists the losses as `atf.losses`. Times here are always on the
        trace's clock.
        """
        return self._session.losses

    def events(self, **options: Unpack[ReadOptions]) -> Table:
        """Returns every event of every thread."""
        return self.table("events", **options)

    def calls(self, **options: Unpack[ReadOptions]) -> Table:
        """Returns every call, paired with its return."""
        return self.table("calls", **options)

    def details(self, **options: Unpack[ReadOptions]) -> Table:
        """Returns the registers and stacks of some events."""
        return self.table("details", **options)

    def functions(self, **options: Unpack[ReadOptions]) -> Table:
        """Returns the functions that the manifest lists."""
        return self.table("functions", **options)

    def threads(self, **options: Unpack[ReadOptions]) -> Table:
        """Returns the threads, and the state of their files."""
        return self.table("threads", **options)

    def modules(self, **options: Unpack[ReadOptions]) -> Table:
        """Returns the executables and libraries that the manifest lists."""
        return self.table("modules", **options)

    def report(self, **options: Unpack[ReadOptions]) -> Table:
        """Returns where the time went, by function."""
        return self.table("report", **options)

    def histogram(self, function: int | str | None = None, **options: Unpack[ReadOptions]) -> Table:
        """Returns how many calls took how long, for all functions or only for those that `function` selects.

        `function` is a function's id, or a string as for `atf report --histogram`: an id as `"0x…"`, `"=NAME"` for an
        exact name, a pattern with `*` and `?` for the whole name, or a part of a name. If no function in the
        manifest has the name, a `ValueError` is raised. An unknown id causes an error only when the table is read,
        because only a read of all events shows whether the id occurs.
        """
        return self.table("histogram", function=function, **options)

    def problems(self, **options: Unpack[ReadOptions]) -> Table:
        """Returns the problems that may cause missing or wrong events. Reads all files."""
        return self.table("problems", **options)

    def check(self, **options: Unpack[ReadOptions]) -> Table:
        """Returns the rules that the files break."""
        return self.table("check", **options)

    def table(
        self,
        name: str,
        *,
        columns: Sequence[str] | None = None,
        from_ns: int | None = None,
        to_ns: int | None = None,
        clock: Clock = "trace",
        threads: Iterable[int] | None = None,
        batch_rows: int | None = None,
        dictionaries: bool = True,
        problems: AtEnd | None = None,
        seqs: tuple[int, int] | None = None,
        function: int | str | None = None,
    ) -> Table:
        """Returns the table with this name.

        `function` selects functions of the table `histogram`, as in its method. Other tables ignore it.

        `seqs` selects each thread's events at positions from the first number up to but excluding the second, for
        readers that share the work. These events are not verified: see `Table.unverified`.
        """
        read = _read(
            problems or self._problems,
            columns=columns,
            from_ns=from_ns,
            to_ns=to_ns,
            clock=clock,
            threads=threads,
            batch_rows=batch_rows,
            dictionaries=dictionaries,
            seqs=seqs,
            function=function,
        )
        return self._session.table(name, read)

    def to_parquet(self, folder: StrPath, **options: Unpack[WriteOptions]) -> Written:
        """Writes tables below `folder`, as `TABLE/[host=H/]session=S/[thread=N/]TABLE.parquet`.

        By default, `tables` are all except `details`, `report`, `histogram` and `check`, and the session's name is the
        last two parts of its path. With `split="sessions"`, each table has one file, for sessions with many small
        threads.

        The files get their final names once all are written. If the trace is damaged or unfinished, its readable
        rows are written, the files' metadata lists the problems, and with `problems="raise"` an `IncompleteError`
        follows.
        """
        return self._write("parquet", folder, **options)

    def to_arrow(self, folder: StrPath, **options: Unpack[WriteOptions]) -> Written:
        """Writes tables below `folder` as Arrow IPC files, `TABLE/[host=H/]session=S/[thread=N/]TABLE.arrow`.

        Otherwise, this method works like `to_parquet`. The files are not compressed, so that readers can map them into
        memory instead of reading them.
        """
        return self._write("arrow", folder, **options)

    def _write(
        self,
        form: Literal["parquet", "arrow"],
        folder: StrPath,
        *,
        tables: Sequence[str] | None = None,
        host: str | None = None,
        session: str | None = None,
        split: Literal["threads", "sessions"] = "threads",
        from_ns: int | None = None,
        to_ns: int | None = None,
        clock: Clock = "trace",
        threads: Iterable[int] | None = None,
        problems: AtEnd | None = None,
    ) -> Written:
        read = _read(
            problems or self._problems, from_ns=from_ns, to_ns=to_ns, clock=clock, threads=threads
        )
        write = {
            "form": form,
            "tables": None if tables is None else list(tables),
            "host": host,
            "session": session,
            "split": split,
        }
        return Written(**self._session.write_files(folder, write, read))

    def recover(self, out: StrPath, *, salvage: bool = False) -> Recovered:
        """Writes a repaired copy to `out`, which must not exist. The original is never modified.

        `salvage` also searches past gaps and damaged regions.
        """
        return Recovered(**self._session.recover(out, salvage))


def _read(problems: AtEnd, **options) -> dict:
    """Returns all options for reading a table. Missing options are None."""
    names = ["columns", "from_ns", "to_ns", "seqs", "threads", "batch_rows", "function"]
    read = {name: options.get(name) for name in names}
    if isinstance(read["columns"], str):
        raise TypeError("columns: expected a list of names, found a str")
    if read["threads"] is not None:
        read["threads"] = set(read["threads"])
    if isinstance(read["function"], int):
        # Tables show ids of 2^63 or more as negative numbers.
        read["function"] = hex(read["function"] % 2**64)
    read["clock"] = options.get("clock", "trace")
    return {**read, "dictionaries": options.get("dictionaries", True), "problems": problems}

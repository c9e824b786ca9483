"""Exceptions, problems and losses."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "ArchiveError",
    "AtfError",
    "IncompleteError",
    "Loss",
    "MissingFileError",
    "NotASessionError",
    "OutputError",
    "Problem",
]


class AtfError(Exception):
    """A trace could not be read or written.

    The attributes are None where they do not apply: `path` is the file or folder, `field` the field
    (`footer.event_count`), `offset` is in bytes from the start of the file, and `kind` is the kind of error
    (`BadMagic`).
    """

    path: str | None
    field: str | None
    offset: int | None
    kind: str | None

    def __init__(self, message, path=None, field=None, offset=None, kind=None):
        super().__init__(message)
        self.path = path
        self.field = field
        self.offset = offset
        self.kind = kind


class NotASessionError(AtfError):
    """The folder is not a session, or it contains several."""


class MissingFileError(AtfError, FileNotFoundError):
    """The file or folder does not exist."""


class ArchiveError(AtfError):
    """An archive is damaged, or a file could not be read or was changed while it was packed."""


class OutputError(AtfError):
    """The output exists, is inside the input, or cannot be written."""


@dataclass(frozen=True)
class Problem:
    """A problem in a trace that may cause missing or wrong rows.

    `thread` is the id of the thread, or None if the problem concerns the session. The other attributes are those of
    `AtfError`, and `message` includes all of them.
    """

    thread: int | None
    path: str | None
    field: str | None
    offset: int | None
    kind: str
    message: str


@dataclass(frozen=True)
class Loss:
    """Events or details that the tracer did not record, according to the manifest. They have no rows, but they are
    not a problem of the files.

    `thread` is None for events of threads without files, and for unwritten events. `kind` and `count` are:

    - `events`: the number of events that the tracer lost from `first_ns` to `last_ns`
    - `details`: the number of details, without those of lost events
    - `unwritten`: the tracer was killed or is still running, so each thread may lack up to this many of its last events.
      `first_ns` and `last_ns` are None.

    `message` is a sentence with all of them.
    """

    thread: int | None
    kind: str
    count: int
    first_ns: int | None
    last_ns: int | None
    message: str


class IncompleteError(AtfError):
    """All readable rows were written, but the trace is damaged or incomplete.

    `rows` is the number of rows, and `problems` lists the reasons.
    """

    rows: int
    problems: list[Problem]

    def __init__(self, message, rows, problems):
        first = problems[0]
        super().__init__(message, first.path, first.field, first.offset, first.kind)
        self.rows = rows
        self.problems = problems

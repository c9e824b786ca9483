"""Archives: a session's tables as Parquet files, from which its files can be restored byte for byte."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from . import _atf
from .errors import Problem
from .session import StrPath

__all__ = ["Packed", "Unpacked", "pack", "unpack"]


@dataclass(frozen=True)
class Packed:
    """The output of `pack`: `folders`, and the numbers of `files`, `rows` and `bytes` in them.

    `session_bytes` is the size of the session's files, which is the sum of the next four: `from_tables` are the bytes
    that rows of the tables reproduce, `header_footer` those of headers and footers, `other` those of the manifest and
    other files, and `unreproduced` the bytes of events or details that no row reproduces. The archive contains the last
    three verbatim, compressed. `problems` are the problems of the trace, whose files are archived unchanged.
    """

    folders: list[Path]
    files: int
    rows: int
    bytes: int
    session_bytes: int
    from_tables: int
    header_footer: int
    other: int
    unreproduced: int
    problems: list[Problem]


@dataclass(frozen=True)
class Unpacked:
    """The numbers of files and bytes that `unpack` restored."""

    files: int
    bytes: int


def pack(
    session: StrPath,
    archive: StrPath,
    *,
    host: str | None = None,
    name: str | None = None,
    tables: Sequence[str] | None = None,
) -> Packed:
    """Packs the whole content of a session's folder into an archive, as
    `TABLE/[host=H/]session=NAME/[thread=N/]TABLE.parquet`.

    Several sessions can be packed into one archive. `name` is by default the last two parts of the session's path,
    joined by `.`. `tables` are the tables in addition to `events`, `details` and `files`: `functions`, `threads` and
    `modules` by default.

    Before it returns, `pack` restores all files from its output and compares them with the originals. Only then do the
    archive's files appear under their names.
    """
    return Packed(**_atf.pack(session, archive, host, name, None if tables is None else list(tables)))


def unpack(archive: StrPath, session: StrPath, *, host: str | None = None, name: str | None = None) -> Unpacked:
    """Restores a session's files to the folder `session`, which must not exist, and verifies their checksums.

    `host` and `name` select a session if the archive contains several.
    """
    return Unpacked(**_atf.unpack(archive, session, host, name))

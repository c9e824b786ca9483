from pathlib import Path
from typing import Any

from .errors import Loss, Problem

class Table:
    """A table of a session, which pyarrow, polars, DuckDB and others can read. Each read starts from the
    beginning."""

    @property
    def name(self) -> str:
        """The name of the table, such as `events`."""
    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
    def problems(self) -> list[Problem] | None:
        """Returns the problems that the last read found, or None if it has not ended. `Session.losses` has what the
        tracer did not record."""
    def unverified(self) -> list[int] | None:
        """Returns the threads that the last read covered only in part, without verifying their checksums, or None if
        that read has not ended."""
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class Session:
    @property
    def path(self) -> Path: ...
    @property
    def thread_ids(self) -> list[int]: ...
    @property
    def losses(self) -> list[Loss]: ...
    def table(self, name: str, read: dict[str, Any]) -> Table: ...
    def write_files(
        self, folder: object, write: dict[str, Any], read: dict[str, Any]
    ) -> dict[str, Any]: ...
    def recover(self, out: object, salvage: bool) -> dict[str, Any]: ...

def open(path: object) -> Session: ...
def open_all(path: object) -> list[Session]: ...
def check(paths: list[Any], read: dict[str, Any]) -> Table: ...
def pack(
    session: object, archive: object, host: str | None, name: str | None, tables: list[str] | None
) -> dict[str, Any]: ...
def unpack(archive: object, session: object, host: str | None, name: str | None) -> dict[str, Any]: ...

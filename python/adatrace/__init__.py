"""ATF v2 function traces as tables.

`open` returns a session whose tables pyarrow, polars, DuckDB and pandas read through Arrow's C interface:

    import adatrace, pyarrow
    events = pyarrow.table(adatrace.open("session_20260105_101500").events())

`pack` archives a session as Parquet files from which `unpack` restores it. `docs/python.md` is a tour, and
`docs/tables.md` lists the columns.
"""

from ._atf import Table
from .archive import Packed, Unpacked, pack, unpack
from .errors import (
    ArchiveError,
    AtfError,
    IncompleteError,
    Loss,
    MissingFileError,
    NotASessionError,
    OutputError,
    Problem,
)
from .session import Recovered, Session, Written, check, open, open_all

__all__ = [
    "ArchiveError",
    "AtfError",
    "IncompleteError",
    "Loss",
    "MissingFileError",
    "NotASessionError",
    "OutputError",
    "Packed",
    "Problem",
    "Recovered",
    "Session",
    "Table",
    "Unpacked",
    "Written",
    "check",
    "open",
    "open_all",
    "pack",
    "unpack",
]

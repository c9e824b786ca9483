"""Reads and writes ATF v2 (ADA Trace Format): function traces, one file of events for each thread.

>>> from adatrace_reader import IndexFile, EventKind
>>> file = IndexFile.open("thread_0/index.atf")
>>> calls = sum(event.event_kind == EventKind.CALL for event in file)
"""

from .files import *  # noqa: F403
from .files import NOWHERE, DetailEvent, DetailFile, Function, IndexFile, Refused
from .records import *  # noqa: F403
from .session import Merged, Session, Thread
from .session_writer import SessionWriter
from .writers import Detail, ThreadWriter

__all__ = [
    "NOWHERE", "Detail", "DetailEvent", "DetailFile", "Function", "IndexFile", "Merged", "Refused",
    "Session", "SessionWriter", "Thread", "ThreadWriter",
]

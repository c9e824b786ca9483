"""Reads a session: a folder with a folder for each thread, and a manifest."""

from __future__ import annotations

import json
import os
import re
from typing import Any, Callable, Iterator, NamedTuple, TypeVar

from .files import DetailFile, IndexFile, Refused
from .manifest import wrong_key
from .records import IndexEvent

_File = TypeVar("_File", IndexFile, DetailFile)


class Merged(NamedTuple):
    """An event of a session, with its thread and its position there."""

    thread_id: int
    seq: int
    event: IndexEvent


class Thread:
    """A thread's files. A file that is absent or refused is None; `refused` says why."""

    def __init__(self, thread_id: int, folder: str, verify: bool) -> None:
        self.thread_id = thread_id
        self.refused: list[Refused] = []
        self.index: IndexFile | None = None
        self.detail: DetailFile | None = None
        if not os.path.islink(folder) and os.path.isdir(folder):
            self.index = self._open(IndexFile.open, os.path.join(folder, "index.atf"), verify)
            self.detail = self._open(DetailFile.open, os.path.join(folder, "detail.atf"), verify)
        if self.index and self.detail and self.index.wire != self.detail.wire:
            path = os.path.join(folder, "detail.atf")
            expected = f"{self.index.wire}, as in index.atf"
            self.refused.append(Refused(path, 5, "version", expected, "ATF-LINK-008"))
            self.detail = None

    def _open(self, reader: Callable[..., _File], path: str, verify: bool) -> _File | None:
        # A symlink may lead out of the session.
        if os.path.islink(path) or not os.path.isfile(path):
            return None
        try:
            return reader(path, verify=verify)
        except Refused as refused:
            self.refused.append(refused)
            return None

    @property
    def is_whole(self) -> bool:
        """Whether every existing file was finalized, and no event is missing."""
        index, detail = self.index, self.detail
        if index is None or not index.is_finalized or self.refused:
            return False
        if detail is not None and not detail.is_finalized:
            return False
        return not any(index.is_hole(seq) for seq in range(len(index)))

    def events(self) -> Iterator[tuple[int, IndexEvent]]:
        """Returns the events with their positions, except for holes."""
        for seq, event in enumerate(self.index or ()):
            if self.index and not self.index.is_hole(seq):
                yield seq, event

    def loose_links(self) -> tuple[int, int]:
        """Counts the links without a link back, in the index and in the details."""
        forward = {seq: event.detail_seq for seq, event in self.events() if event.detail_seq is not None}
        back = {seq: event.header.index_seq for seq, event in enumerate(self.detail or ())}
        dangling = sum(back.get(to) != seq for seq, to in forward.items())
        orphans = sum(forward.get(to) != seq for seq, to in back.items())
        return dangling, orphans


class Session:
    """The threads of a traced process."""

    def __init__(self, folder: str | os.PathLike[str], *, verify: bool = True) -> None:
        """Opens a session's folder, or a folder that contains the folder of one process."""
        self.folder = _process(os.fspath(folder))
        self.threads = [
            Thread(thread_id, os.path.join(self.folder, name), verify)
            for thread_id, name in _threads(self.folder)
        ]
        path = os.path.join(self.folder, "manifest.json")
        self.manifest: Any = None
        """The parsed manifest, or None if it is absent or cannot be used."""
        self.manifest_error: Exception | None = None
        """Why the manifest cannot be used, if it exists but is invalid."""
        try:
            self.manifest = _manifest(path)
        except (OSError, Refused) as error:
            self.manifest_error = error

    def merged(self) -> list[Merged]:
        """Returns the events of all threads by time, then by thread and position."""
        events = [
            Merged(thread.thread_id, seq, event)
            for thread in self.threads
            for seq, event in thread.events()
        ]
        events.sort(key=lambda own: (own.event.timestamp_ns, own.thread_id, own.seq))
        return events


def _process(folder: str) -> str:
    names = os.listdir(folder)
    processes = [name for name in names if re.fullmatch("pid_[0-9]+", name)]
    is_session = any(re.fullmatch("thread_[0-9]+", name) for name in names)
    if len(processes) == 1 and not is_session and "manifest.json" not in names:
        return os.path.join(folder, processes[0])
    return folder


def _threads(folder: str) -> list[tuple[int, str]]:
    names = [name for name in os.listdir(folder) if re.fullmatch("thread_[0-9]+", name)]
    ids = [(int(name.removeprefix("thread_")), name) for name in names]
    return sorted(own for own in ids if own[0] < 2**32)


def _manifest(path: str) -> Any:
    if not os.path.lexists(path):
        return None
    if os.path.islink(path):
        raise OSError(f"{path}: a symlink, which may lead out of the session")
    try:
        with open(path, "rb") as file:
            value = _strict_json(file.read())
    except (ValueError, RecursionError) as error:
        raise Refused(path, 0, "manifest", f"strict JSON: {error}", "ATF-MANI-002") from error
    if not isinstance(value, dict):
        raise Refused(path, 0, "manifest", "an object", "ATF-MANI-002")
    if why := wrong_key(value):
        field, _, expected = why.partition(": expected ")
        raise Refused(path, 0, field, expected, "ATF-MANI-003")
    return value


def _strict_json(data: bytes) -> Any:
    """Parses UTF-8 without a byte-order mark, duplicate keys, NaN or lone surrogates."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in pairs}) != len(pairs):
            raise ValueError("duplicate key")
        return dict(pairs)

    def refuse(word: str) -> None:
        raise ValueError(word)

    # -0 is not an integer.
    number: Callable[[str], Any] = lambda digits: -0.0 if digits == "-0" else int(digits)
    text = data.decode("utf-8")
    value = json.loads(text, object_pairs_hook=once, parse_constant=refuse, parse_int=number)
    json.dumps(value, ensure_ascii=False).encode("utf-8")
    return value

"""Writes a session: a folder with a folder for each thread, and a manifest."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import Any

from .manifest import wrong_key
from .records import WIRES, IndexHeader
from .writers import ThreadWriter


class SessionWriter:
    """Writes the threads of a traced process. Leaving a `with` block finalizes all files."""

    def __init__(
        self,
        folder: str | os.PathLike[str],
        header: IndexHeader,
        *,
        wire: int = WIRES[-1],
    ) -> None:
        """Creates the folder. The header contains the clock and the platform of all threads."""
        self.folder = os.fspath(folder)
        self.wire = wire
        self.threads: dict[int, ThreadWriter] = {}
        self.manifest: dict[str, Any] = {"clock_type": int(header.clock_type)}
        """The keys of manifest.json, to which more can be added, such as "symbols"."""
        self._header = header
        os.makedirs(self.folder, exist_ok=True)

    def thread(self, thread_id: int) -> ThreadWriter:
        """Returns the writer of a thread. The first call creates the thread's folder."""
        if thread_id not in self.threads:
            folder = os.path.join(self.folder, f"thread_{thread_id}")
            header = replace(self._header, thread_id=thread_id)
            self.threads[thread_id] = ThreadWriter(folder, header, wire=self.wire)
        return self.threads[thread_id]

    def flush(self) -> None:
        """Writes the events of all threads to their files."""
        for thread in self.threads.values():
            thread.flush()

    def finalize(self) -> None:
        """Finalizes all threads, then writes the manifest. After an OSError, it can be called again.

        Raises ValueError if a key of the manifest has a wrong type.
        """
        for thread in self.threads.values():
            thread.finalize()
        times = [time for thread in self.threads.values() for time in thread.times]
        listed = [
            {"id": thread_id, "has_detail": thread.has_detail}
            for thread_id, thread in sorted(self.threads.items())
        ]
        manifest = {
            "threads": listed,
            "time_start_ns": min(times, default=0),
            "time_end_ns": max(times, default=0),
            **self.manifest,
        }
        if why := wrong_key(manifest):
            raise ValueError(f"manifest.json: {why}")
        # Write the manifest atomically.
        path = os.path.join(self.folder, "manifest.json")
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump(manifest, file)
        os.replace(path + ".new", path)

    def __enter__(self) -> SessionWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.finalize()

"""Executes a script, line by line, and creates one folder per thread."""

import json
import os
import resource
import signal

import layout
from layout import HAS_DETAIL_FILE, HEADER_SIZE, NO_DETAIL, crc32c


def write(script, out):
    threads = {}
    with open(script, encoding="ascii") as lines:
        for line in lines:
            words = line.split()
            if not words or words[0].startswith("#"):
                continue
            if words[0] == "abort":
                break
            if words[0] == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            if words[0] == "space":
                make_room()
                continue
            values = dict(word.split("=", 1) for word in words[1:])
            operation(threads, words[0], values, out)
    # The script does not finalize these threads, so they get their events but no footer.
    for thread in threads.values():
        thread.flush()
    write_manifest(threads, out)


def operation(threads, name, values, out):
    id_ = int(values["thread"])
    if name == "open":
        threads[id_] = Thread(id_, values, out)
    elif name == "index":
        threads[id_].index(values)
    elif name == "detail":
        threads[id_].detail(values)
    elif name == "finalize":
        threads[id_].finalize()
    elif name in ("flush", "close"):
        threads[id_].sync()
    else:
        raise ValueError(f"no such operation: {name}")


def make_room():
    """Frees space on the disk by raising the file size limit."""
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


def write_manifest(threads, out):
    """Writes the manifest. Readers could also derive its values from the files."""
    times = [time for thread in threads.values() for time in thread.times]
    manifest = {
        "threads": [{"id": thread.id, "has_detail": bool(thread.details.count)}
                    for thread in threads.values()],
        "time_start_ns": min(times, default=0),
        "time_end_ns": max(times, default=0),
    }
    clocks = {thread.clock for thread in threads.values()}
    if len(clocks) == 1:
        manifest["clock_type"] = clocks.pop()
    with open(os.path.join(out, "manifest.json"), "w", encoding="utf-8") as file:
        json.dump(manifest, file)


class Section:
    """A file's events: their bytes, their count, and the first and last time."""

    def __init__(self):
        self.bytes = bytearray()
        self.count = 0
        self.first = self.last = 0

    def add(self, event, time):
        self.first = self.first if self.count else time
        self.last = time
        self.bytes += event
        self.count += 1

    def footer_fields(self):
        return {"checksum": crc32c(self.bytes), "event_count": self.count,
                "time_start_ns": self.first, "time_end_ns": self.last}


class Thread:
    """The two files of a thread. Events stay in memory until they are flushed or finalized."""

    def __init__(self, id_, values, out):
        self.id = id_
        self.wire = int(values["wire"])
        self.clock = int(values["clock"])
        self.platform = {"arch": int(values["arch"]), "os": int(values["os"])}
        self.folder = os.path.join(out, f"thread_{id_}")
        self.events = Section()
        self.details = Section()
        self.index_seqs = []
        self.is_done = False
        os.makedirs(self.folder)
        # Write the thread now, so that readers find it even after a crash.
        self.put("index.atf", self.index_header(), b"")

    @property
    def times(self):
        return [self.events.first, self.events.last] if self.events.count else []

    def index(self, values):
        if self.is_done:
            return
        link = values["detail"]
        event = layout.INDEX_EVENT[self.wire].write(
            timestamp_ns=int(values["ts"]), function_id=int(values["fn"]), thread_id=self.id,
            event_kind=int(values["kind"]), call_depth=int(values["depth"]),
            detail_seq=NO_DETAIL[self.wire] if link == "-" else int(link))
        self.events.add(event, int(values["ts"]))

    def detail(self, values):
        record = layout.DETAIL_EVENT[self.wire]
        payload = bytes.fromhex(values["payload"])
        event = record.write(
            total_length=record.size + len(payload), event_type=int(values["type"]),
            flags=int(values["flags"]), index_seq=int(values["index"]), thread_id=self.id,
            timestamp=int(values["ts"]))
        self.details.add(event + payload, int(values["ts"]))
        self.index_seqs.append(int(values["index"]))

    def flush(self):
        """Writes placeholder headers and all events so far."""
        if not self.is_done:
            if self.details.count:
                self.put("detail.atf", self.detail_header(), self.details.bytes)
            self.put("index.atf", self.index_header(), self.events.bytes)

    def sync(self):
        """Writes the events so far to the files, so that they survive the end of the process."""
        self.flush()

    def finalize(self):
        """Writes the events, footers and headers, in that order. The details come first."""
        if self.is_done:
            return
        if self.details.count:
            self.put("detail.atf", self.detail_header(), self.details.bytes + self.detail_footer(),
                     self.detail_header(**self.detail_summary()))
        self.put("index.atf", self.index_header(), self.events.bytes + self.index_footer(),
                 self.index_header(**self.index_summary()))
        self.is_done = True

    def put(self, name, placeholder, rest, header=b""):
        """Writes a file. The header with the counts comes last because the disk may be full."""
        with open(os.path.join(self.folder, name), "wb") as file:
            file.write(placeholder + rest)
            file.flush()
            file.seek(0)
            file.write(header)

    def index_header(self, **summary):
        fields = {"footer_offset": HEADER_SIZE, **summary}
        return layout.INDEX_HEADER[self.wire].write(
            magic=b"ATI2", endian=1, version=self.wire, **self.platform, thread_id=self.id,
            clock_type=self.clock, event_size=32, events_offset=HEADER_SIZE, **fields)

    def index_summary(self):
        return {"flags": HAS_DETAIL_FILE if self.details.count else 0,
                "event_count": self.events.count,
                "footer_offset": HEADER_SIZE + len(self.events.bytes),
                "time_start_ns": self.events.first, "time_end_ns": self.events.last}

    def index_footer(self):
        return layout.INDEX_FOOTER.write(
            magic=b"2ITA", bytes_written=len(self.events.bytes), **self.events.footer_fields())

    def detail_header(self, **summary):
        return layout.DETAIL_HEADER[self.wire].write(
            magic=b"ATD2", endian=1, version=self.wire, **self.platform, thread_id=self.id,
            events_offset=HEADER_SIZE, **summary)

    def detail_summary(self):
        return {"event_count": self.details.count, "bytes_length": len(self.details.bytes),
                "index_seq_start": min(self.index_seqs), "index_seq_end": max(self.index_seqs)}

    def detail_footer(self):
        return layout.DETAIL_FOOTER.write(
            magic=b"2DTA", bytes_length=len(self.details.bytes), **self.details.footer_fields())

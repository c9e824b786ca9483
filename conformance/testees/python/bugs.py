"""Mistakes that real implementations make, each seen in the field or in a review.

Each mistake replaces a function of the reader or the writer and lists the rule that it breaks.
"""

import contextlib
import ctypes
import mmap
import os
import signal
import tempfile
import time
import zlib

import detail
import index
import layout
import manifest
import query
import session
import writer
from layout import EVENT_SIZE, FOOTER_SIZE, HEADER_SIZE, Reject

BUGS = {}


def bug(role, rule):
    """Registers a mistake under its function's name. The docstring describes the mistake."""
    def register(plant):
        BUGS[plant.__name__.replace("_", "-")] = (role, rule, plant)
        return plant
    return register


def plant(name):
    if name not in BUGS:
        raise SystemExit(f"no such bug: {name}; --bugs lists them")
    BUGS[name][2]()


def table():
    """Returns a line per mistake: name, role, rule, description."""
    lines = (f"{name}\t{role}\t{rule}\t{plant.__doc__}"
             for name, (role, rule, plant) in BUGS.items())
    return "\n".join(lines) + "\n"


def before(module, name, look):
    """Calls `look` with a function's arguments before each call."""
    original = getattr(module, name)

    def replaced(*arguments):
        look(*arguments)
        return original(*arguments)
    setattr(module, name, replaced)


def after(module, name, change):
    """Passes a function's result through `change`."""
    original = getattr(module, name)
    setattr(module, name, lambda *arguments, **named: change(
        original(*arguments, **named), *arguments))


def crash(number=signal.SIGSEGV):
    os.kill(os.getpid(), number)


def at_end(record, data):
    """Decodes the last 64 bytes as a footer."""
    return record.read(data, max(0, len(data) - FOOTER_SIZE))


# ---- Queries ----

@bug("query", "ATF-RDER-008")
def ranges_by_headers():
    """Skips threads whose headers say that they are outside the range of times."""
    def in_times(document, first, last):
        def is_skipped(id_):
            index_file = next(it["index"] for it in document["threads"] if it["thread_id"] == id_)
            header = index_file["header"]
            return int(header["time_end_ns"]) < first or int(header["time_start_ns"]) > last
        return query.found(document, lambda id_, event: not is_skipped(id_)
                           and first <= int(event["timestamp_ns"]) <= last)
    query.in_times = in_times


@bug("query", "ATF-LINK-001")
def links_by_position():
    """Takes the details at the event's own position."""
    query.linked = lambda document, id_, side, seq: str(seq)


# ---- Readers: trusted counts and offsets ----

@bug("read", "ATF-IFTR-002")
def count_trusted():
    """Reads as many events as the footer counts, past the end of its mapping."""
    def look(data, _):
        if EVENT_SIZE * at_end(layout.INDEX_FOOTER, data)["event_count"] > 2**20 + len(data):
            crash()
    before(index, "find_footer", look)


@bug("read", "ATF-IFTR-002")
def count_allocated():
    """Allocates memory for as many events as the footer counts before it checks the file's size."""
    def look(data, _):
        footer = at_end(layout.INDEX_FOOTER, data)
        if footer["magic"] == index.FOOTER_MAGIC:
            room = min(EVENT_SIZE * footer["event_count"], 3 * 2**29)
            taken = [b"\1" * 2**22 for _ in range(room >> 22)]
            time.sleep(3 if taken else 0)
    before(index, "find_footer", look)


@bug("read", "ATF-IFTR-002")
def count_phantom():
    """Returns as many events as the footer counts, including the footer itself."""
    index.says_its_place = lambda footer, size: True


@bug("read", "ATF-DFTR-002")
def detail_count_phantom():
    """Returns as many details as the footer counts, including the footer itself."""
    detail.whole_events = lambda data, header, footer, at: (
        [*detail.walk(data, header, at)[0], at][:footer["event_count"]])


@bug("read", "ATF-IHDR-014")
def header_count_first():
    """Trusts the header's count, although the footer's takes precedence."""
    def change(found, data, header, count):
        return found[:header["event_count"]] if header["event_count"] else found
    after(index, "events", change)


@bug("read", "ATF-IHDR-015")
def offset_wraps():
    """Adds the footer's size to footer_offset in 64 bits, and reads from the wrapped offset."""
    def look(data, header):
        if (header["footer_offset"] + FOOTER_SIZE) % 2**64 < header["footer_offset"]:
            crash(signal.SIGBUS)
    before(index, "find_footer", look)


@bug("read", "ATF-IHDR-007")
def events_offset_ignored():
    """Reads events from 64 on, wherever the header says they begin."""
    def look(header, size):
        header["events_offset"] = HEADER_SIZE
    index.check_events_offset = look


# ---- Readers: files without a footer ----

@bug("read", "ATF-IHDR-017")
def footer_as_events():
    """Looks for a footer only if the header was rewritten, and so reads two phantom events."""
    original = index.find_footer
    index.find_footer = lambda data, header: (
        None if index.is_placeholder(header) else original(data, header))
    index.refuse_damaged_footer = lambda data, header: None
    index.begins_footer = lambda data, header, cut, seq: False


@bug("read", "ATF-IFTR-001")
def magic_is_enough():
    """Mistakes a timestamp that begins with the footer's magic for a footer."""
    after(index, "surviving_events", lambda count, data, header: min(
        [count, *((at - HEADER_SIZE) // EVENT_SIZE for at in index.magics(data, header))]))


@bug("read", "ATF-IFTR-012")
def cut_footer_counted():
    """Divides the file's size by 32: half a footer counts as an event."""
    index.begins_footer = lambda data, header, cut, seq: False
    index.is_end_known = lambda header: False


@bug("read", "ATF-IFTR-001")
def mapping_overrun():
    """Maps the file and looks for another event after the last byte."""
    def look(data, header):
        libc = ctypes.CDLL(None)
        libc.mmap.restype = ctypes.c_void_p
        libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
        with tempfile.TemporaryFile() as file:
            file.write(data)
            file.flush()
            start = libc.mmap(None, len(data) + 1, mmap.PROT_READ, mmap.MAP_PRIVATE, file.fileno(), 0)
            ctypes.string_at(start + len(data), 1)
    before(index, "surviving_events", look)


@bug("read", "ATF-IFTR-011")
def zero_tail_counted():
    """Divides the file's size by 32: preallocated space counts as events."""
    index.surviving_events = lambda data, header: (len(data) - HEADER_SIZE) // EVENT_SIZE


@bug("read", "ATF-DFTR-001")
def last_details_lost():
    """Reserves 64 bytes for a footer that does not exist."""
    detail.surviving_end = lambda data, header: max(HEADER_SIZE, len(data) - FOOTER_SIZE)


@bug("read", "ATF-DFTR-001")
def footer_in_a_payload():
    """Mistakes memory in the last event's stack for a footer."""
    detail.is_payload = lambda data, header, at, fits: False


@bug("read", "ATF-IEVT-006")
def hole_dropped():
    """Drops events of zeros, which shifts the positions of all later events."""
    after(index, "events", lambda found, *_: [e for e in found if not e.is_zero])


@bug("read", "ATF-IFTR-009")
def garbage_behind_footer():
    """Looks for the footer only in the last 64 bytes."""
    def find(data, header):
        at = len(data) - FOOTER_SIZE
        return at if index.is_footer(data, header, at) else None
    index.find_footer = find


# ---- Readers: missing or excessive checks ----

@bug("read", "ATF-IHDR-005")
def other_layout_read():
    """Reads the version 2 layout with version number 1: 32 events pass as the event size."""
    index.refuse_other_layout = lambda data, version: None


@bug("read", "ATF-IFTR-004")
def checksum_ignored():
    """Never verifies a checksum."""
    index.check_checksum = detail.check_checksum = lambda footer, section: None


@bug("read", "ATF-IFTR-005")
def ieee_accepted():
    """Accepts the IEEE CRC-32, which its own writer computes."""
    original = index.check_checksum

    def check(footer, section):
        if footer["checksum"] != zlib.crc32(section):
            original(footer, section)
    index.check_checksum = check


@bug("read", "ATF-IEVT-003")
def thread_ids_refused():
    """Rejects a file because one event belongs to another thread."""
    def change(found, data, header, count):
        if any(event.get("thread_id", header["thread_id"]) != header["thread_id"] for event in found):
            raise Reject("ATF-IEVT-003")
        return found
    after(index, "events", change)


@bug("read", "ATF-IHDR-012")
def reserved_refused():
    """Rejects a file whose reserved bytes are not 0."""
    def change(header, data):
        if any(header["_reserved1"]):
            raise Reject("ATF-IHDR-012")
        return header
    after(index, "read_header", change)


@bug("read", "ATF-IEVT-002")
def unknown_kind_fails():
    """Knows only three kinds of events and crashes on a fourth."""
    def change(found, *_):
        for event in found:
            ("call", "return", "exception")[event["event_kind"] - 1]
        return found
    after(index, "events", change)


@bug("read", "ATF-DFTR-007")
def footer_order_swapped():
    """Reads the detail footer in the order of the index footer: a length becomes a time."""
    original = layout.DETAIL_FOOTER.document
    layout.DETAIL_FOOTER.document = lambda values: original({
        **values, "bytes_length": values["time_end_ns"], "time_start_ns": values["bytes_length"],
        "time_end_ns": values["time_start_ns"]})


# ---- Readers: detail events ----

@bug("read", "ATF-DEVT-001")
def zero_length_hangs():
    """Advances by a total_length of 0, forever."""
    def look(data, header, end):
        start = header["events_offset"]
        while end - start >= 24 and not any(data[start:start + 4]):
            pass
    before(detail, "walk", look)


@bug("read", "ATF-DEVT-002")
def length_past_end():
    """Copies an event of any length, past the end of the file."""
    def look(data, header, end):
        at = header["events_offset"]
        while len(data) - at >= 24:
            length = int.from_bytes(data[at:at + 4], "little")
            if length > len(data) - at and data[at:at + 4] != detail.FOOTER_MAGIC:
                crash()
            at += max(length, 24)
    before(detail, "walk", look)


@bug("read", "ATF-DEVT-002")
def length_into_footer():
    """Lets the last event reach into the footer."""
    after(detail, "walk", lambda found, *_: (
        found[0], found[1], None if found[2] == "ATF-DEVT-002" else found[2]))
    detail.whole_events = lambda data, header, footer, at: detail.walk(data, header, at)[0]


@bug("read", "ATF-DPAY-002")
def payload_always_function():
    """Reads every payload as registers, even shorter ones."""
    def look(payload):
        if len(payload) < layout.PAYLOAD.size:
            crash()
    before(detail, "function", look)


# ---- Readers: sessions ----

@bug("read", "ATF-LINK-001")
def links_not_followed():
    """Never checks whether a link's target exists and links back."""
    session.loose_ends = lambda forward, back: (0, 0)


@bug("read", "ATF-LINK-001")
def links_one_way():
    """Follows links forward and never checks the link back: crossed and duplicated links pass."""
    session.loose_ends = lambda forward, back: (sum(to not in back for to in forward.values()), 0)


@bug("read", "ATF-RDER-003")
def one_corrupt_thread():
    """Rejects the whole session because of one unreadable thread."""
    def change(result, threads, rules, used):
        lost = any(entry["index"] and not session.is_read(entry["index"]) for entry in threads)
        return "reject" if lost else result
    after(session, "verdict", change)


def manifest_threads(folder):
    """Returns the threads in the manifest, unchecked."""
    try:
        with open(os.path.join(folder, "manifest.json"), "rb") as file:
            return manifest.parse(file.read())["threads"] or []
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return []


def listed_ids(folder):
    """Returns the ids in the manifest, unchecked."""
    threads = manifest_threads(folder)
    return [thread["id"] for thread in threads if type(thread) is dict and "id" in thread]


@bug("read", "ATF-MANI-004")
def listed_twice():
    """Follows the manifest's list: a thread listed twice has its events twice."""
    def change(found, folder):
        names = dict(found)
        ids = listed_ids(folder)
        return [(id_, names[id_]) for id_ in ids if id_ in names] or found
    after(session, "thread_folders", change)


def paths_opened(prefix):
    """Adds the folders whose paths are the prefix and an id in the manifest."""
    def change(found, folder):
        paths = [prefix + id_ for id_ in listed_ids(folder) if isinstance(id_, str)]
        return found + [(0, path) for path in paths if os.path.isdir(os.path.join(folder, path))]
    after(session, "thread_folders", change)


@bug("read", "ATF-MANI-003")
def path_in_id():
    """Joins an id from the manifest to the session's path, dots included."""
    paths_opened("")


@bug("read", "ATF-MANI-003")
def path_behind_thread():
    """Appends an id from the manifest to "thread_" and opens that path, wherever it leads."""
    paths_opened("thread_")


@bug("read", "ATF-MANI-003")
def numbers_for_threads():
    """Expects each thread of the manifest to be an object, and fails if one is a number."""
    def look(folder):
        [thread["id"] for thread in manifest_threads(folder) if type(thread) is not dict]
    before(session, "thread_folders", look)


@bug("read", "ATF-MANI-003")
def id_wraps():
    """Adds the threads that only the manifest lists, but keeps the lower 32 bits of their ids."""
    def change(found, folder):
        known = {id_ for id_, _ in found}
        ids = [id_ for id_ in listed_ids(folder) if type(id_) is int and id_ not in known]
        names = [(id_ % 2**32, f"thread_{id_ % 2**32}") for id_ in ids]
        return found + [entry for entry in names if entry in found]
    after(session, "thread_folders", change)


@bug("read", "ATF-SESS-003")
def symbolic_links_followed():
    """Follows symlinks, even out of the session."""
    os.lstat = os.stat
    os.path.islink = lambda path: False


@bug("read", "ATF-MANI-002")
def manifest_needed():
    """Rejects a session whose manifest it cannot use."""
    after(session, "verdict", lambda result, threads, rules, used: (
        result if used == "used" else "reject"))


@bug("read", "ATF-RDER-013")
def time_from_empty_thread():
    """Starts a session at time 0 because one of its threads has no events."""
    def change(found, *_):
        document, rules = found
        indexes = [entry["index"] for entry in document["threads"]]
        if any(session.is_read(file) and not file["events"] for file in indexes):
            document["derived"]["time_start_ns"] = "0"
        return document, rules
    after(session, "read", change)


# ---- Readers: processes that end abnormally ----

@bug("read", "ATF-IHDR-001")
def short_header_aborts():
    """Asserts that the file has a header."""
    def look(data):
        if len(data) < HEADER_SIZE:
            crash(signal.SIGABRT)
    before(index, "read_header", look)


@bug("read", "ATF-IFTR-010")
def cut_event_hangs():
    """Waits for the rest of a torn event, and ignores SIGTERM."""
    def look(data, header):
        if (len(data) - HEADER_SIZE) % EVENT_SIZE:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(3600)
    before(index, "surviving_events", look)


@bug("read", "ATF-IHDR-003")
def garbage_printed():
    """Prints a warning before its document."""
    def look(data):
        if data[4:5] != b"\1":
            print("warning: byte order")
    before(index, "read_header", look)


# ---- Writers ----

def fields(change):
    """Replaces the values written to a record with `change(values)`."""
    original = layout.Record.write
    layout.Record.write = lambda self, **values: original(self, **change(values))


def field(name, change):
    """Passes the values written to a field through `change`."""
    fields(lambda values: {**values, name: change(values[name])} if name in values else values)


def record(magic, change):
    """Adds `change(values)` to the values written to the record with this magic."""
    fields(lambda values: {**values, **(change(values) if values.get("magic") == magic else {})})


@bug("write", "ATF-IFTR-005")
def writes_ieee():
    """Writes the IEEE CRC-32, since S0, S1 and S4 name no polynomial."""
    writer.crc32c = lambda data: zlib.crc32(bytes(data))


@bug("write", "ATF-IFTR-004")
def writes_stale_checksum():
    """Writes a checksum that misses the last bytes."""
    original = writer.crc32c
    writer.crc32c = lambda data: original(data[:-1])


@bug("write", "ATF-IFTR-002")
def writes_count_off_by_one():
    """Counts one event too many in the footer."""
    record(b"2ITA", lambda values: {"event_count": values["event_count"] + 1})


@bug("write", "ATF-IFTR-003")
def writes_other_footer():
    """Writes the index footer in the order of the detail footer."""
    record(b"2ITA", lambda values: {
        "time_start_ns": values["bytes_written"], "time_end_ns": values["time_start_ns"],
        "bytes_written": values["time_end_ns"]})


@bug("write", "ATF-IFTR-007")
def writes_no_times():
    """Leaves the footer's times 0."""
    record(b"2ITA", lambda values: {"time_start_ns": 0, "time_end_ns": 0})


@bug("write", "ATF-IHDR-014")
def writes_header_count_less():
    """Counts one event too few in the header."""
    record(b"ATI2", lambda values: {"event_count": max(0, values.get("event_count", 0) - 1)})


@bug("write", "ATF-IHDR-005")
def writes_other_version():
    """Writes the version number of the other wire version."""
    record(b"ATI2", lambda values: {"version": 3 - values["version"]})


@bug("write", "ATF-IHDR-018")
def writes_no_flag():
    """Forgets to set the flag for details."""
    record(b"ATI2", lambda values: {"flags": 0})


@bug("write", "ATF-LINK-001")
def writes_zero_for_none():
    """Writes 0 for an event without details."""
    writer.NO_DETAIL = {1: 0, 2: 0}


@bug("write", "ATF-LINK-001")
def writes_index_seq_from_1():
    """Counts index events from 1 in the details' links back."""
    field("index_seq", lambda seq: seq + 1)


@bug("write", "ATF-LINK-006")
def writes_other_time():
    """Reads the clock again for a detail, a nanosecond later."""
    original = writer.Thread.detail
    writer.Thread.detail = lambda self, values: original(
        self, {**values, "ts": str(int(values["ts"]) + 1)})


@bug("write", "ATF-DEVT-002")
def writes_payload_length():
    """Writes the payload's length instead of the event's."""
    field("total_length", lambda length: max(24, length - 24))


@bug("write", "ATF-IEVT-003")
def writes_thread_0():
    """Writes thread 0 into every event."""
    fields(lambda values: {**values, "thread_id": 0} if "call_depth" in values else values)


@bug("write", "ATF-DHDR-011")
def writes_open_range():
    """Writes the position after the last as the end of the range."""
    field("index_seq_end", lambda seq: seq + 1)


@bug("write", "ATF-DFTR-010")
def writes_half_a_detail():
    """Writes its buffer when it is stopped, including half a detail."""
    original = writer.Thread.flush

    def flush(self):
        original(self)
        if not self.is_done and self.details.count:
            path = os.path.join(self.folder, "detail.atf")
            os.truncate(path, os.path.getsize(path) - 1)
    writer.Thread.flush = flush


@bug("write", "ATF-WRTR-008")
def writes_at_the_end():
    """Keeps its events in memory until it finalizes: a flush does nothing."""
    writer.Thread.sync = lambda self: None


@bug("write", "ATF-WRTR-001")
def writes_header_first():
    """Writes the header with the final count before the events."""
    original = writer.Thread.put
    writer.Thread.put = lambda self, name, placeholder, rest, header=b"": original(
        self, name, header or placeholder, rest)


@bug("write", "ATF-IFTR-002")
def writes_on_a_full_disk():
    """Ignores a failed write, and counts its events anyway."""
    handed_over = {}

    def put(self, name, placeholder, rest, header=b""):
        path = os.path.join(self.folder, name)
        with open(path, "r+b" if path in handed_over else "wb", buffering=0) as file:
            file.write(header or placeholder)
            file.seek(0, os.SEEK_END)
            with contextlib.suppress(OSError):
                file.write(rest[handed_over.get(path, 0):])
        handed_over[path] = len(rest)
    writer.Thread.put = put


@bug("write", "ATF-IFTR-001")
def writes_no_footer():
    """Never finalizes."""
    writer.Thread.finalize = lambda self: None


@bug("write", "ATF-IHDR-017")
def writes_placeholder():
    """Forgets to rewrite the header."""
    writer.Thread.index_summary = lambda self: {}


@bug("write", "ATF-DEVT-002")
def writes_crash():
    """Has a 64 KiB buffer for payloads, and does not check the size."""
    original = writer.Thread.detail

    def write(self, values):
        if len(values["payload"]) >= 2 * 2**16:
            crash()
        original(self, values)
    writer.Thread.detail = write


@bug("write", "ATF-IEVT-001")
def writes_hang():
    """Waits for the clock to advance between two events with the same time."""
    def look(self, values):
        while self.events.count and int(values["ts"]) == self.events.last:
            pass
    before(writer.Thread, "index", look)


@bug("write", "ATF-IFTR-001")
def writes_reopened():
    """Reopens a finalized thread for a late event, and never finalizes it again."""
    def reopen(self, _):
        self.is_done = False
    before(writer.Thread, "index", reopen)


@bug("write", "session")
def writes_short_paths():
    """Keeps paths in buffers of 1,023 bytes."""
    after(os.path, "join", lambda path, *_: path[:1023])

"""Sessions, and their contents according to an independent reader."""

import json
import pathlib
import shutil
import struct
import sys
import tempfile

import hypothesis
import pyarrow as pa
import pyarrow.parquet
import pytest

ROOT = pathlib.Path(__file__).parents[2]
# The pure Python implementation, which shares no code with the library.
sys.path.insert(0, str(ROOT / "conformance/testees/python"))

import session as independent  # noqa: E402
from layout import FOOTER_SIZE, crc32c  # noqa: E402

SMALL = ROOT / "samples/sample-small/session_20260105_101500/pid_4242"
CRASHED = ROOT / "samples/sample-crashed/session_20260105_101500/pid_4243"
NO_MANIFEST = ROOT / "samples/sample-crashed-nomanifest/session_20260105_101500/pid_4244"


def copy_corpus(folder):
    """Writes the files of the corpus's cases below a folder, and returns the folder of each case's files."""
    corpus = ROOT / "conformance/corpus"
    for table in json.loads((corpus / "corpus.json").read_bytes())["tables"]:
        for case in json.loads((corpus / table).read_bytes())["cases"]:
            files = folder / case["name"] / "files"
            for path in ["", *case.get("folders", [])]:
                (files / path).mkdir(parents=True, exist_ok=True)
            for path, parts in case["files"].items():
                (files / path).parent.mkdir(parents=True, exist_ok=True)
                (files / path).write_bytes(b"".join(part_bytes(part) for part in parts))
            for path, target in case.get("symlinks", {}).items():
                (files / path).parent.mkdir(parents=True, exist_ok=True)
                (files / path).symlink_to(target)
            yield files


def part_bytes(part):
    """Returns the bytes of a part: text, or a name, bytes in hexadecimal and an optional repeat count."""
    if isinstance(part, str):
        return part.encode()
    _, digits, *times = part
    return bytes.fromhex(digits) * (times[0] if times else 1)


CORPUS_FOLDER = tempfile.TemporaryDirectory()
CASES = sorted(copy_corpus(pathlib.Path(CORPUS_FOLDER.name)))
CORPUS = [path for path in CASES if any(path.glob("thread_*"))]

# Every run tests the same random inputs.
hypothesis.settings.register_profile("same", derandomize=True)
hypothesis.settings.load_profile("same")



def written(path):
    """Returns the table in a Parquet or Arrow file, and the file's metadata."""
    if path.suffix == ".parquet":
        return pyarrow.parquet.read_table(path, partitioning=None), pyarrow.parquet.read_metadata(path).metadata
    file = pa.ipc.open_file(pa.memory_map(str(path)))
    return file.read_all(), file.metadata


KINDS = {1: "call", 2: "return", 3: "exception"}


def number(value):
    """The independent reader writes 64-bit numbers as text, while tables keep their bits in signed numbers."""
    if value is None:
        return None
    return (int(value) + 2**63) % 2**64 - 2**63


def expected_threads(path):
    """Returns index and detail documents by thread id."""
    document, _ = independent.read(str(path))
    return {entry["thread_id"]: entry for entry in document["threads"]}


def rejected_threads(path):
    """Returns the ids of threads whose index the independent reader rejects."""
    threads = expected_threads(path).items()
    return {thread for thread, entry in threads if entry["index"] and not independent.is_read(entry["index"])}


def expected_events(path, time=int):
    """Returns thread, seq, time, kind, function, depth and detail of all events. `time` converts their times."""
    return [
        (
            thread,
            seq,
            time(number(event["timestamp_ns"])),
            KINDS.get(event["event_kind"]),
            number(event["function_id"]),
            event.get("call_depth"),
            number(event["detail_seq"]),
        )
        for thread, entry in sorted(expected_threads(path).items())
        for seq, event in enumerate(independent.events(entry["index"]))
    ]


def expected_calls(path, time=int):
    """Pairs calls with returns by searching the whole stack for each return. `time` converts the events' times."""
    found = []
    for thread in sorted(expected_threads(path)):
        open_calls = []

        def end(call, end_ns, how):
            parent = call["parent"]
            duration = None if end_ns is None or end_ns < call["start"] else end_ns - call["start"]
            own = None
            if duration is not None and None not in call["inner"]:
                own = duration - sum(call["inner"])
            if own is not None and own < 0:
                own = None
            if parent is not None:
                parent["inner"].append(duration)
            found.append(
                (thread, call["seq"], parent and parent["seq"], call["function"], call["start"], duration, own, how)
            )

        events = [event for event in expected_events(path, time) if event[0] == thread]
        for _, seq, time_ns, kind, function, _, _ in events:
            if kind == "call":
                parent = open_calls[-1] if open_calls else None
                open_calls.append({"seq": seq, "function": function, "start": time_ns, "inner": [], "parent": parent})
            elif kind is not None and function in [call["function"] for call in open_calls]:
                while True:
                    call = open_calls.pop()
                    is_own = call["function"] == function
                    end(call, time_ns, kind if is_own else "not_returned")
                    if is_own:
                        break
        while open_calls:
            end(open_calls.pop(), None, "open")
    return found


def flip(path, place):
    """Adds the checksum of a file's events to its footer, and then flips a bit of the events' byte at this place."""
    data = bytearray(path.read_bytes())
    events = range(64, len(data) - FOOTER_SIZE)
    struct.pack_into("<I", data, events.stop + 4, crc32c(data[events.start : events.stop]))
    data[events[place]] ^= 1
    path.write_bytes(data)


@pytest.fixture
def copy(tmp_path):
    """Copies sample-small so that tests can change it."""
    return pathlib.Path(shutil.copytree(SMALL, tmp_path / "session" / "pid_4242"))


@pytest.fixture
def flipped(copy):
    """A copy of sample-small in which thread 0 has a checksum and a flipped bit in the time of event 5."""
    flip(copy / "thread_0" / "index.atf", 5 * 32)
    return copy


@pytest.fixture
def lossy(copy):
    """A copy of sample-small whose manifest states losses."""
    path = copy / "manifest.json"
    manifest = json.loads(path.read_text())
    (thread,) = [thread for thread in manifest["threads"] if thread["id"] == 1]
    thread["lost_events"] = {"count": 3, "first_ns": 1234567890125100, "last_ns": 1234567890125200}
    thread["lost_details"] = {"count": 1, "first_ns": 7, "last_ns": 7}
    manifest["lost_events"] = {"count": 2, "first_ns": 5, "last_ns": 6}
    manifest.update(unwritten_events=64, ended_by="SIGKILL")
    path.write_text(json.dumps(manifest))
    return copy

#!/usr/bin/env python3
"""Answers the conformance kit.

testee.py read PATH
testee.py write SCRIPT OUT
testee.py serve            answers one request a line: a path, or a script and a folder
testee.py accessors        answers one request a line: a record, its wire version, two in hex
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from dataclasses import replace
from typing import Any

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "src"))

from adatrace_reader import records  # noqa: E402
from adatrace_reader.files import NOWHERE, DetailFile, IndexFile, Refused  # noqa: E402
from adatrace_reader.session import Session, Thread  # noqa: E402
from adatrace_reader.session_writer import SessionWriter  # noqa: E402
from adatrace_reader.writers import Detail  # noqa: E402


def document(record: Any, wire: int) -> dict[str, Any]:
    """Returns a record's fields: 64-bit numbers and links as strings, no magic, nothing reserved."""
    shown: dict[str, Any] = {}
    for field in record.LAYOUTS[wire]:
        if field.name == "magic" or field.name.lstrip("_").startswith("reserved"):
            continue
        is_text = field.type.startswith("u64") or field.name.endswith("_seq")
        value = getattr(record, field.name)
        key = field.name.rstrip("_")  # A keyword of Python has an underscore after it.
        if isinstance(value, tuple):
            shown[key] = [str(each) if is_text else each for each in value]
        else:
            shown[key] = str(value) if is_text and value is not None else value
    return shown


def of_file(file: IndexFile | DetailFile, kind: str) -> dict[str, Any]:
    wire, footer = file.wire, file.footer
    if isinstance(file, IndexFile):
        events = [document(event, wire) for event in file]
        has_hole = any(file.is_hole(seq) for seq in range(len(file)))
    else:
        has_hole, events = False, []
        for event in file:
            shown = document(event.header, wire)
            shown["payload"] = event.payload.hex()
            shown["function"] = None
            if event.function:
                shown["function"] = document(event.function.registers, wire)
                shown["function"]["stack"] = event.function.stack.hex()
            events.append(shown)
    checksum = "not_checked" if footer is None else "good" if footer.checksum else "absent"
    counted = "file_size" if kind == "index" else "framing"
    return {
        "kind": kind,
        "verdict": "accept" if file.is_finalized and not has_hole else "recover",
        "header": document(file.header, wire),
        "footer": footer and document(footer, wire),
        "derived": {
            "event_count": str(len(events)),
            "count_source": counted if footer is None else "footer",
            "checksum": checksum,
            "trailing_bytes": str(file.size - file.end),
        },
        "events": events,
    }


def of_thread(thread: Thread) -> dict[str, Any]:
    def of(file: IndexFile | DetailFile | None, kind: str) -> dict[str, Any] | None:
        if file is not None:
            return of_file(file, kind)
        is_refused = any(os.path.basename(own.file) == f"{kind}.atf" for own in thread.refused)
        return {"kind": kind, "verdict": "reject"} if is_refused else None

    dangling, orphans = thread.loose_links()
    return {
        "thread_id": thread.thread_id,
        "index": of(thread.index, "index"),
        "detail": of(thread.detail, "detail"),
        "derived": {"dangling_links": str(dangling), "orphan_details": str(orphans)},
    }


def of_session(session: Session) -> dict[str, Any]:
    threads, merged = session.threads, session.merged()
    error = session.manifest_error
    used = "ignored" if error else "absent" if session.manifest is None else "used"
    if error:
        print(error, file=sys.stderr)
    if threads and all(thread.index is None for thread in threads):
        verdict = "reject"
    elif used != "ignored" and all(thread.is_whole for thread in threads):
        verdict = "accept"
    else:
        verdict = "recover"
    events = sum(len(thread.index or ()) for thread in threads)
    details = sum(len(list(thread.detail or ())) for thread in threads)
    return {
        "kind": "session",
        "verdict": verdict,
        "threads": [of_thread(thread) for thread in threads],
        "derived": {
            "manifest": used,
            "event_count": str(events),
            "detail_count": str(details),
            "time_start_ns": str(merged[0].event.timestamp_ns) if merged else None,
            "time_end_ns": str(merged[-1].event.timestamp_ns) if merged else None,
            "merged": [[own.thread_id, str(own.seq)] for own in merged],
        },
    }


def read(path: str) -> dict[str, Any]:
    if os.path.isdir(path):
        return of_session(Session(path))
    with open(path, "rb") as file:
        data = file.read()
    is_detail = data[:4] == b"ATD2" or os.path.basename(path) == "detail.atf"
    reader, kind = (DetailFile, "detail") if is_detail else (IndexFile, "index")
    try:
        return of_file(reader(data, name=path), kind)
    except Refused:
        return {"kind": kind, "verdict": "reject"}


def write(script: str, out: str) -> int:
    """Executes a script. Events that do not fit on a full disk are retried at the end, and late ones
    are refused."""
    session: SessionWriter | None = None
    event: dict[str, Any] = {}
    with open(script, encoding="ascii") as file:
        lines = [line.split() for line in file if line.strip() and not line.startswith("#")]
    for name, *words in lines:
        keys = dict(word.split("=") for word in words)
        number = {key: int(keys[key]) for key in keys if keys[key] != "-" and key != "payload"}
        if name == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        elif name == "space":
            _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        elif name == "open" and session is None:
            header = records.IndexHeader(
                arch=number["arch"], os=number["os"], clock_type=number["clock"]
            )
            session = SessionWriter(out, header, wire=number["wire"])
        assert session is not None
        if name == "abort":
            session.flush()
            return 0
        if "thread" not in number:
            continue
        thread = session.thread(number["thread"])
        try:
            if name == "index":
                event = {"timestamp_ns": number["ts"], "function_id": number["fn"]}
                event |= {"event_kind": number["kind"], "call_depth": number["depth"]}
                if "detail" not in number:
                    thread.event(**event)
            elif name == "detail":
                payload = bytes.fromhex(keys["payload"])
                thread.event(**event, detail=Detail(payload, number["type"], number["flags"]))
            elif name == "flush":
                thread.flush()
            elif name in ("finalize", "close"):
                thread.finalize()
        except (OSError, ValueError) as refused:
            print(refused, file=sys.stderr)
    try:
        if session:
            session.finalize()
    except OSError as full:
        print(full, file=sys.stderr)
        return 3
    return 0


def accessors(request: str) -> dict[str, Any]:
    """Decodes a record, and replaces each of its fields with the same field of another record."""
    name, version, *texts = request.split()
    wire, own = int(version), getattr(records, name.title().replace("_", ""))
    one, other = (own.read(bytes.fromhex(text), 0, wire) for text in texts)
    names = [field.name for field in own.LAYOUTS[wire]]
    changed = {name: replace(one, **{name: getattr(other, name)}) for name in names}
    return {
        "fields": document(one, wire),
        "set": {name.rstrip("_"): record.write(wire).hex() for name, record in changed.items()},
    }


def answer(line: str) -> Any:
    request = json.loads(line)
    return write(*request) if isinstance(request, list) else read(request)


def main(arguments: list[str]) -> int:
    match arguments:
        case ["read", path]:
            own = read(path)
            print(json.dumps(own))
            return 1 if own["verdict"] == "reject" else 0
        case ["write", script, out]:
            return write(script, out)
        case [("serve" | "accessors") as command]:
            reply = answer if command == "serve" else accessors
            for line in sys.stdin:
                print(json.dumps(reply(line)), flush=True)
            return 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

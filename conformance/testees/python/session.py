"""Reads a session, which is a folder with thread folders and a manifest.json."""

import os
import re
import stat

import detail
import index
import manifest
from layout import Reject

THREAD = re.compile(r"thread_[0-9]+\Z", re.ASCII)
PROCESS = re.compile(r"pid_[0-9]+\Z", re.ASCII)


def read(folder):
    """Returns the document of a session and the rules that its files break."""
    folder = process_folder(folder)
    found = [thread(os.path.join(folder, name), id_) for id_, name in thread_folders(folder)]
    threads = [entry for entry, _ in found]
    rules = [rule for _, broken in found for rule in broken]
    used, broken = manifest.state(os.path.join(folder, "manifest.json"))
    rules += broken
    merged = merge(threads)
    document = {
        "kind": "session",
        "verdict": verdict(threads, rules, used),
        "threads": threads,
        "derived": {
            "manifest": used,
            "event_count": str(sum(len(events(entry["index"])) for entry in threads)),
            "detail_count": str(sum(len(events(entry["detail"])) for entry in threads)),
            "time_start_ns": str(merged[0][0]) if merged else None,
            "time_end_ns": str(merged[-1][0]) if merged else None,
            "merged": [[thread_id, str(seq)] for _, thread_id, seq in merged],
        },
    }
    return document, rules


def verdict(threads, rules, used):
    """Returns the verdict. A thread without a readable index is a fault, unlike an absent manifest."""
    if threads and not any(is_read(entry["index"]) for entry in threads):
        return "reject"
    faults = [rule for rule in rules if rule != "ATF-MANI-001"]
    return "recover" if faults or used == "ignored" else "accept"


def is_read(document):
    return document is not None and document["verdict"] != "reject"


def events(document):
    return document["events"] if is_read(document) else []


def process_folder(folder):
    """Returns the only `pid_N` folder in a `session_…` folder, or the folder itself."""
    names = os.listdir(folder)
    processes = [name for name in names if PROCESS.match(name)]
    if len(processes) == 1 and not any(THREAD.match(name) for name in names):
        return os.path.join(folder, processes[0])
    return folder


def thread_folders(folder):
    """Returns ids and names. The names come from the folder, never from the manifest."""
    names = [name for name in os.listdir(folder) if THREAD.match(name)]
    ids = [(int(name.removeprefix("thread_")), name) for name in names]
    return sorted(entry for entry in ids if entry[0] < 2**32)


def thread(folder, id_):
    """Returns a thread's entry and the rules that it breaks."""
    rules = []
    index_file = detail_file = None
    kind = os.lstat(folder).st_mode
    if stat.S_ISLNK(kind):
        rules.append("ATF-SESS-003")
    elif not stat.S_ISDIR(kind):
        rules.append("ATF-SESS-002")
    else:
        index_file = member(os.path.join(folder, "index.atf"), index, rules)
        if index_file is None and "ATF-SESS-003" not in rules:
            rules.append("ATF-SESS-002")
        detail_file = member(os.path.join(folder, "detail.atf"), detail, rules)
    index_file, detail_file, broken = linked(index_file, detail_file)
    rules += broken
    dangling, orphans = loose_ends(*links(index_file, detail_file))
    entry = {
        "thread_id": id_,
        "index": index_file,
        "detail": detail_file,
        "derived": {"dangling_links": str(dangling), "orphan_details": str(orphans)},
    }
    return entry, rules


def member(path, format_, rules):
    """Returns the document of a thread's file, or None if it is missing. Does not follow symlinks."""
    if os.path.islink(path):
        rules.append("ATF-SESS-003")
        return None
    if not os.path.isfile(path):
        return None
    try:
        with open(path, "rb") as file:
            document, broken = format_.read(file.read())
    except OSError:
        return None
    except Reject as refused:
        rules.append(refused.rule)
        return {"kind": format_.__name__, "verdict": "reject"}
    rules += broken
    return document


def linked(index_file, detail_file):
    """Returns both documents and the rules that the two files break together.

    Rejects a detail file of the other wire version, which must belong to another thread.
    """
    if not is_read(index_file) or not is_read(detail_file):
        return index_file, detail_file, []
    if detail_file["header"]["version"] == index_file["header"]["version"]:
        return index_file, detail_file, []
    return index_file, {"kind": "detail", "verdict": "reject"}, ["ATF-LINK-008"]


def links(index_file, detail_file):
    """Returns the links in both directions, each as {from: to}."""
    forward = {seq: int(event["detail_seq"]) for seq, event in known(index_file)
               if event["detail_seq"] is not None}
    back = {seq: int(event["index_seq"]) for seq, event in enumerate(events(detail_file))}
    return forward, back


def loose_ends(forward, back):
    """Counts the links without a matching link back, in both directions."""
    dangling = sum(back.get(to) != seq for seq, to in forward.items())
    orphans = sum(forward.get(to) != seq for seq, to in back.items())
    return dangling, orphans


def known(index_file):
    """Returns the events that reached the disk, with their positions."""
    is_proven = is_read(index_file) and index_file["derived"]["checksum"] == "good"
    return [(seq, event) for seq, event in enumerate(events(index_file))
            if is_proven or not event.is_zero]


def merge(threads):
    """Returns the time, thread and position of each event except for holes, in merged order."""
    return sorted((int(event["timestamp_ns"]), entry["thread_id"], seq)
                  for entry in threads for seq, event in known(entry["index"]))

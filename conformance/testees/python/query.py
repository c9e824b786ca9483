"""Answers queries about a session, one per line."""

import json
import os

import session

UNSUPPORTED = 77


def answer(queries, path):
    """Returns the answers to the queries in a file."""
    document, _ = session.read(path)
    with open(queries, encoding="utf-8") as lines:
        return {"verdict": document["verdict"],
                "answers": [one(document, path, line.rstrip("\n")) for line in lines]}


def one(document, path, line):
    word, _, rest = line.partition(" ")
    keys = {} if rest.startswith("name=") else dict(it.split("=") for it in rest.split())
    match word:
        case "events":
            if rest.startswith("name="):
                functions = named(path, json.loads(rest.removeprefix("name=")))
                return found(document, lambda _, event: event["function_id"] in functions)
            if "thread" in keys:
                return found(document, lambda id_, _: id_ == int(keys["thread"]))
            first, last = int(keys.get("from", 0)), int(keys.get("to", 2**64 - 1))
            return in_times(document, first, last)
        case "detail" | "index":
            known = "index" if word == "detail" else "detail"
            return linked(document, int(keys["thread"]), known, int(keys[known]))
        case "time":
            return host_time(path, int(keys["media"]), int(keys["scale"]))
    return UNSUPPORTED


def found(document, is_wanted):
    """Returns the wanted events in merged order, each as its thread and its position."""
    merged = session.merge(document.get("threads", []))
    threads = {entry["thread_id"]: entry["index"] for entry in document.get("threads", [])}
    return [[id_, str(seq)] for _, id_, seq in merged
            if is_wanted(id_, threads[id_]["events"][seq])]


def in_times(document, first, last):
    return found(document, lambda _, event: first <= int(event["timestamp_ns"]) <= last)


def linked(document, id_, side, seq):
    """Returns the position in the other file of what an event links to, if that links back."""
    for entry in document.get("threads", []):
        if entry["thread_id"] == id_:
            links = session.links(entry["index"], entry["detail"])
            from_, to = links if side == "index" else links[::-1]
            other = from_.get(seq)
            return str(other) if other is not None and to.get(other) == seq else None
    return None


def manifest(path):
    try:
        with open(os.path.join(session.process_folder(path), "manifest.json"), "rb") as file:
            return json.load(file)
    except (OSError, ValueError):
        return {}


def named(path, name):
    """Returns the ids of the functions with this name."""
    symbols = manifest(path).get("symbols", [])
    return {str(int(it["function_id"], 16)) for it in symbols if it.get("name") == name}


def host_time(path, media, scale):
    """Returns the trace's time of a time in a recording."""
    for anchor in manifest(path).get("timing_anchors", []):
        own = anchor["media_timescale"]
        after = (media * own - anchor["media_time"] * scale) * 10**9 // (scale * own)
        return str(anchor["host_time_ns"] + after)
    return None

"""Checks whether manifest.json can be used."""

import json
import os
import re

HEX = re.compile(r"0x[0-9a-fA-F]{1,16}\Z", re.ASCII)


def state(path):
    """Returns `used`, `absent` or `ignored`, and the rules that the manifest breaks."""
    if not os.path.lexists(path):
        return "absent", ["ATF-MANI-001"]
    if os.path.islink(path):
        return "ignored", ["ATF-SESS-003"]
    try:
        with open(path, "rb") as file:
            value = parse(file.read())
    except (OSError, ValueError, RecursionError):
        return "ignored", ["ATF-MANI-002"]
    if not fits(value, MANIFEST):
        return "ignored", ["ATF-MANI-003"]
    return "used", []


def parse(data):
    """Parses strict JSON: UTF-8 without a byte-order mark, no duplicate keys, NaN or lone surrogates."""
    value = json.loads(
        data.decode("utf-8"), object_pairs_hook=once, parse_constant=refuse, parse_int=integer)
    json.dumps(value, ensure_ascii=False).encode("utf-8")
    return value


def once(pairs):
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("duplicate key")
    return dict(pairs)


def integer(digits):
    """Parses an integer. -0 is not an integer."""
    return -0.0 if digits == "-0" else int(digits)


def refuse(word):
    raise ValueError(word)


def unsigned(bits):
    return within(0, 2**bits)


def within(start, end):
    """Returns a test for integers from `start` up to, but not including, `end`."""
    return lambda value: type(value) is int and start <= value < end


def text(value):
    return isinstance(value, str)


def address(value):
    """Returns whether the value is a 64-bit number in hexadecimal."""
    return text(value) and HEX.match(value) is not None


def boolean(value):
    return isinstance(value, bool)


def fits(value, schema):
    """Returns whether a value matches a schema: a test, a list with a schema, or an object's keys."""
    if callable(schema):
        return schema(value)
    if isinstance(schema, list):
        return isinstance(value, list) and all(fits(item, schema[0]) for item in value)
    if not isinstance(value, dict):
        return False
    required = {key.rstrip("!") for key in schema if key.endswith("!")}
    types = {key.rstrip("!"): type_ for key, type_ in schema.items()}
    return required <= value.keys() and all(
        fits(item, types[key]) for key, item in value.items() if key in types)


# "!" marks required keys. All other keys are optional.
CUT = {"from_ns!": unsigned(64), "to_ns!": unsigned(64), "calls!": unsigned(64), "returns!": unsigned(64)}
LOSS = {"count!": unsigned(64), "first_ns!": unsigned(64), "last_ns!": unsigned(64)}
MANIFEST = {
    "format_version": text,
    "threads!": [{"id!": unsigned(32), "has_detail": boolean, "name": text,
                  "lost_events": LOSS, "lost_details": LOSS, "cut": CUT}],
    "time_start_ns": unsigned(64),
    "time_end_ns": unsigned(64),
    "clock_type": unsigned(8),
    "modules": [{"module_id!": unsigned(32), "path": text, "base_address": address,
                 "size": unsigned(64), "uuid": text, "function_offsets": boolean}],
    "symbols": [{"function_id!": address, "module_id": unsigned(32),
                 "symbol_index": unsigned(32), "name": text}],
    "timing_anchors": [{"host_time_ns!": unsigned(64), "media_time!": within(-2**63, 2**63),
                        "media_timescale!": within(1, 2**31)}],
    "lost_events": LOSS,
    "unwritten_events": unsigned(64),
    "ended_by": text,
    "clock_error_ns": unsigned(64),
    "drops_events": boolean,
    "detail_fields": boolean,
    "recovered": [{"what!": text, "lost!": boolean, "thread": unsigned(32)}],
}

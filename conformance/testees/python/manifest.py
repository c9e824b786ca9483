"""Tells whether manifest.json can be used."""

import json
import os
import re

HEX = re.compile(r"0x[0-9a-fA-F]{1,16}\Z", re.ASCII)


def state(path):
    """`used`, `absent` or `ignored`, and the rules that it breaks."""
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
    """JSON to the letter: UTF-8 without a mark, no key twice, no NaN, no half of a character."""
    value = json.loads(
        data.decode("utf-8"), object_pairs_hook=once, parse_constant=refuse, parse_int=integer)
    json.dumps(value, ensure_ascii=False).encode("utf-8")
    return value


def once(pairs):
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("a key occurs twice")
    return dict(pairs)


def integer(digits):
    """-0 is no number without a sign."""
    return -1 if digits == "-0" else int(digits)


def refuse(word):
    raise ValueError(word)


def unsigned(bits):
    return lambda value: type(value) is int and 0 <= value < 2**bits


def text(value):
    return isinstance(value, str)


def address(value):
    """64 bits in hexadecimal."""
    return text(value) and HEX.match(value) is not None


def boolean(value):
    return isinstance(value, bool)


def fits(value, schema):
    """Whether a value has the schema's type: a test, a list of one, or an object's keys."""
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


# "!" marks what must be there; other keys may.
MANIFEST = {
    "format_version": text,
    "threads!": [{"id!": unsigned(32), "has_detail": boolean}],
    "time_start_ns": unsigned(64),
    "time_end_ns": unsigned(64),
    "clock_type": unsigned(8),
    "modules": [{"module_id!": unsigned(32), "path": text, "base_address": address,
                 "size": unsigned(64), "uuid": text}],
    "symbols": [{"function_id!": address, "module_id": unsigned(32),
                 "symbol_index": unsigned(32), "name": text}],
}

"""Reads detail.atf. Events vary in size. The length of each determines the offset of the next."""

from index import checksum_state, is_within
from layout import (
    DETAIL_EVENT, DETAIL_FOOTER, DETAIL_HEADER, FOOTER_SIZE, HEADER_SIZE, PAYLOAD, Reject, crc32c)

MAGIC = b"ATD2"
FOOTER_MAGIC = b"2DTA"


def read(data):
    """Returns the document of a file and the rules that it breaks. Raises Reject."""
    header = read_header(data)
    start = header["events_offset"]
    at = find_footer(data, header)
    if at is None:
        refuse_damaged_footer(data, header)
        places, end, _ = walk(data, header, surviving_end(data, header))
        if places and is_torn(data, header, places[-1], end):
            end = places.pop()
        footer, rules = None, ["ATF-DFTR-001"]
        rest = len(data) - end
    else:
        footer = DETAIL_FOOTER.read(data, at)
        places = whole_events(data, header, footer, at)
        check_checksum(footer, data[start:at])
        is_left = is_placeholder(header) and footer["event_count"] > 0
        rules = ["ATF-DHDR-012"] if is_left else []
        rest = len(data) - (at + FOOTER_SIZE)
    document = {
        "kind": "detail",
        "verdict": "recover" if rules else "accept",
        "header": DETAIL_HEADER[header["version"]].document(header),
        "events": [event(data, header, at) for at in places],
        "footer": footer and DETAIL_FOOTER.document(footer),
        "derived": {
            "event_count": str(len(places)),
            "count_source": "footer" if footer else "framing",
            "checksum": checksum_state(footer),
            "trailing_bytes": str(rest),
        },
    }
    return document, rules


def read_header(data):
    if len(data) < HEADER_SIZE:
        raise Reject("ATF-DHDR-001")
    if data[:4] != MAGIC:
        raise Reject("ATF-DHDR-002")
    if data[4] != 1:
        raise Reject("ATF-DHDR-003")
    if data[5] not in DETAIL_HEADER:
        raise Reject("ATF-DHDR-004")
    header = DETAIL_HEADER[data[5]].read(data, 0)
    if not HEADER_SIZE <= header["events_offset"] <= len(data):
        raise Reject("ATF-DHDR-005")
    return header


def is_placeholder(header):
    fields = ("event_count", "bytes_length", "index_seq_start", "index_seq_end")
    return not any(header[field] for field in fields)


def stated_end(header):
    return header["events_offset"] + header["bytes_length"]


def walk(data, header, end):
    """Walks from event to event. Returns the offsets, the end, and the rule that ended the walk."""
    record = DETAIL_EVENT[header["version"]]
    at, places = header["events_offset"], []
    while at < end:
        if end - at < record.size:
            return places, at, "ATF-DEVT-002"
        length = record.read(data, at)["total_length"]
        if length < record.size:
            return places, at, "ATF-DEVT-001"
        if length > end - at:
            return places, at, "ATF-DEVT-002"
        places.append(at)
        at += length
    return places, at, None


def find_footer(data, header):
    """Looks for the footer at the offset in the header, at the end, and before trailing bytes."""
    for at in (stated_end(header), len(data) - FOOTER_SIZE):
        if is_footer(data, header, at):
            return at
    places, end, _ = walk(data, header, len(data))
    for at in (*places, end):
        if is_footer(data, header, at):
            return at
    return None


def is_footer(data, header, at):
    """Returns whether there is a footer, with the magic and a length that matches the offset."""
    if not is_within(data, header, at):
        return False
    footer = DETAIL_FOOTER.read(data, at)
    if footer["magic"] != FOOTER_MAGIC or footer["bytes_length"] != at - header["events_offset"]:
        return False
    return not is_payload(data, header, at, fits=True)


def is_payload(data, header, at, fits):
    """Returns whether the offset is inside an event, where captured memory may look like a footer.

    If the numbers also match, the events must continue to the end of the file or to zeros."""
    if is_rewritten(header) and at == stated_end(header):
        return False
    places, end, _ = walk(data, header, len(data))
    return end > at and at not in places and not (fits and any(data[end:]))


def is_torn(data, header, last, end):
    """Returns whether zeros follow the last event and its timestamp was never written."""
    time = last + DETAIL_EVENT[header["version"]].size - 8
    return end < len(data) and not any(data[time:])


def is_torn_footer(data, header, at):
    """Returns whether the data ends before the length of a footer that the header does not prove.

    Zeros at the end of the file do not count as written."""
    is_proved = is_rewritten(header) and at == stated_end(header)
    return not is_proved and not any(data[at + 16:])


def refuse_damaged_footer(data, header):
    """Rejects a damaged footer: its reserved bytes and its magic or its length are correct."""
    start = header["events_offset"]
    if start != HEADER_SIZE:
        raise Reject("ATF-DHDR-005")
    at_end = len(data) - FOOTER_SIZE
    for at in (at_end if is_placeholder(header) else stated_end(header), at_end):
        if not is_within(data, header, at) or is_torn_footer(data, header, at):
            continue
        footer = DETAIL_FOOTER.read(data, at)
        if any(footer["reserved"]):
            continue
        has_magic = footer["magic"] == FOOTER_MAGIC
        has_length = at > start and footer["bytes_length"] == at - start
        if (has_magic or has_length) and not is_payload(data, header, at, fits=False):
            raise Reject("ATF-DFTR-003" if has_magic else "ATF-DFTR-013")
    # Elsewhere, a footer can only be where an event could begin.
    _, at, _ = walk(data, header, len(data))
    if is_within(data, header, at) and not is_torn_footer(data, header, at):
        footer = DETAIL_FOOTER.read(data, at)
        if footer["magic"] == FOOTER_MAGIC and not any(footer["reserved"]):
            raise Reject("ATF-DFTR-003")
    # If the header proves that a footer exists, other nonzero bytes in its place are
    # damage.
    at = stated_end(header)
    is_proved = at == counted_end(data, header) or (at == at_end and is_rewritten(header))
    if is_proved and at <= at_end and any(data[at:at + FOOTER_SIZE]):
        raise Reject("ATF-DFTR-013")


def is_rewritten(header):
    """Returns whether the header was rewritten. A placeholder with a single field set was not."""
    return header["event_count"] > 0 and header["bytes_length"] > 0


def counted_end(data, header):
    """Returns the end of the events according to the header's length, if its count matches."""
    end = stated_end(header)
    if not is_rewritten(header) or end > len(data):
        return None
    places, _, problem = walk(data, header, end)
    return end if problem is None and len(places) == header["event_count"] else None


def surviving_end(data, header):
    """Returns the latest possible end of the events in a file without a footer."""
    return counted_end(data, header) or len(data)


def whole_events(data, header, footer, at):
    """Returns a finalized file's events, which must be complete and match the footer's count."""
    places, _, problem = walk(data, header, at)
    if problem is not None:
        raise Reject(problem)
    if footer["event_count"] != len(places):
        raise Reject("ATF-DFTR-002")
    return places


def check_checksum(footer, section):
    """Verifies the checksum. 0 means that no checksum was computed."""
    if footer["checksum"] and footer["checksum"] != crc32c(section):
        raise Reject("ATF-DFTR-004")


def event(data, header, at):
    record = DETAIL_EVENT[header["version"]]
    values = record.read(data, at)
    payload = data[at + record.size:at + values["total_length"]]
    found = record.document(values)
    found["payload"] = payload.hex()
    found["function"] = function(payload)
    return found


def function(payload):
    """Decodes registers and stack if the length matches, regardless of the event type."""
    if len(payload) < PAYLOAD.size:
        return None
    values = PAYLOAD.read(payload, 0)
    if len(payload) != PAYLOAD.size + values["stack_size"]:
        return None
    held = PAYLOAD.document(values)
    held["x_regs"] = [held.pop(f"x{k}") for k in range(8)]
    held["stack"] = payload[PAYLOAD.size:].hex()
    return held

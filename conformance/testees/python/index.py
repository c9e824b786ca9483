"""Reads index.atf."""

from layout import (
    EVENT_SIZE, FOOTER_SIZE, HEADER_SIZE, INDEX_EVENT, INDEX_FOOTER, INDEX_HEADER, NO_DETAIL, Reject,
    crc32c)

MAGIC = b"ATI2"
FOOTER_MAGIC = b"2ITA"


def read(data):
    """Returns the document of a file and the rules that it breaks. Raises Reject."""
    header = read_header(data)
    start = header["events_offset"]
    at = find_footer(data, header)
    if at is None:
        refuse_damaged_footer(data, header)
        count = surviving_events(data, header)
        footer, rules = None, ["ATF-IFTR-001"]
        rest = len(data) - (start + EVENT_SIZE * count)
    else:
        footer = INDEX_FOOTER.read(data, at)
        count = footer["event_count"]
        check_checksum(footer, data[start:at])
        rules = ["ATF-IHDR-017"] if is_left_a_placeholder(header, footer, at) else []
        rest = len(data) - (at + FOOTER_SIZE)
    if checksum_state(footer) != "good" and has_zeros(data, start, count):
        rules.append("ATF-IEVT-006")
    document = {
        "kind": "index",
        "verdict": "recover" if rules else "accept",
        "header": INDEX_HEADER[header["version"]].document(header),
        "events": events(data, header, count),
        "footer": footer and INDEX_FOOTER.document(footer),
        "derived": {
            "event_count": str(count),
            "count_source": "footer" if footer else "file_size",
            "checksum": checksum_state(footer),
            "trailing_bytes": str(rest),
        },
    }
    return document, rules


def read_header(data):
    if len(data) < HEADER_SIZE:
        raise Reject("ATF-IHDR-001")
    if data[:4] != MAGIC:
        raise Reject("ATF-IHDR-002")
    if data[4] != 1:
        raise Reject("ATF-IHDR-003")
    version = data[5]
    if version not in INDEX_HEADER:
        raise Reject("ATF-IHDR-004")
    refuse_other_layout(data, version)
    header = INDEX_HEADER[version].read(data, 0)
    if header["event_size"] != EVENT_SIZE:
        raise Reject("ATF-IHDR-006")
    check_events_offset(header, len(data))
    return header


def refuse_other_layout(data, version):
    """Rejects the other version's layout. At 20, version 2 has an event size, version 1 zeros."""
    word = int.from_bytes(data[20:24], "little")
    if (version == 1 and word == EVENT_SIZE) or (version == 2 and word == 0):
        raise Reject("ATF-IHDR-005")


def check_events_offset(header, size):
    if not HEADER_SIZE <= header["events_offset"] <= size:
        raise Reject("ATF-IHDR-007")


def is_placeholder(header):
    fields = ("flags", "event_count", "time_start_ns", "time_end_ns")
    return not any(header[field] for field in fields) and header["footer_offset"] in (0, 64)


def is_left_a_placeholder(header, footer, at):
    """Returns whether the header was never rewritten. Without events, only footer_offset shows it."""
    fields = ("event_count", "time_start_ns", "time_end_ns")
    says_all = all(header[f] == footer[f] for f in fields) and header["footer_offset"] == at
    return is_placeholder(header) and not says_all


def find_footer(data, header):
    """Looks for the footer at the header's offset for it, at the end, and before trailing bytes."""
    for at in (header["footer_offset"], len(data) - FOOTER_SIZE):
        if is_footer(data, header, at):
            return at
    for at in magics(data, header):
        if is_footer(data, header, at):
            return at
    return None


def is_within(data, header, at):
    return header["events_offset"] <= at <= len(data) - FOOTER_SIZE


def is_footer(data, header, at):
    """Returns whether there is a footer, with the magic and numbers that match the offset."""
    if not is_within(data, header, at):
        return False
    footer = INDEX_FOOTER.read(data, at)
    return footer["magic"] == FOOTER_MAGIC and says_its_place(footer, at - header["events_offset"])


def says_its_place(footer, size):
    return footer["bytes_written"] == size == EVENT_SIZE * footer["event_count"]


def magics(data, header):
    """Yields the offsets of footer magics where an event could end."""
    start = header["events_offset"]
    at = data.find(FOOTER_MAGIC, start)
    while at != -1:
        if (at - start) % EVENT_SIZE == 0:
            yield at
        at = data.find(FOOTER_MAGIC, at + 1)


def refuse_damaged_footer(data, header):
    """Rejects a footer with a single mismatch: it can be neither trusted nor read as events."""
    start = header["events_offset"]
    if start != HEADER_SIZE:
        raise Reject("ATF-IHDR-007")
    at_end = len(data) - FOOTER_SIZE
    stated = at_end if is_placeholder(header) else header["footer_offset"]
    for at in (stated, at_end, *magics(data, header)):
        if not is_within(data, header, at) or not any(data[at:at + FOOTER_SIZE]):
            continue
        footer = INDEX_FOOTER.read(data, at)
        size = at - start
        is_whole = not any(footer["reserved"])
        is_stated = at == stated and is_end_known(header)
        if footer["magic"] == FOOTER_MAGIC:
            length, count = footer["bytes_written"], EVENT_SIZE * footer["event_count"]
            is_placed = at in (stated, at_end) or size in (length, count)
            if is_stated or (is_whole and is_placed):
                raise Reject("ATF-IFTR-002" if length == size else "ATF-IFTR-003")
        elif is_stated or (is_whole and says_its_place(footer, size)):
            raise Reject("ATF-IFTR-013")


def is_end_known(header):
    """Returns whether two fields of a rewritten header agree on the footer's offset."""
    count = header["event_count"]
    return count > 0 and header["footer_offset"] == header["events_offset"] + EVENT_SIZE * count


def surviving_events(data, header):
    """Counts the complete events of a file without a footer."""
    start = header["events_offset"]
    data_end = max(start, len(data.rstrip(b"\0")))
    # Without this, 32 to 63 bytes of a torn footer would count as an event.
    last = touched_events(data[start:data_end]) - 1
    for seq in (last - 1, last):
        at = start + EVENT_SIZE * seq
        if at >= start and data_end - at < FOOTER_SIZE and begins_footer(data[at:data_end], seq):
            return seq
    whole = (len(data) - start) // EVENT_SIZE
    touched = touched_events(data[start:start + EVENT_SIZE * whole])
    if touched < whole:
        # Zeros at the end, or before a torn event, are preallocated space or blocks that never
        # reached the disk. An event of kind 0 right before them is torn.
        whole = touched - 1 if touched and not kind(data, header, touched - 1) else touched
    return min(whole, header["event_count"]) if is_end_known(header) else whole


def touched_events(section):
    """Counts the events up to the last byte that is not 0."""
    return -(-len(section.rstrip(b"\0")) // EVENT_SIZE)


def kind(data, header, seq):
    event = INDEX_EVENT[header["version"]].read(data, header["events_offset"] + EVENT_SIZE * seq)
    return event["event_kind"]


def begins_footer(cut, seq):
    """Returns whether the bytes are the beginning of a footer for `seq` events."""
    count, length = seq.to_bytes(8, "little"), (EVENT_SIZE * seq).to_bytes(8, "little")
    has_magic = cut[:4] == FOOTER_MAGIC
    return has_magic and count.startswith(cut[8:16]) and length.startswith(cut[32:40])


def has_zeros(data, start, count):
    """Returns whether any event is all zeros: a hole, unless a good checksum proves otherwise."""
    zeros = bytes(EVENT_SIZE)
    ends = range(start, start + EVENT_SIZE * count, EVENT_SIZE)
    return any(data[at:at + EVENT_SIZE] == zeros for at in ends)


def check_checksum(footer, section):
    """Verifies the checksum. 0 means that no checksum was computed."""
    if footer["checksum"] and footer["checksum"] != crc32c(section):
        raise Reject("ATF-IFTR-004")


def checksum_state(footer):
    if footer is None:
        return "not_checked"
    return "good" if footer["checksum"] else "absent"


def events(data, header, count):
    record = INDEX_EVENT[header["version"]]
    none = NO_DETAIL[header["version"]]
    found = []
    for seq in range(count):
        event = record.read(data, header["events_offset"] + EVENT_SIZE * seq)
        if event["detail_seq"] == none:
            event["detail_seq"] = None
        found.append(record.document(event))
    return found

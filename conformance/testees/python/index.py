"""Reads index.atf."""

from layout import (
    EVENT_SIZE, FOOTER_SIZE, HEADER_SIZE, INDEX_EVENT, INDEX_FOOTER, INDEX_HEADER, NO_DETAIL, Reject,
    crc32c)

MAGIC = b"ATI2"
FOOTER_MAGIC = b"2ITA"
EVENT_KINDS = (1, 2, 3)


def read(data):
    """Returns the document of a file and the rules that it breaks. Raises Reject."""
    header = read_header(data)
    start = header["events_offset"]
    at = find_footer(data, header)
    if at is None:
        if start != HEADER_SIZE:
            raise Reject("ATF-IHDR-007")
        count = torn_footer(data, header)
        if count is None:
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
    """Looks for the footer at a rewritten header's offset for it, at the end, and after each event.

    Under a placeholder, the first of two footers counts."""
    likely = () if is_placeholder(header) else (header["footer_offset"], len(data) - FOOTER_SIZE)
    for at in likely:
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
    """Rejects a damaged footer: it can be neither trusted nor read as events."""
    at_end = len(data) - FOOTER_SIZE
    stated = at_end if is_placeholder(header) else header["footer_offset"]
    for at in (stated, at_end):
        if is_within(data, header, at):
            refuse_if_footer(data, header, at, is_expected=True)
    end = data_end(data)
    for at in range(header["events_offset"], at_end + 1, EVENT_SIZE):
        # Nothing but zeros follows.
        is_last = data[at:at + 4] == FOOTER_MAGIC and at + EVENT_SIZE < end <= at + FOOTER_SIZE
        refuse_if_footer(data, header, at, is_expected=is_last)


def refuse_if_footer(data, header, at, is_expected):
    """Rejects bytes of which two are right: magic, reserved bytes, or numbers if there are events.

    Where no footer is expected, two of magic and numbers must be right, and the reserved bytes or the
    start time. Where the header proves a footer, anything but zeros is one."""
    if is_counted(data, header, at):
        return
    footer, size = INDEX_FOOTER.read(data, at), at - header["events_offset"]
    is_after_events = size and size % EVENT_SIZE == 0
    time = weight_of_start_time(data, header, data[at:at + FOOTER_SIZE]) if is_after_events else 0
    is_whole = not any(footer["reserved"])
    has_magic = footer["magic"] == FOOTER_MAGIC
    has_length = footer["bytes_written"] == size
    has_count = EVENT_SIZE * footer["event_count"] == size
    if at == header["footer_offset"] and is_end_proven(data, header):
        is_footer = any(data[at:at + FOOTER_SIZE])
    elif not is_expected:
        is_sure = has_magic + has_length + has_count == 2 and (size or has_magic)
        is_footer = is_sure and (is_whole or time)
    else:
        is_footer = has_magic + is_whole + (has_length + has_count + time if size else 0) >= 2
    if is_footer and not has_magic:
        raise Reject("ATF-IFTR-013")
    if is_footer:
        raise Reject("ATF-IFTR-002" if has_length else "ATF-IFTR-003")


def is_end_known(header):
    """Returns whether two fields of a rewritten header agree on the footer's offset."""
    count = header["event_count"]
    return count > 0 and header["footer_offset"] == header["events_offset"] + EVENT_SIZE * count


def is_end_proven(data, header):
    """Returns whether the end of the events is known and in the file, and data follows it."""
    return is_end_known(header) and data_end(data) > header["footer_offset"]


def is_counted(data, header, at):
    """Returns whether there is one of the events that the header counts, even if it looks like a footer.

    It has the kind of an event."""
    is_before = is_end_known(header) and at < header["footer_offset"] and at + EVENT_SIZE <= len(data)
    return is_before and is_event(data[at:at + EVENT_SIZE], header)


def is_event(cut, header):
    """Returns whether the bytes have a valid event kind."""
    record = INDEX_EVENT[header["version"]]
    return record.read(cut.ljust(EVENT_SIZE, b"\0"), 0)["event_kind"] in EVENT_KINDS


def data_end(data):
    """Returns the end of the data. Zeros at the end of the file do not count as written."""
    return max(HEADER_SIZE, len(data.rstrip(b"\0")))


def torn_footer(data, header):
    """Returns how many events precede a torn footer: the file or its data ends within it.

    Without this, 32 bytes of a footer could count as an event."""
    start, end = HEADER_SIZE, data_end(data)
    if is_end_proven(data, header):
        return None
    last = touched_events(data[start:end]) - 1
    for seq in range(max(0, last - 1), last + 1):
        at = start + EVENT_SIZE * seq
        if is_counted(data, header, at):
            continue
        cut = data[at:min(end, at + FOOTER_SIZE)]
        is_cut = len(data) - at < FOOTER_SIZE or len(cut) <= 32
        if ends_footer(cut, seq) or (is_cut and begins_footer(data, header, cut, seq)):
            return seq
    return None


def surviving_events(data, header):
    """Counts the complete events of a file without a footer."""
    if is_end_proven(data, header):
        return header["event_count"]
    start = header["events_offset"]
    whole = (len(data) - start) // EVENT_SIZE
    whole_end = start + EVENT_SIZE * whole
    touched = touched_events(data[start:whole_end])
    # Zeros at the end, or before a torn event, are preallocated space or blocks that never reached
    # the disk. An event of kind 0 right before them is torn.
    is_before_zeros = touched < whole or data_end(data) <= whole_end < len(data)
    is_torn = touched and is_before_zeros and not kind(data, header, touched - 1)
    return touched - 1 if is_torn else touched


def touched_events(section):
    """Counts the events up to the last byte that is not 0."""
    return -(-len(section.rstrip(b"\0")) // EVENT_SIZE)


def kind(data, header, seq):
    event = INDEX_EVENT[header["version"]].read(data, header["events_offset"] + EVENT_SIZE * seq)
    return event["event_kind"]


def begins_footer(data, header, cut, seq):
    """Returns whether the bytes are the beginning of a footer for `seq` events.

    Two of its magic, count and start time are right, or its magic as far as it was written, or its
    start time where no event can be."""
    has_magic = FOOTER_MAGIC.startswith(cut[:4])
    has_count = seq.to_bytes(8, "little").startswith(cut[8:16])
    if seq == 0 or len(cut) <= 8 or (has_magic and has_count):
        return has_magic and has_count
    return (has_magic or has_count) + weight_of_start_time(data, header, cut) >= 2


def weight_of_start_time(data, header, cut):
    """Returns how much the start time proves: 2 if, as an event, the bytes would have no known kind.

    A time of 0 proves nothing: it may not have been written."""
    time, cut = data[HEADER_SIZE:HEADER_SIZE + 8], cut.ljust(FOOTER_SIZE, b"\0")
    if not any(time) or cut[16:24] != time:
        return 0
    return 1 if is_event(cut, header) else 2


def ends_footer(cut, seq):
    """Returns whether a footer's first half never reached the disk but its length is correct."""
    rest = (EVENT_SIZE * seq).to_bytes(8, "little") + bytes(24)
    return len(cut) > 32 and cut.ljust(FOOTER_SIZE, b"\0") == bytes(32) + rest


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
        at = header["events_offset"] + EVENT_SIZE * seq
        event = record.read(data, at)
        if event["detail_seq"] == none:
            event["detail_seq"] = None
        event = Event(record.document(event))
        event.is_zero = not any(data[at:at + EVENT_SIZE])
        found.append(event)
    return found


class Event(dict):
    """An event's document, and whether its bytes are zeros: a hole, unless a checksum covers them."""

    is_zero = False

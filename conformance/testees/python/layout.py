"""The records of ATF v2, field by field, written by hand from docs/reference."""

import struct

U64 = "Q"
# In wire version 2, links have 64 bits, so they are strings in both versions.
LINKS = ("detail_seq", "index_seq")


class Record:
    """Consecutive fields, packed in little-endian order without padding ("<")."""

    def __init__(self, *fields):
        self.fields = [field.split() for field in fields]
        self.names = [name for name, _ in self.fields]
        self.struct = struct.Struct("<" + "".join(code for _, code in self.fields))
        self.size = self.struct.size

    def read(self, data, at):
        """Returns the fields by name. The caller must check that no bytes are missing."""
        values = self.struct.unpack_from(data, at)
        return dict(zip(self.names, values))

    def write(self, **values):
        """Returns the bytes, with 0 for missing fields."""
        empty = {code: bytes(int(code[:-1])) if code.endswith("s") else 0 for _, code in self.fields}
        return self.struct.pack(*(values.get(name, empty[code]) for name, code in self.fields))

    def document(self, values):
        """Returns the fields for JSON: 64-bit values as strings, no magic or reserved fields."""
        held = {}
        for name, code in self.fields:
            if name == "magic" or name.lstrip("_").startswith("reserved"):
                continue
            value = values[name]
            as_text = value is not None and (code == U64 or name in LINKS)
            held[name] = str(value) if as_text else value
        return held


_START = ("magic 4s", "endian B", "version B", "arch B", "os B", "flags I", "thread_id I")
_INDEX_END = ("events_offset Q", "footer_offset Q", "time_start_ns Q", "time_end_ns Q")
_DETAIL = Record(
    *_START, "_reserved1 I", "events_offset Q", "event_count Q", "bytes_length Q",
    "index_seq_start Q", "index_seq_end Q", "_reserved2 4s")

INDEX_HEADER = {
    1: Record(*_START, "clock_type B", "_reserved1 3s", "_reserved2 I", "event_size I",
              "event_count I", *_INDEX_END),
    2: Record(*_START, "clock_type B", "_reserved1 3s", "event_size I", "event_count Q",
              *_INDEX_END),
}
INDEX_EVENT = {
    1: Record("timestamp_ns Q", "function_id Q", "thread_id I", "event_kind I", "call_depth I",
              "detail_seq I"),
    2: Record("timestamp_ns Q", "function_id Q", "detail_seq Q", "event_kind B", "_reserved 7s"),
}
INDEX_FOOTER = Record(
    "magic 4s", "checksum I", "event_count Q", "time_start_ns Q", "time_end_ns Q",
    "bytes_written Q", "reserved 24s")
DETAIL_HEADER = {1: _DETAIL, 2: _DETAIL}
DETAIL_EVENT = {
    1: Record("total_length I", "event_type H", "flags H", "index_seq I", "thread_id I",
              "timestamp Q"),
    2: Record("total_length I", "event_type H", "flags H", "index_seq Q", "timestamp Q"),
}
# Unlike in the index footer, the length comes before the times.
DETAIL_FOOTER = Record(
    "magic 4s", "checksum I", "event_count Q", "bytes_length Q", "time_start_ns Q",
    "time_end_ns Q", "reserved 24s")
PAYLOAD = Record(
    "function_id Q", *(f"x{k} Q" for k in range(8)), "lr Q", "fp Q", "sp Q", "stack_size H",
    "_reserved H")

NO_DETAIL = {1: 2**32 - 1, 2: 2**64 - 1}
HEADER_SIZE = 64
EVENT_SIZE = 32
FOOTER_SIZE = 64
HAS_DETAIL_FILE = 1


def _crc_table(polynomial):
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (polynomial if value & 1 else 0)
        table.append(value)
    return table


_CASTAGNOLI = _crc_table(0x82F63B78)


def crc32c(data):
    """Returns the CRC-32C, which is 0xE3069283 for b"123456789"."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _CASTAGNOLI[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


class Reject(Exception):
    """Rejects a file because it breaks a rule."""

    def __init__(self, rule):
        super().__init__(rule)
        self.rule = rule

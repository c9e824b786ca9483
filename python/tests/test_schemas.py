"""The generated schemas describe the records: files are read by them alone, and the library agrees."""

import json

import adatrace
import jsonschema
import pyarrow as pa
from conftest import ROOT, SMALL

SCHEMAS = ROOT / "readers/schemas"


def field(described):
    """Returns a field of the schema, from the form of Arrow's JSON for integration tests."""
    kind = described["type"]
    match kind["name"]:
        case "int":
            of = getattr(pa, f"{'int' if kind['isSigned'] else 'uint'}{kind['bitWidth']}")()
        case "fixedsizebinary":
            of = pa.binary(kind["byteWidth"])
        case "fixedsizelist":
            of = pa.list_(field(described["children"][0]), kind["listSize"])
    pairs = {pair["key"]: pair["value"] for pair in described.get("metadata", [])}
    return pa.field(described["name"], of, described["nullable"], pairs)


def schema(record, wire):
    layout = json.loads((SCHEMAS / "arrow.json").read_bytes())["records"][record][str(wire)]
    return layout["size"], pa.schema([field(described) for described in layout["fields"]])


def rows(data, record, wire):
    """Returns the records in some bytes, as a table."""
    size, fields = schema(record, wire)
    columns = []
    for one in fields:
        offset, width = int(one.metadata[b"offset"]), one.type.bit_width // 8
        cells = [data[at + offset : at + offset + width] for at in range(0, len(data) - size + 1, size)]
        columns.append(pa.Array.from_buffers(one.type, len(cells), [None, pa.py_buffer(b"".join(cells))]))
    return pa.Table.from_arrays(columns, schema=fields)


def test_an_index_file_is_read_by_the_schema_alone():
    events = pa.table(adatrace.open(SMALL).events(threads=[0])).to_pylist()
    data = (SMALL / "thread_0/index.atf").read_bytes()
    found = rows(data[64:-64], "index_event", data[5]).to_pylist()
    assert [(row["timestamp_ns"], row["function_id"], row["call_depth"]) for row in found] == [
        (row["time_ns"], row["function_id"], row["depth"]) for row in events
    ]
    [header] = rows(data[:64], "index_header", data[5]).to_pylist()
    assert (header["magic"], header["event_count"]) == (data[:4], len(events))


def test_records_are_valid_by_their_json_schema():
    data = (SMALL / "thread_0/index.atf").read_bytes()
    definitions = json.loads((SCHEMAS / "records.schema.json").read_bytes())
    own = definitions | {"$ref": f"#/$defs/index_event_v{data[5]}"}
    for row in rows(data[64:128], "index_event", data[5]).to_pylist():
        jsonschema.validate(row, own)
        for broken in [row | {"timestamp_ns": -1}, row | {"timestamp_ns": 2**64}, {}]:
            assert list(jsonschema.Draft202012Validator(own).iter_errors(broken))

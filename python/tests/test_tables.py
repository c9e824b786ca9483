"""The tables contain what an independent reader finds."""

import json
import re
from collections import Counter

import adatrace
import pyarrow as pa
import pytest
from conftest import (
    CORPUS,
    CRASHED,
    NO_MANIFEST,
    SMALL,
    expected_calls,
    expected_events,
    expected_threads,
    number,
    rejected_threads,
)

SAMPLES = [SMALL, CRASHED, NO_MANIFEST]


def rows(table):
    """Returns the rows as tuples."""
    table = pa.table(table)
    return list(zip(*(column.to_pylist() for column in table.columns)))


def keep(path):
    return adatrace.open(path, problems="keep")


EVENT_COLUMNS = ["thread", "seq", "time_ns", "kind", "function_id", "depth", "detail_seq"]
CALL_COLUMNS = ["thread", "call", "parent", "function_id", "start_ns", "duration_ns", "self_ns", "end"]


@pytest.mark.parametrize("path", SAMPLES + CORPUS, ids=lambda path: "-".join(path.parts[-3:-1]))
def test_events_are_those_of_the_independent_reader(path):
    table = keep(path).events(columns=EVENT_COLUMNS)
    rejected = rejected_threads(path)
    assert [row for row in rows(table) if row[0] not in rejected] == expected_events(path)
    # A reader may return events from a file that a validator must reject, but must not present the
    # file as complete.
    assert rejected <= {problem.thread for problem in table.problems()}


def test_the_corpus_has_both_wire_versions():
    versions = {row for path in CORPUS for row in rows(keep(path).threads(columns=["wire_version"]))}
    assert {(1,), (2,)} <= versions


@pytest.mark.parametrize("path", SAMPLES + CORPUS, ids=lambda path: "-".join(path.parts[-3:-1]))
def test_calls_are_those_of_a_naive_pairing(path):
    rejected = rejected_threads(path)
    calls = rows(keep(path).calls(columns=CALL_COLUMNS))
    assert [row for row in calls if row[0] not in rejected] == expected_calls(path)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.parts[-3])
def test_details_are_those_of_the_independent_reader(path):
    columns = ["thread", "detail_seq", "seq", "time_ns", "payload_size", "function_id", "x7", "sp", "stack"]
    expected = []
    for thread, entry in sorted(expected_threads(path).items()):
        details = entry["detail"]["events"] if entry["detail"] else []
        for seq, event in enumerate(details):
            function = event["function"]
            expected.append((
                thread, seq, number(event["index_seq"]), number(event["timestamp"]), len(event["payload"]) // 2,
                number(function["function_id"]), number(function["x_regs"][7]), number(function["sp"]),
                bytes.fromhex(function["stack"]),
            ))
    assert expected
    assert rows(keep(path).details(columns=columns)) == expected


def test_names_and_modules_are_those_of_the_manifest():
    manifest = json.loads((SMALL / "manifest.json").read_text())
    session = adatrace.open(SMALL)
    symbols = [(number(int(str(symbol["function_id"]), 0)), symbol["name"]) for symbol in manifest["symbols"]]
    assert rows(session.functions(columns=["function_id", "function"])) == symbols
    names = dict(symbols)
    for function_id, name in rows(session.events(columns=["function_id", "function"])):
        assert name == names.get(function_id)
    paths = [(module["module_id"], module["path"]) for module in manifest["modules"]]
    assert rows(session.modules(columns=["module_id", "path"])) == paths


def test_threads_count_what_expected_json_counts():
    expected = json.loads((SMALL.parents[2] / "EXPECTED.json").read_text())
    for key, session in expected.items():
        found = rows(keep(SMALL.parents[2] / key).threads(
            columns=["thread", "events", "details", "start_ns", "end_ns", "state"]))
        assert found == [
            (int(name.removeprefix("thread_")), thread["events"], thread.get("details", 0), thread["ts_min"],
             thread["ts_max"], "finalized" if thread["finalized"] else "unfinalized")
            for name, thread in sorted(session["threads"].items())
        ]


def test_options_select_rows_and_columns():
    session = adatrace.open(SMALL)
    all_rows = [row for row in expected_events(SMALL) if row[0] in (0, 2)]
    times = sorted(row[2] for row in all_rows)
    first, last = times[100], times[500]
    table = session.events(columns=EVENT_COLUMNS, threads=[2, 0], from_ns=first, to_ns=last, batch_rows=7)
    assert rows(table) == [row for row in all_rows if first <= row[2] <= last]
    batches = list(pa.RecordBatchReader.from_stream(table))
    assert max(batch.num_rows for batch in batches) == 7
    assert table.unverified() == [], "no checksum, so nothing to compare"
    calls = session.calls(columns=CALL_COLUMNS, from_ns=first, to_ns=last)
    assert rows(calls) == [
        row for row in expected_calls(SMALL) if row[4] <= last and (row[5] is None or row[4] + row[5] >= first)
    ]
    assert rows(session.events(columns=["seq", "thread"], seqs=(3, 5), threads=[1])) == [(3, 1), (4, 1)]
    of_one = [row for row in expected_events(SMALL) if row[0] == 1 and row[1] < 600 and row[2] >= last]
    assert rows(session.events(columns=EVENT_COLUMNS, threads=[1], seqs=(0, 600), from_ns=last)) == of_one


def test_plain_text_equals_dictionaries():
    session = adatrace.open(SMALL)
    for name in ["events", "calls", "threads"]:
        plain = pa.table(session.table(name, dictionaries=False))
        assert not any(pa.types.is_dictionary(field.type) for field in plain.schema)
        assert plain.to_pylist() == pa.table(session.table(name)).to_pylist()


def test_a_table_is_read_anew_each_time_and_groups_by_name():
    table = adatrace.open(SMALL).events(batch_rows=100)
    first = pa.table(table)
    assert first.equals(pa.table(table))
    # pyarrow cannot group by dictionaries that differ between batches.
    groups = first.group_by("function").aggregate([("seq", "count")])
    assert sum(groups["seq_count"].to_pylist()) == 2000
    assert pa.schema(table) == first.schema


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.parts[-3])
def test_a_histogram_counts_the_durations_of_the_calls(path):
    durations = {}
    for call in expected_calls(path):
        if call[5] is not None:
            durations.setdefault(call[3], []).append(call[5])
    columns = ["function_id", "from_ns", "to_ns", "calls"]
    session = keep(path)
    found = rows(session.histogram(columns=columns, batch_rows=3))
    for function, from_ns, to_ns, calls in found:
        assert calls == sum(from_ns <= ns <= to_ns for ns in durations[function]) > 0
        assert to_ns - from_ns <= from_ns / 32
    assert sum(row[3] for row in found) == sum(map(len, durations.values()))
    # Functions are in the same order as in the report, and durations ascend.
    order = [function for (function,) in rows(session.report(columns=["function_id"]))]
    assert found == sorted(found, key=lambda row: (order.index(row[0]), row[1]))
    batches = pa.RecordBatchReader.from_stream(session.histogram(batch_rows=3))
    assert max(batch.num_rows for batch in batches) == 3
    one = order[0]
    of_one = [row for row in found if row[0] == one]
    assert rows(session.histogram(one, columns=columns)) == of_one != found
    assert rows(session.histogram(hex(one % 2**64), columns=columns)) == of_one
    assert rows(session.histogram(threads=[])) == []


def test_a_histogram_selects_functions_as_the_command_does():
    session = adatrace.open(SMALL)

    def names(function, **options):
        found = pa.table(session.histogram(function, **options))
        return set(found["function"].to_pylist())

    assert names("=_$s4Demo1parse9") == {"_$s4Demo1parse9"}
    assert names("*parse*") == names("parse") > names("parse1")
    early = session.events(columns=["time_ns"], batch_rows=1)
    first_ns = next(iter(pa.RecordBatchReader.from_stream(early))).column(0)[0].as_py()
    assert names("parse", to_ns=first_ns - 1) == set(), "known, but not called in this time range"
    for unknown in ["nothing", "=parse", "parse"[:-1] + "?"]:
        with pytest.raises(ValueError, match="^no function matches " + re.escape(unknown) + "$"):
            session.histogram(unknown)
    with pytest.raises(ValueError, match="function: invalid function_id `0xg`"):
        session.histogram("0xg")
    with pytest.raises(pa.ArrowInvalid, match="no function matches 0x1$"):
        pa.table(session.histogram(1))


def test_report_and_check_agree_with_other_counts():
    report = rows(adatrace.open(SMALL).report(columns=["function_id", "calls"]))
    counts = Counter(call[3] for call in expected_calls(SMALL))
    assert {row for row in report if row[1] > 0} == set(counts.items())
    found = rows(adatrace.check(CRASHED, columns=["path", "verdict", "rule"]))
    unfinalized = str(CRASHED / "thread_1" / "index.atf")
    assert (unfinalized, "recover", "ATF-IFTR-001") in found
    assert found == rows(adatrace.open(CRASHED).check(columns=["path", "verdict", "rule"]))

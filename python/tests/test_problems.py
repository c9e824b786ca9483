"""Damage and missing files are reported, and all readable rows are returned."""

import adatrace
import pyarrow as pa
import pytest
from conftest import CRASHED, SMALL, expected_events, flip


def test_a_crashed_trace_ends_with_an_error_after_all_its_rows():
    table = adatrace.open(CRASHED).events(batch_rows=500)
    rows = 0
    with pytest.raises(Exception, match="it has 1810 readable rows.*thread_1/index.atf: footer.*not finalized|footer"):
        for batch in pa.RecordBatchReader.from_stream(table):
            rows += batch.num_rows
    assert rows == 1810
    assert "NotFinalized" in [problem.kind for problem in table.problems()]


def test_kept_problems_name_file_field_and_offset():
    table = adatrace.open(CRASHED, problems="keep").events()
    assert table.problems() is None, "not read yet"
    assert pa.table(table).num_rows == len(expected_events(CRASHED))
    index = [problem for problem in table.problems() if problem.path.endswith("thread_1/index.atf")]
    # The file has 510 events of 32 bytes, after a header of 64.
    assert [(it.thread, it.field, it.offset, it.kind) for it in index][0] == (1, "footer", 64 + 510 * 32, "NotFinalized")
    listed = pa.table(adatrace.open(CRASHED).problems()).to_pylist()
    assert [row["message"] for row in listed] == [problem.message for problem in table.problems()]


def test_a_flipped_bit_is_found_by_the_checksum(flipped):
    for name in ["events", "calls", "report"]:
        with pytest.raises(Exception, match="checksum"):
            pa.table(adatrace.open(flipped).table(name))
    table = adatrace.open(flipped, problems="keep").events()
    assert pa.table(table).num_rows == 2000
    assert [problem.kind for problem in table.problems()] == ["ChecksumMismatch"]


def test_damaged_details_are_among_the_problems(copy):
    flip(copy / "thread_0" / "detail.atf", -1)
    rows = pa.table(adatrace.open(copy).problems()).to_pylist()
    assert [(row["thread"], row["kind"]) for row in rows] == [(0, "ChecksumMismatch")]
    assert rows[0]["path"].endswith("thread_0/detail.atf")
    with pytest.raises(Exception, match="detail.atf.*checksum"):
        pa.table(adatrace.open(copy).details())
    assert pa.table(adatrace.open(copy).events()).num_rows == 2000, "events do not depend on details"


def test_a_partial_read_says_that_it_verified_nothing(flipped):
    table = adatrace.open(flipped).events(threads=[0], seqs=(0, 10))
    assert pa.table(table).num_rows == 10
    assert (table.problems(), table.unverified()) == ([], [0])


def test_a_truncated_file_gives_the_rest(copy):
    path = copy / "thread_2" / "index.atf"
    path.write_bytes(path.read_bytes()[: 64 + 10 * 32 + 5])
    table = adatrace.open(copy, problems="keep").events(threads=[2])
    assert pa.table(table)["seq"].to_pylist() == list(range(10))
    assert {problem.thread for problem in table.problems()} == {2}
    with pytest.raises(Exception, match="10 readable rows"):
        pa.table(adatrace.open(copy).events(threads=[2]))


def test_an_unreadable_thread_does_not_hide_the_others(copy):
    (copy / "thread_1" / "index.atf").write_bytes(b"not a trace" * 20)
    table = adatrace.open(copy, problems="keep").events()
    assert pa.table(table).num_rows == 2000 - 700
    assert [(problem.thread, problem.kind) for problem in table.problems()] == [(1, "BadMagic")]
    threads = pa.table(adatrace.open(copy, problems="keep").threads()).to_pylist()
    assert [thread["state"] for thread in threads] == ["finalized", "unreadable", "finalized"]
    assert threads[1]["events"] is None


def test_a_missing_thread_is_named(copy):
    (copy / "thread_2" / "index.atf").unlink()
    (copy / "thread_2").rmdir()
    table = adatrace.open(copy, problems="keep").events()
    assert pa.table(table).num_rows == 1600
    assert [(problem.thread, problem.kind) for problem in table.problems()] == [(2, "MissingFolder")]


def test_errors_have_path_kind_and_class(tmp_path):
    with pytest.raises(adatrace.MissingFileError) as caught:
        adatrace.open(tmp_path / "nothing")
    assert isinstance(caught.value, FileNotFoundError)
    assert isinstance(caught.value, adatrace.AtfError)
    assert (caught.value.path, caught.value.kind) == (str(tmp_path / "nothing"), "Io")
    with pytest.raises(adatrace.NotASessionError) as caught:
        adatrace.open(tmp_path)
    assert (caught.value.path, caught.value.kind) == (str(tmp_path), "NotASession")
    with pytest.raises(adatrace.NotASessionError) as caught:
        adatrace.open(SMALL.parents[2])
    assert caught.value.kind == "SessionsBelow"
    assert SMALL in [session.path for session in adatrace.open_all(SMALL.parents[2])]
    with pytest.raises(adatrace.NotASessionError) as caught:
        adatrace.open_all(tmp_path)
    assert caught.value.kind == "NotATrace"


def test_a_folder_with_one_session_is_opened_as_that_session():
    assert adatrace.open(SMALL.parents[1]).path == SMALL


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": ["seq", "tiem"]}, "has no column \"tiem\"; it has thread, seq, time_ns"),
        ({"columns": []}, "the list is empty"),
        ({"threads": [0, 9]}, r"there is no thread 9 \(threads: 0, 1, 2\)"),
        ({"batch_rows": 0}, "batch_rows: must be greater than 0"),
        ({"problems": "hide"}, "problems: expected 'raise' or 'keep', found \"hide\""),
    ],
)
def test_a_wrong_option_is_a_value_error_before_anything_is_read(options, message):
    with pytest.raises(ValueError, match=message):
        adatrace.open(SMALL).events(**options)


def test_recovery_writes_a_whole_copy(tmp_path):
    recovered = adatrace.open(CRASHED).recover(tmp_path / "out")
    assert (recovered.events, recovered.changed) == (1810, True)
    assert "recovered, 1810 events" in recovered.text
    assert pa.table(adatrace.open(tmp_path / "out").events()).num_rows == 1810
    with pytest.raises(adatrace.OutputError) as caught:
        adatrace.open(CRASHED).recover(tmp_path / "out")
    assert caught.value.kind == "OutputExists"

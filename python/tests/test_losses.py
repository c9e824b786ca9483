"""Losses that the manifest states are in the metadata of tables and files, and in `Session.losses`."""

import json

import adatrace
import pyarrow as pa
import pyarrow.parquet
from adatrace.programs import archive
from conftest import SMALL

OF_THREAD = [
    "thread 1: the tracer lost 3 events, from 1234567890125100 to 1234567890125200 ns",
    "thread 1: the tracer lost 1 detail, from 7 to 7 ns",
]
OF_ALL = [
    "threads without files: the tracer lost 2 events, from 5 to 6 ns",
    "the tracer was killed: up to 64 events of each thread are missing",
]


def losses(schema):
    return json.loads(schema.metadata[b"atf.losses"])


def test_a_session_lists_its_losses(lossy):
    found = adatrace.open(lossy).losses
    assert [loss.message for loss in found] == OF_THREAD + OF_ALL
    assert [(loss.thread, loss.kind, loss.count) for loss in found] == [
        (1, "events", 3),
        (1, "details", 1),
        (None, "events", 2),
        (None, "unwritten", 64),
    ]
    assert (found[0].first_ns, found[0].last_ns) == (1234567890125100, 1234567890125200)
    assert (found[3].first_ns, found[3].last_ns) == (None, None)
    assert adatrace.open(SMALL).losses == []


def test_losses_are_in_the_schema_and_do_not_fail_a_read(lossy):
    session = adatrace.open(lossy)
    table = session.events()
    rows = pa.table(table)
    assert (rows.num_rows, table.problems()) == (2000, [])
    assert losses(rows.schema) == losses(pa.schema(table)) == OF_THREAD + OF_ALL
    for name in ["calls", "details", "functions", "threads", "modules", "report", "histogram", "problems"]:
        assert losses(pa.table(session.table(name)).schema) == OF_THREAD + OF_ALL
    assert losses(pa.schema(adatrace.open(SMALL).events())) == []


def test_a_selection_has_its_own_losses(lossy):
    session = adatrace.open(lossy)
    assert losses(pa.schema(session.events(threads=[0]))) == OF_ALL
    assert losses(pa.schema(session.events(threads=[1], from_ns=1234567890125200))) == [OF_THREAD[0], OF_ALL[1]]
    assert losses(pa.schema(session.events(threads=[1], to_ns=7))) == [OF_THREAD[1], *OF_ALL]


def test_parquet_files_name_the_losses_and_their_rows_are_complete(lossy, tmp_path):
    written = adatrace.open(lossy).to_parquet(tmp_path / "out", host="h")
    assert written.problems == []
    files = list((tmp_path / "out").rglob("*.parquet"))
    assert len(files) == written.files
    for file in files:
        metadata = pyarrow.parquet.read_metadata(file).metadata
        assert metadata[b"atf.rows_complete"] == b"true"
        is_of_other = any(f"thread={other}" in file.parts for other in (0, 2))
        assert json.loads(metadata[b"atf.losses"]) == (OF_ALL if is_of_other else OF_THREAD + OF_ALL), file
        assert losses(pyarrow.parquet.read_schema(file)) == json.loads(metadata[b"atf.losses"])


def test_an_archive_names_the_losses(lossy, tmp_path, capsys):
    assert archive(["pack", str(lossy), str(tmp_path / "archive")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-4:] == [f"  {message}" for message in OF_THREAD + OF_ALL]
    (file,) = (tmp_path / "archive").glob("files/*/files.parquet")
    metadata = pyarrow.parquet.read_metadata(file).metadata
    assert json.loads(metadata[b"atf.losses"]) == OF_THREAD + OF_ALL

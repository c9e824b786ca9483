"""Parquet and Arrow files contain the tables' rows and report missing data."""

import json
import os

import adatrace
import duckdb
import polars
import pyarrow as pa
import pyarrow.dataset
import pytest
from conftest import CRASHED, SMALL, expected_events, written

NAME = "session_20260105_101500.pid_4242"


def test_files_are_partitioned_and_whole(tmp_path):
    output = adatrace.open(SMALL).to_parquet(tmp_path, host="h-1")
    path = tmp_path / "events" / "host=h-1" / f"session={NAME}" / "thread=1" / "events.parquet"
    assert path.is_file()
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert (output.files, output.bytes) == (len(files), sum(file.stat().st_size for file in files))
    file, metadata = written(path)
    assert metadata[b"atf.rows_complete"] == b"true"
    assert json.loads(metadata[b"atf.problems"]) == []
    expected = [row[1:] for row in expected_events(SMALL) if row[0] == 1]
    columns = ["seq", "time_ns", "kind", "function_id", "depth", "detail_seq"]
    assert list(zip(*(file[name].to_pylist() for name in columns))) == expected
    assert all(not pa.types.is_unsigned_integer(field.type) for field in file.schema)


def test_duckdb_and_polars_find_threads_in_the_path(tmp_path):
    adatrace.open(SMALL).to_parquet(tmp_path)
    files = f"{tmp_path}/events/**/*.parquet"
    query = f"SELECT thread, count(*) FROM read_parquet('{files}', hive_partitioning = true) GROUP BY ALL ORDER BY ALL"
    counts = [(thread, len([row for row in expected_events(SMALL) if row[0] == thread])) for thread in (0, 1, 2)]
    assert duckdb.sql(query).fetchall() == counts
    frame = polars.scan_parquet(files, hive_partitioning=True).group_by("thread").len().sort("thread").collect()
    assert list(frame.iter_rows()) == counts


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_an_incomplete_trace_is_written_and_says_so(tmp_path, form):
    write = getattr(adatrace.open(CRASHED), f"to_{form}")
    with pytest.raises(adatrace.IncompleteError) as caught:
        write(tmp_path, tables=["events", "problems"])
    assert caught.value.kind == "NotFinalized"
    assert caught.value.problems[0].path.endswith("thread_1/index.atf")
    (file,) = tmp_path.glob(f"events/*/thread=1/events.{form}")
    table, metadata = written(file)
    assert table.num_rows == 510
    assert metadata[b"atf.rows_complete"] == b"false"
    assert any("footer" in text for text in json.loads(metadata[b"atf.problems"]))
    (file,) = tmp_path.glob(f"events/*/thread=0/events.{form}")
    assert written(file)[1][b"atf.rows_complete"] == b"true"
    (file,) = tmp_path.glob(f"problems/*/problems.{form}")
    kept = write(tmp_path, session="again", tables=["events"], problems="keep")
    assert [problem.message for problem in kept.problems] == [problem.message for problem in caught.value.problems]


@pytest.mark.parametrize("name", ["events", "calls", "details", "functions", "report", "histogram"])
def test_arrow_files_have_the_rows_of_the_tables(tmp_path, name):
    session = adatrace.open(SMALL)
    output = session.to_arrow(tmp_path, tables=[name])
    (folder,) = output.folders
    rows = 0
    for path in folder.rglob(f"{name}.arrow"):
        table, metadata = written(path)
        threads = None
        if path.parent != folder:
            threads = [int(path.parent.name.removeprefix("thread="))]
        assert table.equals(pa.table(session.table(name, columns=table.column_names, threads=threads)))
        assert metadata[b"atf.rows_complete"] == b"true"
        rows += table.num_rows
    assert rows == output.rows > 0
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]


def test_duckdb_polars_and_pyarrow_read_arrow_files(tmp_path):
    session = adatrace.open(SMALL)
    session.to_arrow(tmp_path, tables=["events"])
    expected = len(expected_events(SMALL))
    data = pyarrow.dataset.dataset(tmp_path / "events", format="ipc", partitioning="hive")
    assert data.count_rows() == expected
    assert duckdb.sql("SELECT count(DISTINCT thread) FROM data").fetchall() == [(3,)]
    frame = polars.scan_ipc(f"{tmp_path}/events/**/*.arrow", hive_partitioning=True)
    assert frame.select(polars.len()).collect().item() == expected


def test_an_existing_session_is_not_overwritten(tmp_path):
    adatrace.open(SMALL).to_parquet(tmp_path, tables=["calls"])
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(adatrace.OutputError, match="already exists"):
        adatrace.open(SMALL).to_parquet(tmp_path, tables=["events", "calls"])
    assert sorted(tmp_path.rglob("*")) == before


def test_a_failure_leaves_nothing(tmp_path):
    (tmp_path / "calls").write_text("a file instead of a folder")
    with pytest.raises(adatrace.OutputError):
        adatrace.open(SMALL).to_parquet(tmp_path, tables=["events", "calls"])
    assert [path for path in tmp_path.rglob("*") if path.suffix == ".parquet"] == []
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]


@pytest.mark.parametrize("form", ["to_parquet", "to_arrow"])
def test_a_file_that_fails_in_the_middle_leaves_nothing(tmp_path, form):
    resource = pytest.importorskip("resource")
    write = getattr(adatrace.open(SMALL), form)
    write(tmp_path / "whole", tables=["calls", "events"])
    largest = max(path.stat().st_size for path in (tmp_path / "whole").rglob("*") if path.is_file())
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    # Python ignores the signal that is sent when a file exceeds the limit.
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest // 2, limits[1]))
    try:
        with pytest.raises(adatrace.OutputError):
            write(tmp_path / "part", tables=["calls", "events"])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list((tmp_path / "part").rglob("*")) == []


def test_a_name_that_leads_elsewhere_is_refused(tmp_path):
    with pytest.raises(ValueError, match="cannot name a partition"):
        adatrace.open(SMALL).to_parquet(tmp_path, host="../elsewhere")

"""Every consumer of Arrow's C interface gets the same rows."""

import adatrace
import duckdb
import pandas
import polars
import pyarrow as pa
import pytest
from conftest import CRASHED, SMALL, expected_calls, expected_events


def expected_counts():
    """Returns events by kind."""
    kinds = [event[3] for event in expected_events(SMALL)]
    return {kind: kinds.count(kind) for kind in set(kinds)}


def test_pyarrow_counts_by_kind():
    groups = pa.table(adatrace.open(SMALL).events()).group_by("kind").aggregate([("seq", "count")])
    assert dict(zip(groups["kind"].to_pylist(), groups["seq_count"].to_pylist())) == expected_counts()


def test_polars_counts_by_kind():
    frame = polars.DataFrame(adatrace.open(SMALL).events())
    groups = frame.group_by(polars.col("kind").cast(polars.String)).len()
    assert dict(groups.iter_rows()) == expected_counts()


def test_duckdb_counts_by_kind_from_the_stream():
    events = adatrace.open(SMALL).events()
    query = "SELECT kind, count(*) FROM events GROUP BY kind"
    assert dict(duckdb.sql(query).fetchall()) == expected_counts()
    assert dict(duckdb.sql(query).fetchall()) == expected_counts(), "a second reading"


def test_pandas_sums_durations():
    frame = pa.table(adatrace.open(SMALL).calls()).to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    durations = [call[5] for call in expected_calls(SMALL) if call[5] is not None]
    assert int(frame["duration_ns"].sum()) == sum(durations)


@pytest.mark.parametrize(
    "read", [pa.table, polars.DataFrame, lambda events: duckdb.sql("SELECT seq FROM events").fetchall()]
)
def test_no_consumer_hides_that_a_trace_is_incomplete(read):
    with pytest.raises(Exception, match="incomplete or damaged; it has 1810 readable rows"):
        read(adatrace.open(CRASHED).events())

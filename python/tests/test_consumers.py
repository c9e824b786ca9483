"""Every consumer of Arrow's C interface gets the same rows."""

from collections import Counter

import adatrace
import duckdb
import pandas
import polars
import pyarrow as pa
import pytest
from conftest import CRASHED, SMALL, expected_calls, expected_events


def test_pyarrow_polars_and_duckdb_count_by_kind():
    expected = Counter(event[3] for event in expected_events(SMALL))
    events = adatrace.open(SMALL).events()
    groups = pa.table(events).group_by("kind").aggregate([("seq", "count")])
    assert dict(zip(groups["kind"].to_pylist(), groups["seq_count"].to_pylist())) == expected
    groups = polars.DataFrame(events).group_by(polars.col("kind").cast(polars.String)).len()
    assert dict(groups.iter_rows()) == expected
    for _ in range(2):
        assert dict(duckdb.sql("SELECT kind, count(*) FROM events GROUP BY kind").fetchall()) == expected


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

"""The data source for Spark, called in the same way as by a worker. `docs/spark.md` runs it on a cluster."""

import adatrace
import pytest
from test_media import add_anchors
from test_tables import rows

pytest.importorskip("pyspark")

from adatrace.spark import AtfDataSource, PushingReader, Reader  # noqa: E402
from pyspark.sql.datasource import GreaterThanOrEqual, LessThan  # noqa: E402


def read(path, *filters, **options):
    """Returns the rows of all partitions, without host and session."""
    source = AtfDataSource({"path": str(path), **options})
    reader = (PushingReader if filters else Reader)(source.options, source.schema())
    if filters:
        assert list(reader.pushFilters(filters)) == list(filters)
    found = []
    for partition in reader.partitions():
        for batch in reader.read(partition):
            found += zip(*(column.to_pylist() for column in batch.columns[2:]))
    return found


@pytest.mark.parametrize("name", ["events", "calls", "details", "threads", "report", "histogram"])
def test_times_are_those_of_the_selected_clock(copy, name):
    session = adatrace.open(add_anchors(copy))
    on_trace, in_media = (rows(session.table(name, clock=clock)) for clock in ["trace", "media"])
    assert on_trace != in_media
    assert read(copy, table=name) == on_trace
    assert read(copy, table=name, clock="media") == in_media


def test_parts_and_pushed_filters_are_on_the_selected_clock(copy):
    session = adatrace.open(add_anchors(copy))
    expected = rows(session.events(clock="media"))
    assert read(copy, clock="media", events_per_partition="300") == expected
    times = sorted(row[2] for row in expected)
    start, end = times[500], times[900]
    filters = [GreaterThanOrEqual(("time_ns",), start), LessThan(("time_ns",), end)]
    found = read(copy, *filters, clock="media")
    assert found == [row for row in expected if start <= row[2] < end] != []


def test_a_clock_that_a_session_lacks_is_an_error_before_any_job(copy):
    for clock, message in [
        ("media", 'clock="media": the manifest has no timing anchors'),
        ("sun", "clock: expected 'trace' or 'media', found \"sun\""),
    ]:
        with pytest.raises(ValueError, match=message):
            AtfDataSource({"path": str(copy), "clock": clock}).schema()

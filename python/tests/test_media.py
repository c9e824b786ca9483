"""With `clock="media"`, times are on the clock of the recording to which the timing anchors refer."""

import json

import adatrace
import pyarrow as pa
import pytest
from conftest import SMALL, expected_calls, expected_events, written
from test_tables import CALL_COLUMNS, EVENT_COLUMNS, rows

FIRST_NS = 1234567890123000
# Trace times, and samples of a recording whose clock runs fast at first and slow later.
ANCHORS = [(FIRST_NS, 0), (FIRST_NS + 50_000, 3), (FIRST_NS + 100_000, 5)]
SAMPLES_PER_SECOND = 48_000


def media(ns):
    """Converts a trace time: between two anchors at their rate, and after the last one at the trace's rate."""
    points = [(host, samples * 10**9 // SAMPLES_PER_SECOND) for host, samples in ANCHORS]
    for (host, start), (next_host, end) in zip(points, points[1:]):
        if ns < next_host:
            return start + (ns - host) * (end - start) // (next_host - host)
    host, start = points[-1]
    return start + ns - host


def add_anchors(path, anchors=ANCHORS, scale=SAMPLES_PER_SECOND):
    manifest = json.loads((path / "manifest.json").read_text())
    manifest["timing_anchors"] = [
        {"host_time_ns": host, "media_time": value, "media_timescale": scale} for host, value in anchors
    ]
    (path / "manifest.json").write_text(json.dumps(manifest))
    return path


@pytest.fixture
def recorded(copy):
    return add_anchors(copy)


def test_times_and_durations_are_those_of_the_recording(recorded):
    session = adatrace.open(recorded)
    expected = expected_events(SMALL, media)
    assert rows(session.events(columns=EVENT_COLUMNS, clock="media")) == expected != expected_events(SMALL)
    assert rows(session.calls(columns=CALL_COLUMNS, clock="media")) == expected_calls(SMALL, media)
    times = [ns for (ns,) in rows(session.details(columns=["time_ns"]))]
    assert rows(session.details(columns=["time_ns"], clock="media")) == [(media(ns),) for ns in times]
    bounds = rows(session.threads(columns=["start_ns", "end_ns"]))
    in_media = session.threads(columns=["start_ns", "end_ns"], clock="media")
    assert rows(in_media) == [tuple(map(media, pair)) for pair in bounds]
    report = rows(session.report(columns=["self_ns"], clock="media"))
    known = [call[6] for call in expected_calls(SMALL, media)]
    assert None not in known, "so their sum must match the report"
    assert sum(ns for (ns,) in report) == sum(known)
    assert rows(session.events(columns=EVENT_COLUMNS, clock="trace")) == expected_events(SMALL)


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_files_name_their_clock(recorded, tmp_path, form):
    session = adatrace.open(recorded)
    write = getattr(session, f"to_{form}")
    first, last = media(FIRST_NS + 20_000), media(FIRST_NS + 70_000)
    part = {"from_ns": first, "to_ns": last}
    for clock in ["trace", "media"]:
        options = {**part, "clock": clock} if clock == "media" else {}
        write(tmp_path / clock, tables=["events", "threads"], split="sessions", session="mine", **options)
        table, metadata = written(tmp_path / clock / "events" / "session=mine" / f"events.{form}")
        assert metadata[b"atf.clock"] == table.schema.metadata[b"atf.clock"] == clock.encode()
        assert rows(table) == rows(session.events(**options)) != []


def test_an_archive_keeps_the_clock_of_the_trace(recorded, tmp_path):
    adatrace.pack(recorded, tmp_path / "archive")
    (file,) = (tmp_path / "archive").glob("events/*/thread=1/events.parquet")
    table, metadata = written(file)
    assert metadata[b"atf.clock"] == b"trace"
    assert table["time_ns"].to_pylist() == [row[2] for row in expected_events(SMALL) if row[0] == 1]


def test_losses_have_times_of_the_recording(lossy):
    session = adatrace.open(add_anchors(lossy))
    start, end = media(1234567890125100), media(1234567890125200)
    messages = [
        f"thread 1: the tracer lost 3 events, from {start} to {end} ns",
        "thread 1: the tracer lost 1 detail, from 0 to 0 ns",
        "threads without files: the tracer lost 2 events, from 0 to 0 ns",
        "the tracer was killed: up to 64 events of each thread are missing",
    ]

    def losses(**options):
        schema = pa.schema(session.events(clock="media", **options))
        return json.loads(schema.metadata[b"atf.losses"])

    assert losses() == messages
    assert losses(from_ns=end) == [messages[0], messages[3]]
    assert losses(to_ns=start - 1) == messages[1:]
    assert session.losses[0].first_ns == 1234567890125100


def test_a_session_without_a_recording_has_no_such_clock(copy):
    refused = pytest.raises(ValueError, match='pid_4242: clock="media": the manifest has no timing anchors')
    with refused:
        adatrace.open(copy).events(clock="media")
    with refused:
        adatrace.open(copy).to_parquet(copy / "out", clock="media")
    assert not (copy / "out").exists()
    with pytest.raises(ValueError, match="clock: expected 'trace' or 'media', found \"audio\""):
        adatrace.open(copy).events(clock="audio")

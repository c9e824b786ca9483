"""An archive restores a session's files byte for byte, and its tables match the session's."""

import json
import os
import pathlib
import shutil
import stat
import struct
import subprocess
import sysconfig

import adatrace
import duckdb
import pyarrow.parquet
import pytest
from conftest import CASES, CRASHED, NO_MANIFEST, SMALL, expected_events
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

SAMPLES = [SMALL, CRASHED, NO_MANIFEST]


def tree(root):
    """Returns everything below a folder: kind, permissions, and the bytes or the target."""
    found = {}
    for path in [root, *root.rglob("*")]:
        mode = stat.S_IMODE(path.lstat().st_mode)
        name = str(path.relative_to(root))
        if path.is_symlink():
            found[name] = ("link", os.readlink(path))
        elif path.is_dir():
            found[name] = ("folder", mode)
        else:
            found[name] = ("file", mode, path.read_bytes())
    return found


def there_and_back(session, folder):
    """Packs and unpacks a session, checks the result against the archive's contents, and returns it."""
    before = tree(session)
    packed = adatrace.pack(session, folder / "archive")
    unpacked = adatrace.unpack(folder / "archive", folder / "unpacked")
    assert tree(folder / "unpacked") == before == tree(session)
    files = [entry for entry in before.values() if entry[0] == "file"]
    size = sum(len(entry[2]) for entry in files)
    assert (unpacked.files, unpacked.bytes, packed.session_bytes) == (len(files), size, size)
    sources = packed.from_tables, packed.header_footer, packed.other, packed.unreproduced
    assert sum(sources) == size
    assert stored(folder / "archive") == sources
    return packed


def files_table(archive):
    (path,) = archive.rglob("files.parquet")
    return path


def stored(archive):
    """Compares the bytes by source in the table `files` with its metadata, and returns them."""
    path = files_table(archive)
    rows = duckdb.sql(f"SELECT source, sum(size) FROM '{path}' WHERE source IS NOT NULL GROUP BY ALL").fetchall()
    sums = {source: int(size) for source, size in rows}
    sums["from_tables"] = sums.pop("events", 0) + sums.pop("details", 0)
    names = ["from_tables", "header_footer", "other", "unreproduced"]
    metadata = pyarrow.parquet.read_metadata(path).metadata
    found = tuple(sums.get(name, 0) for name in names)
    assert found == tuple(int(metadata[f"atf.bytes_{name}".encode()]) for name in names)
    return found


@pytest.mark.parametrize("session", SAMPLES, ids=lambda path: path.name)
def test_captured_sessions_come_back_and_tables_reproduce_their_events(session, tmp_path):
    packed = there_and_back(session, tmp_path)
    indexes = [path.stat().st_size for path in session.glob("thread_*/index.atf")]
    # Each index has a header, complete events and, if it is finalized, a footer.
    assert packed.from_tables >= sum(size - 64 - 64 - (size % 32) for size in indexes)
    details = [path for path in session.glob("thread_*/detail.atf")]
    torn = sum(path.stat().st_size for path in details if path.read_bytes()[-64:-60] != b"2DTA")
    assert packed.unreproduced <= torn
    events = f"{tmp_path}/archive/events/**/*.parquet"
    columns = "thread, seq, time_ns, kind, function_id, depth, detail_seq"
    query = f"SELECT {columns} FROM read_parquet('{events}', hive_partitioning = true) ORDER BY thread, seq"
    assert duckdb.sql(query).fetchall() == expected_events(session)


def sessions_of(case, folder):
    """Returns copies of the sessions in a corpus case, and a session whose only thread is the case's folder.

    The copies have files in place of symlinks.
    """
    wrapped = folder / "wrapped"
    shutil.copytree(case, wrapped / "thread_7", ignore_dangling_symlinks=True)
    copies = [wrapped]
    for number, path in enumerate([case, *(path for path in case.rglob("*") if path.is_dir())]):
        if (path / "manifest.json").exists() or any(path.glob("thread_*")):
            copy = shutil.copytree(path, folder / f"session_{number}", ignore_dangling_symlinks=True)
            copies.append(pathlib.Path(copy))
    return copies


@pytest.mark.parametrize("part", range(8))
def test_every_case_of_the_corpus_comes_back(part, tmp_path):
    assert len(CASES) > 700
    packed = 0
    for number, case in enumerate(CASES[part::8]):
        folder = tmp_path / str(number)
        for session in sessions_of(case, folder):
            try:
                adatrace.open(session)
            except adatrace.NotASessionError:
                continue
            there_and_back(session, folder / f"of_{session.name}")
            packed += 1
        shutil.rmtree(folder)
    assert packed >= len(CASES[part::8])


FILES = [
    (session, str(path.relative_to(session)))
    for session in SAMPLES
    for path in sorted(session.rglob("*"))
    if path.is_file()
]
CHANGES = st.lists(
    st.tuples(st.sampled_from(["set", "insert", "cut"]), st.floats(0, 1), st.binary(min_size=1, max_size=80)),
    max_size=6,
)


def changed(data, changes):
    for how, where, content in changes:
        at = int(where * len(data))
        keep = {"set": at + len(content), "insert": at, "cut": len(data)}[how]
        data = data[:at] + (b"" if how == "cut" else content) + data[keep:]
    return data


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(FILES), CHANGES, st.dictionaries(st.text("ab.1", min_size=3, max_size=5), st.binary(), max_size=3))
def test_sessions_with_random_changes_come_back(tmp_path_factory, file, changes, others):
    folder = tmp_path_factory.mktemp("random")
    session = pathlib.Path(shutil.copytree(file[0], folder / "session"))
    path = session / file[1]
    path.write_bytes(changed(path.read_bytes(), changes))
    for name, content in others.items():
        (session / "thread_0" / f"other{name}").write_bytes(content)
    there_and_back(session, folder)
    shutil.rmtree(folder)


@settings(max_examples=60, deadline=None)
@given(
    wire=st.sampled_from([1, 2]),
    events=st.lists(st.binary(min_size=32, max_size=32) | st.tuples(st.integers(0, 2**64 - 1), st.integers(1, 3)), max_size=200),
)
def test_random_events_come_back(tmp_path_factory, wire, events):
    folder = tmp_path_factory.mktemp("random")
    header = bytearray((SMALL / "thread_0/index.atf").read_bytes()[:64])
    struct.pack_into("<B", header, 5, wire)
    thread = folder / "session" / "thread_0"
    thread.mkdir(parents=True)
    section = b"".join(event if isinstance(event, bytes) else record(wire, *event) for event in events)
    (thread / "index.atf").write_bytes(header + section)
    there_and_back(folder / "session", folder)
    shutil.rmtree(folder)


def record(wire, time, kind):
    if wire == 1:
        return struct.pack("<QQIIII", time, 7, 0, kind, 1, 2**32 - 1)
    return struct.pack("<QQQB7x", time, 7, 2**64 - 1, kind)


@pytest.mark.parametrize(("file", "offset", "size"), [("index.atf", 64 + 500 * 32 + 16, 32), ("detail.atf", 64 + 6, 256)])
def test_bytes_that_no_row_reproduces_are_counted(copy, tmp_path, file, offset, size):
    # Change the thread id in event 500, and the flags of the first detail.
    path = copy / "thread_0" / file
    data = bytearray(path.read_bytes())
    data[offset] ^= 0xFF
    path.write_bytes(data)
    packed = there_and_back(copy, tmp_path)
    assert 0 < packed.unreproduced <= 64 * size
    assert packed.header_footer == 64 * 2 * 5
    assert packed.other == (copy / "manifest.json").stat().st_size


def test_everything_in_the_folder_of_a_single_process_comes_back(copy, tmp_path):
    (copy.parent / "notes.txt").write_text("next to pid_4242")
    (tmp_path / "link").symlink_to(copy.parent)
    packed = adatrace.pack(tmp_path / "link", tmp_path / "archive")
    adatrace.unpack(tmp_path / "archive", tmp_path / "unpacked")
    assert tree(tmp_path / "unpacked") == tree(copy.parent)
    assert packed.unreproduced == 0


def test_a_private_session_stays_private(copy, tmp_path):
    os.chmod(copy / "thread_0" / "detail.atf", 0o600)
    os.chmod(copy / "thread_1" / "index.atf", 0o640)
    os.chmod(copy / "thread_1", 0o500)
    os.chmod(copy, 0o750)
    try:
        there_and_back(copy, tmp_path)
        archived = [entry for name, entry in tree(tmp_path / "archive").items() if "session=" in name]
        assert archived
        assert all(entry[1] & 0o077 == 0 for entry in archived)
    finally:
        os.chmod(copy / "thread_1", 0o700)
        os.chmod(tmp_path / "unpacked" / "thread_1", 0o700)


def test_symlinks_come_back_as_symlinks(copy, tmp_path):
    (copy / "thread_1" / "index.atf").rename(copy / "elsewhere")
    (copy / "thread_1" / "index.atf").symlink_to("../elsewhere")
    (copy / "thread_9").symlink_to("/nowhere")
    there_and_back(copy, tmp_path)


def test_a_pipe_is_refused(copy, tmp_path):
    os.mkfifo(copy / "pipe")
    with pytest.raises(adatrace.ArchiveError, match="pipe: neither a file nor a folder"):
        adatrace.pack(copy, tmp_path / "archive")
    assert list((tmp_path / "archive").iterdir()) == []


def test_an_archive_has_many_sessions(tmp_path):
    archive = tmp_path / "archive"
    for host, session in [("h-1", SMALL), ("h-2", SMALL), ("h-2", CRASHED)]:
        adatrace.pack(session, archive, host=host)
    name = "session_20260105_101500.pid_4242"
    with pytest.raises(ValueError, match="has 3 sessions.*host=h-1/session="):
        adatrace.unpack(archive, tmp_path / "a")
    with pytest.raises(adatrace.ArchiveError, match="does not contain the session"):
        adatrace.unpack(archive, tmp_path / "a", host="h-3")
    adatrace.unpack(archive, tmp_path / "a", host="h-1")
    adatrace.unpack(archive, tmp_path / "b", host="h-2", name=name)
    assert tree(tmp_path / "a") == tree(tmp_path / "b") == tree(SMALL)
    files = f"{archive}/events/**/*.parquet"
    query = f"SELECT host, count(*) FROM read_parquet('{files}', hive_partitioning = true) GROUP BY ALL ORDER BY ALL"
    assert duckdb.sql(query).fetchall() == [("h-1", 2000), ("h-2", 3810)]


def test_nothing_is_overwritten(tmp_path):
    adatrace.pack(SMALL, tmp_path / "archive")
    before = tree(tmp_path)
    with pytest.raises(adatrace.OutputError, match="already exists"):
        adatrace.pack(SMALL, tmp_path / "archive")
    with pytest.raises(adatrace.OutputError, match="already exists"):
        adatrace.unpack(tmp_path / "archive", tmp_path / "archive")
    assert tree(tmp_path) == before


def test_an_archive_inside_its_session_is_refused(copy):
    before = tree(copy)
    for place in [copy, copy / "new", copy / "thread_0" / "new" / "deeper"]:
        with pytest.raises(adatrace.OutputError, match="inside the session"):
            adatrace.pack(copy, place)
    assert tree(copy) == before


def test_a_damaged_archive_gives_an_error_or_the_right_bytes(tmp_path):
    adatrace.pack(CRASHED, tmp_path / "archive", tables=[])
    right, errors = tree(CRASHED), 0
    for path in sorted((tmp_path / "archive").rglob("*.parquet")):
        data = path.read_bytes()
        # Try only a few places per file, because each change requires a complete restoration.
        damaged = [data[:at] + bytes([data[at] ^ 0x41]) + data[at + 1 :] for at in range(0, len(data), max(len(data) // 20, 1))]
        for content in [*damaged, b"", data[:-1], data[: len(data) // 2]]:
            path.write_bytes(content)
            try:
                adatrace.unpack(tmp_path / "archive", tmp_path / "unpacked")
            except (adatrace.ArchiveError, adatrace.OutputError) as error:
                errors += 1
                assert error.path.startswith(str(tmp_path)), error
                assert not (tmp_path / "unpacked").exists()
            else:
                assert tree(tmp_path / "unpacked") == right
                shutil.rmtree(tmp_path / "unpacked")
            assert [entry.name for entry in tmp_path.iterdir()] == ["archive"]
        path.write_bytes(data)
    assert errors > 50


def test_a_missing_table_gives_an_error_with_its_path(tmp_path):
    adatrace.pack(SMALL, tmp_path / "archive")
    (path,) = tmp_path.glob("archive/details/*/thread=1/details.parquet")
    path.unlink()
    with pytest.raises(adatrace.ArchiveError, match="thread=1/details.parquet"):
        adatrace.unpack(tmp_path / "archive", tmp_path / "unpacked")


@pytest.mark.parametrize("name", ["../evil", "/tmp/evil", "thread_0/../../evil", "."])
def test_an_archive_cannot_write_elsewhere(tmp_path, name):
    adatrace.pack(SMALL, tmp_path / "archive")
    path = files_table(tmp_path / "archive")
    table = pyarrow.parquet.read_table(path)
    names = [name if text == "manifest.json" else text for text in table["path"].to_pylist()]
    position = table.schema.get_field_index("path")
    table = table.set_column(position, table.schema.field("path"), [names])
    metadata = pyarrow.parquet.read_metadata(path).metadata
    own = {key: value for key, value in metadata.items() if key.startswith(b"atf.")}
    pyarrow.parquet.write_table(table.replace_schema_metadata(own), path, compression="zstd")
    with pytest.raises(adatrace.ArchiveError, match="leads out of"):
        adatrace.unpack(tmp_path / "archive", tmp_path / "unpacked")
    assert [entry.name for entry in tmp_path.iterdir()] == ["archive"]


def test_the_metadata_has_the_problems_of_the_trace(tmp_path):
    packed = adatrace.pack(CRASHED, tmp_path / "archive")
    metadata = pyarrow.parquet.read_metadata(files_table(tmp_path / "archive")).metadata
    assert json.loads(metadata[b"atf.problems"]) == [problem.message for problem in packed.problems] != []
    assert metadata[b"atf.archive"] == b"1"


def command(*arguments):
    run = [pathlib.Path(sysconfig.get_path("scripts"), "atf-archive"), *map(str, arguments)]
    return subprocess.run(run, capture_output=True, text=True)


def test_the_command_packs_and_unpacks(tmp_path):
    done = command("pack", CRASHED, tmp_path / "archive", "--host", "h-1", "--tables", "calls")
    assert (done.returncode, done.stderr) == (0, "")
    assert "the trace is damaged or unfinished: " in done.stdout and "thread_1/index.atf" in done.stdout
    assert sorted(path.name for path in (tmp_path / "archive").iterdir()) == ["calls", "details", "events", "files"]
    done = command("unpack", tmp_path / "archive", tmp_path / "unpacked")
    assert (done.returncode, done.stderr) == (0, "")
    assert tree(tmp_path / "unpacked") == tree(CRASHED)
    done = command("unpack", tmp_path / "archive", tmp_path / "unpacked")
    assert (done.returncode, done.stdout) == (2, "")
    assert "already exists" in done.stderr

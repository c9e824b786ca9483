//! Tests how problems in one part of a session affect the other parts.

use std::fs;
use std::path::Path;

use atf::session::{Presence, ProcessName, SessionReader, ThreadEntry};
use atf::thread::ThreadReader;
use atf::{ErrorKind, OpenOptions};
use tempfile::TempDir;

use atf_samples::files::{DetailFile, IndexFile, RingFile};

/// Writes a thread's index, with this id in its header, into a session's folder.
pub(crate) fn add_thread(session: &Path, id: u32, file: &IndexFile) {
    let file = IndexFile {
        thread_id: id,
        ..file.clone()
    };
    let folder = session.join(format!("thread_{id}"));
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("index.atf"), file.bytes()).unwrap();
}

fn session(ids: &[u32]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for id in ids {
        add_thread(folder.path(), *id, &IndexFile::finalized(1, 5));
    }
    folder
}

fn ids(session: &SessionReader) -> Vec<u32> {
    session.threads().iter().map(ThreadEntry::id).collect()
}

#[test]
fn one_corrupt_thread_does_not_hide_the_others() {
    let folder = session(&[0, 1, 2]);
    fs::write(folder.path().join("thread_1/index.atf"), b"nonsense").unwrap();
    let session = SessionReader::open(folder.path()).unwrap();
    let error = session.threads()[1].open().unwrap_err();
    let (found, needed) = (8, 64);
    assert_eq!(error.kind(), &ErrorKind::TooShort { found, needed });
    assert!(error.path().unwrap().ends_with("thread_1/index.atf"));
    let summary = session.summary();
    assert_eq!((summary.threads, summary.unreadable), (2, 1));
    assert_eq!(summary.index_events, 10);
}

#[test]
fn an_empty_thread_does_not_change_the_time_range() {
    let folder = session(&[0]);
    add_thread(folder.path(), 1, &IndexFile::finalized(1, 0));
    let summary = SessionReader::open(folder.path()).unwrap().summary();
    assert_eq!(summary.threads, 2);
    let times = IndexFile::finalized(1, 5).footer_times;
    assert_eq!(summary.time_range, Some(times));
    let empty = TempDir::new().unwrap();
    add_thread(empty.path(), 1, &IndexFile::finalized(1, 0));
    let summary = SessionReader::open(empty.path()).unwrap().summary();
    assert_eq!(summary.time_range, None);
}

#[test]
fn the_manifest_adds_threads_without_a_folder_and_never_removes_one() {
    let folder = session(&[0, 3]);
    let manifest = r#"{"threads": [{"id": 3}, {"id": 7}, {"id": 3}, {"id": "../3"}]}"#;
    fs::write(folder.path().join("manifest.json"), manifest).unwrap();
    let session = SessionReader::open(folder.path()).unwrap();
    let entry = |it: &ThreadEntry| (it.id(), it.presence(), it.is_listed());
    let entries: Vec<_> = session.threads().iter().map(entry).collect();
    let expected = [
        (0, Presence::Folder, false),
        (3, Presence::Folder, true),
        (7, Presence::Missing, true),
    ];
    assert_eq!(entries, expected);
    let error = session.threads()[2].open().unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::MissingFolder);
    assert_eq!(session.summary().index_events, 10);
    let manifest = session.manifest().unwrap();
    assert_eq!(manifest.problem_count, 2);
    let path = manifest.problems[0].path().unwrap();
    assert!(path.ends_with("manifest.json"));
}

#[test]
fn only_some_threads_added_by_a_hostile_manifest_are_kept() {
    let folder = session(&[0, 20_000]);
    let ids = (0..30_000).map(|id| format!(r#"{{"id":{id}}}"#));
    let manifest = format!(r#"{{"threads":[{}]}}"#, ids.collect::<Vec<_>>().join(","));
    fs::write(folder.path().join("manifest.json"), manifest).unwrap();
    let session = SessionReader::open(folder.path()).unwrap();
    assert_eq!(session.threads().len(), 2 + 16_384);
    assert_eq!(session.threads().last().map(ThreadEntry::id), Some(20_000));
    assert_eq!(session.manifest().unwrap().threads.len(), 30_000);
}

#[test]
fn a_manifest_that_is_a_folder_does_not_prevent_reading_threads() {
    let folder = session(&[0]);
    fs::create_dir(folder.path().join("manifest.json")).unwrap();
    let session = SessionReader::open(folder.path()).unwrap();
    let kind = ErrorKind::NotRegular { found: "folder" };
    assert_eq!(session.manifest().unwrap().problems[0].kind(), &kind);
    assert_eq!(session.summary().index_events, 5);
}

#[test]
fn folders_with_other_names_are_not_threads() {
    let folder = session(&[0]);
    let unrecognized = [
        "thread_",
        "thread_+1",
        "thread_1 ",
        "thread_4294967296",
        "thread_x",
    ];
    for name in [&unrecognized[..], &["other", "thread_007"]].concat() {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    fs::write(folder.path().join("thread_8"), b"").unwrap();
    fs::write(folder.path().join("thread_names.json"), b"").unwrap();
    let session = SessionReader::open(folder.path()).unwrap();
    assert_eq!(ids(&session), [0, 7, 8]);
    assert_eq!(session.threads()[2].presence(), Presence::NotAFolder);
    assert!(session.threads()[2].open().is_err());
    assert_eq!(session.unrecognized(), unrecognized);
}

#[test]
fn a_folder_without_threads_or_a_manifest_is_not_a_session() {
    let folder = TempDir::new().unwrap();
    let error = SessionReader::open(folder.path()).unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::NotASession);
    let error = SessionReader::open(folder.path().join("none")).unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Io(std::io::ErrorKind::NotFound));
    // An empty folder of a process changes nothing.
    fs::create_dir(folder.path().join("pid_1")).unwrap();
    let error = SessionReader::open(folder.path()).unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::NotASession);
}

/// Creates a folder with these sessions, each with one thread.
fn processes(names: &[&str]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for name in names {
        let file = IndexFile::finalized(1, 5);
        add_thread(&folder.path().join(name), 4, &file);
    }
    folder
}

#[test]
fn a_session_with_one_process_is_opened_as_that_process() {
    let folder = processes(&["pid_4242"]);
    for name in ["pid_", "pid_x", "pid_+7"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    fs::write(folder.path().join("pid_7"), "a file").unwrap();
    let session = SessionReader::open(folder.path()).unwrap();
    assert_eq!(session.path(), folder.path().join("pid_4242"));
    assert_eq!(ids(&session), [4]);
    assert_eq!(session.summary().index_events, 5);
}

#[test]
fn several_processes_are_listed_and_not_mixed() {
    let folder = processes(&["pid_10", "pid_9"]);
    let error = SessionReader::open(folder.path()).unwrap_err();
    let folders = vec!["pid_9".to_owned(), "pid_10".to_owned()];
    assert_eq!(error.kind(), &ErrorKind::SeveralProcesses { folders });
    assert_eq!(error.path(), Some(folder.path()));
    assert!(error.to_string().ends_with("pid_9, pid_10"), "{error}");
}

#[test]
fn sessions_below_a_folder_are_listed_nearest_first() {
    let [deepest, too_deep] = [64, 65].map(|depth| vec!["d"; depth].join("/"));
    let names = [
        "crashed/session_20260105_101500/pid_10",
        "crashed/session_20260105_101500/pid_9",
        "run",
        &deepest,
        &too_deep.replace('d', "e"),
    ];
    let folder = processes(&names);
    fs::create_dir(folder.path().join("empty")).unwrap();
    let error = SessionReader::open(folder.path()).unwrap_err();
    let folders = [2, 0, 1, 3].map(|name| names[name].to_owned()).to_vec();
    assert_eq!(error.kind(), &ErrorKind::SessionsBelow { folders });
    assert_eq!(error.path(), Some(folder.path()));

    for id in 0..200 {
        fs::create_dir_all(folder.path().join(format!("crowd/{id:03}/thread_1"))).unwrap();
    }
    let error = SessionReader::open(folder.path().join("crowd")).unwrap_err();
    let ErrorKind::SessionsBelow { folders } = error.kind() else {
        panic!("{error}");
    };
    assert_eq!(folders.len(), 100);
    let few = "000, 001, 002, 003, 004, and 95 more";
    assert!(error.to_string().ends_with(few), "{error}");
}

#[test]
fn a_folder_with_one_session_is_opened_as_that_session() {
    let deep = format!("{}/session", vec!["d"; 63].join("/"));
    for name in ["run", "traces/session_20260105_101500/pid_7", &deep] {
        let folder = processes(&[name]);
        fs::create_dir(folder.path().join("empty")).unwrap();
        let opened = SessionReader::open(folder.path()).unwrap();
        assert_eq!(opened.path(), folder.path().join(name));
        // It is not certain to be the only one if there are very many folders.
        for number in 0..1000 {
            fs::create_dir(folder.path().join(format!("z_{number}"))).unwrap();
        }
        let error = SessionReader::open(folder.path()).unwrap_err();
        // Folders are searched level by level.
        let folders = vec![name.to_owned()];
        let expected = match name {
            "run" => ErrorKind::SessionsBelow { folders },
            _ => ErrorKind::NotASession,
        };
        assert_eq!(*error.kind(), expected, "{name}");
    }
}

#[test]
fn the_only_process_in_a_folder_takes_precedence_over_sessions_further_below() {
    let folder = processes(&["pid_7", "copies/pid_7", "copies/pid_8"]);
    let session = SessionReader::open(folder.path()).unwrap();
    assert_eq!(session.path(), folder.path().join("pid_7"));
}

#[test]
fn the_segments_of_a_process_are_several_sessions() {
    let folder = processes(&["pid_7", "pid_7_segment_000002"]);
    let error = SessionReader::open(folder.path()).unwrap_err();
    let folders = vec!["pid_7".to_owned(), "pid_7_segment_000002".to_owned()];
    assert_eq!(error.kind(), &ErrorKind::SessionsBelow { folders });
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_searched_may_hide_a_second_session() {
    use std::os::unix::fs::PermissionsExt;
    let folder = processes(&["run", "secret"]);
    let secret = folder.path().join("secret");
    let set = |mode| fs::set_permissions(&secret, fs::Permissions::from_mode(mode)).unwrap();
    set(0o000);
    let is_root = fs::read_dir(&secret).is_ok();
    let opened = SessionReader::open(folder.path());
    set(0o700);
    let error = opened.unwrap_err();
    if !is_root {
        let denied = ErrorKind::Io(std::io::ErrorKind::PermissionDenied);
        assert_eq!((error.kind(), error.path()), (&denied, Some(&*secret)));
    }
}

#[test]
fn threads_next_to_a_process_folder_take_precedence() {
    let folder = processes(&["pid_1"]);
    add_thread(folder.path(), 8, &IndexFile::finalized(1, 2));
    let session = SessionReader::open(folder.path()).unwrap();
    assert_eq!(ids(&session), [8]);
}

#[cfg(unix)]
#[test]
fn a_process_folder_that_is_a_symlink_is_followed_on_request() {
    let outside = session(&[3]);
    let folder = TempDir::new().unwrap();
    let link = folder.path().join("pid_1");
    std::os::unix::fs::symlink(outside.path(), &link).unwrap();
    let error = SessionReader::open(folder.path()).unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::SymbolicLink);
    assert_eq!(error.path(), Some(link.as_path()));
    let options = OpenOptions::new().follow_links(true);
    let session = SessionReader::open_with(folder.path(), options).unwrap();
    assert_eq!(ids(&session), [3]);
}

#[cfg(unix)]
#[test]
fn symlinks_are_listed_but_not_followed() {
    let outside = session(&[0]);
    let folder = session(&[1, 2]);
    fs::remove_file(folder.path().join("thread_1/index.atf")).unwrap();
    for (target, link) in [
        ("thread_0", "thread_0"),
        ("thread_0/index.atf", "thread_1/index.atf"),
        ("thread_0/index.atf", "thread_2/detail.atf"),
        ("none", "manifest.json"),
    ] {
        let target = outside.path().join(target);
        std::os::unix::fs::symlink(target, folder.path().join(link)).unwrap();
    }

    let session = SessionReader::open(folder.path()).unwrap();
    let threads = session.threads();
    assert_eq!(threads[0].presence(), Presence::SymbolicLink);
    let [first, second] = [0, 1].map(|thread| threads[thread].open().unwrap_err());
    let third = threads[2].open().unwrap();
    let manifest = session.manifest().unwrap();
    for error in [
        &first,
        &second,
        third.detail_error().unwrap(),
        &manifest.problems[0],
    ] {
        assert_eq!(error.kind(), &ErrorKind::SymbolicLink);
    }
    assert_eq!(session.summary().index_events, 5);

    let options = OpenOptions::new().follow_links(true);
    let session = SessionReader::open_with(folder.path(), options).unwrap();
    let threads = session.threads();
    assert_eq!(threads[0].open().unwrap().index().event_count(), 5);
    assert_eq!(threads[1].open().unwrap().index().event_count(), 5);
    assert_eq!(session.summary().index_events, 15);
}

pub(crate) fn thread(index: &IndexFile, detail: Option<&DetailFile>) -> (TempDir, ThreadReader) {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("index.atf"), index.bytes()).unwrap();
    if let Some(detail) = detail {
        fs::write(folder.path().join("detail.atf"), detail.bytes()).unwrap();
    }
    let thread = ThreadReader::open(folder.path()).unwrap();
    (folder, thread)
}

#[test]
fn links_lead_there_and_back() {
    for version in [1, 2] {
        let detail = DetailFile::finalized(version, 4);
        let (_folder, thread) = thread(&IndexFile::finalized(version, 10), Some(&detail));
        assert!(thread.disagreements().is_empty());
        for seq in 0..10 {
            let event = thread.index().get(seq).unwrap().unwrap();
            let detail = thread.detail_of(&event).unwrap().found();
            assert_eq!(detail.is_some(), seq % 3 == 0);
            let Some(detail) = detail else { continue };
            assert_eq!(thread.event_of(&detail).unwrap().found(), Some(event));
        }
    }
}

#[test]
fn a_ring_that_cannot_be_read_is_reported_and_hides_nothing() {
    let folder = TempDir::new().unwrap();
    let index = IndexFile::finalized(1, 10).placeholder().without_footer();
    fs::write(folder.path().join("index.atf"), index).unwrap();
    let thread = ThreadReader::open(folder.path()).unwrap();
    assert!(thread.ring_error().is_none());
    fs::create_dir(folder.path().join("ring.atf")).unwrap();
    let thread = ThreadReader::open(folder.path()).unwrap();
    assert_eq!(thread.index().event_count(), 10);
    let kind = ErrorKind::NotRegular { found: "folder" };
    assert_eq!(thread.ring_error().unwrap().kind(), &kind);
}

/// The checksum in the ring covers the hole, which is too large to be read.
#[test]
fn a_ring_continues_a_file_with_a_large_hole() {
    let folder = TempDir::new().unwrap();
    let file = IndexFile::finalized(1, 2).placeholder();
    let bytes = file.without_footer();
    let (before, last) = bytes.split_at(64 + 32);
    let (hole, start) = ((1 << 20) - 1, 64 + (32 << 20));
    let path = folder.path().join("index.atf");
    fs::write(&path, before).unwrap();
    let index = fs::File::options().write(true).open(&path).unwrap();
    index.set_len(start).unwrap();
    let mut ring = RingFile::new(1, file.thread_id);
    ring.index.start = start;
    ring.index.bytes = last.to_vec();
    ring.index.checksum = crc32c::crc32c(&[&before[64..], &vec![0; 32 * hole]].concat());
    ring.detail.start = 64;
    fs::write(folder.path().join("ring.atf"), ring.bytes()).unwrap();
    let thread = ThreadReader::open(folder.path()).unwrap();
    assert!(thread.ring_error().is_none(), "{:?}", thread.ring_error());
    assert_eq!(thread.index().event_count(), 2 + hole as u64);
    let read = thread.index().events_in(..).next_back().unwrap().unwrap();
    assert_eq!(read.timestamp_ns, file.events[1].timestamp_ns);
}

#[test]
fn a_process_folders_name_contains_its_program_and_its_segment() {
    let read = |name| ProcessName::parse(name).map(|it| (it.pid, it.program, it.segment));
    // The names are in the order in which the sessions were recorded.
    let names = [
        ("pid_7", (7, 1, 1)),
        ("pid_42", (42, 1, 1)),
        ("pid_42_segment_000009", (42, 1, 9)),
        ("pid_42_segment_000010", (42, 1, 10)),
        ("pid_42_segment_1000000", (42, 1, 1_000_000)),
        ("pid_42_2", (42, 2, 1)),
        ("pid_42_2_segment_000003", (42, 2, 3)),
        ("pid_42_10", (42, 10, 1)),
    ];
    for (name, expected) in names {
        assert_eq!(read(name), Some(expected), "{name}");
    }
    let parsed = names.map(|(name, _)| ProcessName::from_path(&Path::new("folder").join(name)));
    assert!(parsed.is_sorted(), "{parsed:?}");
    for name in [
        "pid_",
        "pid_x",
        "pid_+7",
        "pid_7_",
        "pid_7_x",
        "pid_7_segment_",
        "id_7",
    ] {
        assert_eq!(read(name), None, "{name}");
    }
}

/// Returns the problems that a merge reports after the last event, and checks that they are those
/// of each thread.
fn merged_problems(folder: &Path, options: OpenOptions) -> Vec<String> {
    let session = SessionReader::open_with(folder, options).unwrap();
    let mut own = Vec::new();
    for entry in session.threads() {
        let thread = ThreadReader::open_with(entry.path(), options).unwrap();
        thread.index().scan().unwrap();
        own.extend(thread.problems().unwrap());
    }
    let own: Vec<_> = own.iter().map(ToString::to_string).collect();
    let merged = session.merge().into_events().filter_map(Result::err);
    let merged: Vec<_> = merged.map(|error| error.to_string()).collect();
    assert_eq!(merged, own);
    merged
}

#[test]
fn a_wrong_count_in_a_detail_footer_proves_nothing_about_links() {
    for version in [1, 2] {
        for count in [5, 10, 15] {
            let folder = TempDir::new().unwrap();
            add_thread(folder.path(), 7, &IndexFile::finalized(version, 30));
            let mut details = DetailFile::finalized(version, 10);
            details.footer_count = count;
            let path = folder.path().join("thread_7/detail.atf");
            fs::write(path, details.bytes()).unwrap();
            let problems = merged_problems(folder.path(), OpenOptions::new());
            assert_eq!(problems.is_empty(), count == 10, "{problems:?}");
            let is_of_count = |problem: &String| problem.contains("footer.event_count");
            assert!(problems.iter().all(is_of_count), "{problems:?}");
        }
    }
}

#[test]
fn dangling_links_are_reported_once_however_a_thread_is_opened() {
    for version in [1, 2] {
        let folder = TempDir::new().unwrap();
        let index = IndexFile::finalized(version, 30).placeholder();
        add_thread(folder.path(), 7, &index);
        let path = folder.path().join("thread_7/index.atf");
        fs::write(path, index.without_footer()).unwrap();
        let path = folder.path().join("thread_7/detail.atf");
        fs::write(path, DetailFile::finalized(version, 5).bytes()).unwrap();
        let problems = merged_problems(folder.path(), OpenOptions::new());
        let links = problems.iter().filter(|it| it.contains("links reach"));
        assert_eq!(links.count(), 1, "{problems:?}");
        let scanned = merged_problems(folder.path(), OpenOptions::new().scan(true));
        assert_eq!(scanned, problems);
    }
}

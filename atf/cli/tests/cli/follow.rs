//! `dump --follow`: files that are still being written.

use std::io::{BufRead, BufReader, Lines};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use atf::manifest::{Loss, LossKind, Losses, Symbol};
use atf::write::{Detail, Event, SessionWriter, ThreadWriter, WriteOptions};
use atf::{DetailEventType, EventKind};

use super::{lines, number, texts};
use atf_samples::files::IndexFile;

/// A running `atf dump --follow`.
struct Following {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Following {
    fn new(path: &Path, options: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_atf"))
            .args(["dump", "--follow", "--interval", "1ms"])
            .args(options)
            .arg(path)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// Waits for the message that nothing can be followed yet.
    fn waits(&mut self) {
        let stderr = self.child.stderr.as_mut().unwrap();
        let mut said = String::new();
        // Read byte by byte, so that `end` gets the text after the line.
        let mut bytes = BufReader::with_capacity(1, stderr);
        bytes.read_line(&mut said).unwrap();
        assert!(said.starts_with("atf: waiting for "), "{said}");
    }

    fn next(&mut self) -> String {
        self.lines.next().unwrap().unwrap()
    }

    /// Waits until the output ends, and returns the exit status and messages.
    fn end(mut self) -> (i32, String) {
        assert!(self.lines.next().is_none());
        let output = self.child.wait_with_output().unwrap();
        let (status, _, messages) = texts(&output);
        (status, messages.to_owned())
    }
}

fn call(seq: u64) -> Event {
    Event::new(1000 + seq, 70, EventKind::CALL, 1)
}

#[test]
fn events_are_written_as_they_arrive_until_the_thread_is_finalized() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("session/thread_5");
    let mut following = Following::new(&folder, &["--json", "--details"]);
    following.waits();
    let mut writer = ThreadWriter::create(&folder, 5, &WriteOptions::default()).unwrap();
    for seq in 0..20 {
        let detail = Detail::new(DetailEventType::FUNCTION_CALL, &[0xab, 0xcd]);
        match seq % 2 {
            0 => writer.write(&call(seq)).map(drop).unwrap(),
            _ => writer
                .write_with_detail(&call(seq), &detail)
                .map(drop)
                .unwrap(),
        }
        writer.flush().unwrap();
        // The event arrives before anything else is written.
        let event = &lines(&following.next())[0];
        assert_eq!(number(&event["seq"]), seq);
        assert_eq!(number(&event["timestamp_ns"]), 1000 + seq);
        assert_eq!(event["thread"], 5);
        match seq % 2 {
            0 => assert!(event["detail"].is_null()),
            _ => assert_eq!(event["detail"]["payload"], "abcd"),
        }
    }
    writer.finalize().unwrap();
    assert_eq!(following.end(), (0, String::new()));
}

#[test]
fn threads_of_a_session_are_written_as_they_appear() {
    let folder = tempfile::tempdir().unwrap();
    let mut following = Following::new(folder.path(), &["--json"]);
    following.waits();
    let mut writers = Vec::new();
    for id in 0..4 {
        let path = folder.path().join(format!("thread_{id}"));
        let mut writer = ThreadWriter::create(path, id, &WriteOptions::default()).unwrap();
        writer.write(&call(id.into())).unwrap();
        writer.flush().unwrap();
        let event = &lines(&following.next())[0];
        assert_eq!((&event["thread"], number(&event["seq"])), (&id.into(), 0));
        writers.push(writer);
    }
    for writer in &mut writers {
        writer.finalize().unwrap();
    }
    assert_eq!(following.end(), (0, String::new()));
}

#[test]
fn the_wait_for_a_selected_thread_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let create = |id: u32| {
        let path = folder.path().join(format!("thread_{id}"));
        ThreadWriter::create(path, id, &WriteOptions::default()).unwrap()
    };
    let _other = create(0);
    let mut following = Following::new(folder.path(), &["--json", "--thread", "1"]);
    following.waits();
    let mut writer = create(1);
    writer.write(&call(1)).unwrap();
    writer.finalize().unwrap();
    following.next();
    assert_eq!(following.end().0, 0);
}

#[test]
fn names_appear_once_the_manifest_exists() {
    let folder = tempfile::tempdir().unwrap();
    let thread = folder.path().join("thread_0");
    let mut writer = ThreadWriter::create(&thread, 0, &WriteOptions::default()).unwrap();
    // Follow the session, its thread, and a filter by name.
    let of_session = Following::new(folder.path(), &["--json"]);
    let of_thread = Following::new(&thread, &["--json"]);
    let mut of_late = Following::new(
        folder.path(),
        &["--json", "--function", "late", "--function", "0x9"],
    );
    let mut following = [of_session, of_thread];
    let mut write = |function_id| {
        let event = call(0).function_id(function_id);
        writer.write(&event).unwrap();
        writer.flush().unwrap();
    };
    write(7);
    for following in &mut following {
        let event = &lines(&following.next())[0];
        assert!(event["function"].is_null(), "{event}");
    }
    let symbol = |id: u64, name| {
        format!(
            r#"{{"function_id": "{id:#x}", "module_id": 0, "symbol_index": 0, "name": "{name}"}}"#
        )
    };
    let manifest = format!(
        r#"{{"threads": [{{"id": 0}}], "symbols": [{}, {}]}}"#,
        symbol(70, "early"),
        symbol(8, "late")
    );
    std::fs::write(folder.path().join("manifest.json"), manifest).unwrap();
    // A follower polls the manifest before the events. So when it has written an event that was
    // added after the manifest, it has also read the manifest.
    write(9);
    for following in following.iter_mut().chain([&mut of_late]) {
        assert_eq!(number(&lines(&following.next())[0]["function_id"]), 9);
    }
    write(8);
    for following in following.iter_mut().chain([&mut of_late]) {
        let event = &lines(&following.next())[0];
        assert_eq!(event["function"], "late", "{event}");
    }
    writer.finalize().unwrap();
    assert_eq!(of_late.end().0, 0);
}

#[test]
fn a_replaced_file_is_reported_and_ends_following() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index.atf");
    let file = IndexFile::finalized(1, 3).placeholder();
    std::fs::write(&path, file.without_footer()).unwrap();
    let mut following = Following::new(&path, &[]);
    for _ in 0..3 {
        following.next();
    }
    let other = folder.path().join("other");
    std::fs::write(&other, file.without_footer()).unwrap();
    std::fs::rename(&other, &path).unwrap();
    let (status, messages) = following.end();
    assert_eq!(status, 1);
    assert!(messages.contains("replaced by another file"), "{messages}");
}

/// `atf record` replaces the session of a killed program with a recovered copy.
#[cfg(target_os = "linux")]
#[test]
fn a_recovered_copy_is_followed_from_the_next_event() {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    let write = |folder: &Path, count: u64, first_ns: u64| {
        let session = SessionWriter::create(folder, &WriteOptions::default()).unwrap();
        let mut thread = session.thread(3).unwrap();
        for seq in 0..count {
            let event = Event::new(first_ns + seq, 70, EventKind::CALL, 1);
            let detail = Detail::new(DetailEventType::FUNCTION_CALL, &[0xab]);
            thread.write_with_detail(&event, &detail).unwrap();
        }
        (session, thread)
    };
    for (path, options) in [
        ("s", &["--json"][..]),
        ("s", &["--json", "--details"]),
        ("s/thread_3", &["--json", "--details"]),
    ] {
        for is_copy in [true, false] {
            let folder = tempfile::tempdir().unwrap();
            let [old, new] = ["s", "new"].map(|name| folder.path().join(name));
            let (_session, mut thread) = write(&old, 3, 1000);
            thread.flush().unwrap();
            let mut following = Following::new(&folder.path().join(path), options);
            let seqs = |following: &mut Following, seqs: std::ops::Range<u64>| {
                for seq in seqs {
                    let event = &lines(&following.next())[0];
                    let found = (number(&event["seq"]), number(&event["timestamp_ns"]));
                    assert_eq!(found, (seq, 1000 + seq), "{path} {options:?}");
                    if options.len() > 1 {
                        assert_eq!(event["detail"]["payload"], "ab");
                    }
                }
            };
            // The last event's detail is certain only when more bytes follow it.
            seqs(&mut following, 0..2);
            let (session, mut thread) = write(&new, 5, if is_copy { 1000 } else { 9000 });
            thread.finalize().unwrap();
            session.finalize().unwrap();
            renameat_with(CWD, &new, CWD, &old, RenameFlags::EXCHANGE).unwrap();
            if is_copy {
                seqs(&mut following, 2..5);
                assert_eq!(following.end(), (0, String::new()), "{path} {options:?}");
            } else {
                let output = following.child.wait_with_output().unwrap();
                let (status, _, messages) = texts(&output);
                assert_eq!(status, 1, "{path} {options:?}");
                assert!(messages.contains("replaced by another file"), "{messages}");
            }
        }
    }
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("thread_0");
    let mut writer = ThreadWriter::create(&folder, 0, &WriteOptions::default()).unwrap();
    let mut following = Following::new(&folder, &[]);
    writer.write(&call(0)).unwrap();
    writer.flush().unwrap();
    following.next();
    let Following { child, lines } = following;
    drop(lines);
    writer.write(&call(1)).unwrap();
    writer.flush().unwrap();
    let output = child.wait_with_output().unwrap();
    let (status, _, messages) = texts(&output);
    assert_eq!((status, messages), (0, ""));
}

/// Creates a segment with thread 3, a loss and a name for function 70.
fn segment(folder: &Path, name: &str, function: &str) -> (SessionWriter, ThreadWriter) {
    let session = SessionWriter::create(folder.join(name), &WriteOptions::default()).unwrap();
    let thread = session.thread(3).unwrap();
    session.set_symbols(vec![Symbol::new(70, function)]);
    session.write_manifest().unwrap();
    (session, thread)
}

/// Adds a loss to a segment.
fn lose(session: &SessionWriter) {
    session.set_losses(
        3,
        Losses::default().with(LossKind::Events, Some(Loss::new(2, 1_000, 1_009))),
    );
}

/// Finalizes a segment after counting a loss that follows its last event.
fn end((session, mut thread): (SessionWriter, ThreadWriter)) {
    thread.finalize().unwrap();
    lose(&session);
    session.finalize().unwrap();
}

#[test]
fn a_session_is_followed_from_segment_to_segment() {
    // The folder with the segments can be followed too.
    for below in ["pid_42", ""] {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("run");
        let mut one = segment(&run, "pid_42", "one");
        let mut following = Following::new(&run.join(below), &["--json"]);
        let mut expect = |thread: &mut ThreadWriter, seq: u64, name: &str| {
            thread.write(&call(seq)).unwrap();
            thread.flush().unwrap();
            let event = &lines(&following.next())[0];
            let found = (number(&event["seq"]), number(&event["timestamp_ns"]));
            assert_eq!(found, (seq, 1000 + seq), "{event}");
            assert_eq!(event["function"], name);
        };
        expect(&mut one.1, 0, "one");
        expect(&mut one.1, 1, "one");
        // Segment 2 was deleted before it could be followed.
        let mut two = segment(&run, "pid_42_segment_000003", "two");
        segment(&run, "pid_43", "other").1.flush().unwrap();
        end(one);
        expect(&mut two.1, 2, "two");
        let mut three = segment(&run, "pid_42_segment_000004", "three");
        end(two);
        expect(&mut three.1, 3, "three");
        // The dump ends with the last thread, so it may miss losses that are counted later.
        lose(&three.0);
        three.0.write_manifest().unwrap();
        end(three);
        let (status, messages) = following.end();
        assert_eq!(status, 1, "{messages}");
        let missing = "segment 2 of the recording is missing before this one";
        assert_eq!(messages.matches(missing).count(), 1, "{messages}");
        assert!(messages.contains("lost 6 events"), "{messages}");
    }
}

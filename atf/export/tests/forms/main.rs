//! Each form of a small trace, read by an independent parser or compared with text written by hand.

mod damage;
mod flame;
mod json;
mod late;
mod perfetto;
mod text;

use atf::EventKind;
use atf::detail::FunctionPayload;
use atf::manifest::{Loss, LossKind, Losses, Symbol};
use atf::session::SessionReader;
use atf::write::{Detail, Event, SessionWriter};
use atf_analyze::Options;
use atf_export::{Form, Summary, export};
use tempfile::TempDir;

const CALL: EventKind = EventKind::CALL;
const RETURN: EventKind = EventKind::RETURN;
const EXCEPTION: EventKind = EventKind::EXCEPTION;

const MAIN: u64 = 1;
const ODD: u64 = 2;
/// A function without a name.
const NAMELESS: u64 = 0x1_0000_0003;

/// A name with characters that the forms must escape.
const ODD_NAME: &str = "[u8; 4]::<\"x\">, \\ & \u{1}\n";

const FORMS: [Form; 6] = [
    Form::Chrome,
    Form::Perfetto,
    Form::Speedscope,
    Form::Firefox,
    Form::Folded,
    Form::Csv,
];

/// A thread's events: time, function, kind.
type Events<'a> = &'a [(u64, u64, EventKind)];

/// Thread 0 has a call that ends with an exception, a call that an enclosing return ends, a return
/// without a call, and an open call; thread 7 has a name, a loss and registers.
const FIRST: Events<'_> = &[
    (1_000, MAIN, CALL),
    (1_100, ODD, CALL),
    (1_350, ODD, EXCEPTION),
    (1_400, ODD, CALL),
    (1_450, NAMELESS, CALL),
    (1_500, ODD, RETURN),
    (1_600, NAMELESS, RETURN),
    (2_000, MAIN, RETURN),
    (2_100, MAIN, CALL),
    (2_345, ODD, CALL),
    (2_345, ODD, RETURN),
    (2_400, MAIN, CALL),
    (2_450, MAIN, RETURN),
];

fn write_session(threads: &[(u32, Events<'_>)]) -> (TempDir, SessionReader) {
    write_session_with(threads, |_| ())
}

/// Writes a session with these threads and anything that `more` adds.
fn write_session_with(
    threads: &[(u32, Events<'_>)],
    more: impl FnOnce(&SessionWriter),
) -> (TempDir, SessionReader) {
    let folder = TempDir::new().unwrap();
    let writer = SessionWriter::create(folder.path().join("pid_42"), &Default::default()).unwrap();
    for (id, events) in threads {
        let mut thread = writer.thread(*id).unwrap();
        for (timestamp_ns, function_id, kind) in *events {
            thread
                .write(&Event::new(*timestamp_ns, *function_id, *kind, 1))
                .unwrap();
        }
        thread.finalize().unwrap();
    }
    more(&writer);
    writer.set_symbols(vec![Symbol::new(MAIN, "main"), Symbol::new(ODD, ODD_NAME)]);
    writer.finalize().unwrap();
    let session = reopened(&folder);
    (folder, session)
}

/// Opens the session in a folder.
fn reopened(folder: &TempDir) -> SessionReader {
    SessionReader::open(folder.path().join("pid_42")).unwrap()
}

/// Creates a session with thread 0 ([`FIRST`]) and thread 7.
fn session() -> (TempDir, SessionReader) {
    write_session_with(&[(0, FIRST)], write_worker)
}

/// Writes thread 7.
fn write_worker(writer: &SessionWriter) {
    let mut thread = writer.thread(7).unwrap();
    let payload = |x0: u64| {
        let registers = [x0, 0, 0, 0, 0, 0, 0, 9];
        let payload = FunctionPayload::default()
            .function_id(MAIN)
            .x_regs(registers);
        payload.sp(0x7ff0).stack(vec![0; 16]).encode().unwrap()
    };
    for (time, kind, x0, event_type) in [
        (1_200, CALL, 0xabc, atf::DetailEventType::FUNCTION_CALL),
        (1_700, RETURN, 0xdef, atf::DetailEventType::FUNCTION_RETURN),
    ] {
        let event = Event::new(time, MAIN, kind, 1);
        thread
            .write_with_detail(&event, &Detail::new(event_type, &payload(x0)))
            .unwrap();
    }
    thread.finalize().unwrap();
    writer.set_thread_name(7, "worker");
    writer.set_losses(
        7,
        Losses::default().with(LossKind::Events, Some(Loss::new(5, 1_800, 1_900))),
    );
}

/// Reopens the session from [`session`] after adding losses to its manifest.
fn lacking(folder: &TempDir) -> SessionReader {
    let path = folder.path().join("pid_42/manifest.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let losses = r#"{"lost_events": {"count": 3, "first_ns": 1700, "last_ns": 1950},
        "unwritten_events": 64,"#;
    std::fs::write(&path, text.replacen('{', losses, 1)).unwrap();
    reopened(folder)
}

fn exported(session: &SessionReader, options: &Options, form: Form) -> (Vec<u8>, Summary) {
    let mut out = Vec::new();
    let summary = export(&[session.into()], options, form, &mut out).unwrap();
    (out, summary)
}

fn text(session: &SessionReader, options: &Options, form: Form) -> String {
    let (out, summary) = exported(session, options, form);
    assert!(summary.is_whole(), "{:?}", summary.problems);
    String::from_utf8(out).unwrap()
}

//! Damaged traces: no export panics, and the output stays valid and reports what is missing.

use std::fs;

use atf::ErrorKind;
use atf::session::SessionReader;
use atf::trace::Process;
use atf_analyze::Options;
use atf_export::{End, Form, ProcessInfo, Sink, Start, Thread, ThreadEnd, TraceInfo, export_to};
use proptest::prelude::*;
use serde_json::Value;

use crate::{CALL, FORMS, RETURN, exported, lacking, reopened, session, write_session};

/// A sink that checks every guarantee that sinks may rely on.
#[derive(Default)]
struct Checker {
    open: Vec<(u64, u64)>,
    now_ns: u64,
    calls: u64,
}

impl<'a> Sink<'a> for Checker {
    fn start(&mut self, _: &TraceInfo) -> std::io::Result<()> {
        Ok(())
    }
    fn process(&mut self, _: &ProcessInfo) -> std::io::Result<()> {
        Ok(())
    }
    fn thread(&mut self, _: &Thread) -> std::io::Result<()> {
        self.now_ns = 0;
        Ok(())
    }
    fn call_start(&mut self, call: &Start<'a>) -> std::io::Result<()> {
        assert!(call.start_ns >= self.now_ns);
        self.now_ns = call.start_ns;
        self.open.push((call.function.id, call.start_ns));
        Ok(())
    }
    fn call_end(&mut self, call: &End<'a>) -> std::io::Result<()> {
        assert!(call.end_ns >= self.now_ns);
        self.now_ns = call.end_ns;
        assert_eq!(self.open.pop(), Some((call.function.id, call.start_ns)));
        assert!(call.self_ns <= call.end_ns - call.start_ns);
        self.calls += 1;
        Ok(())
    }
    fn unmatched(&mut self, _: atf::symbols::Function<'a>, _: u64) -> std::io::Result<()> {
        Ok(())
    }
    fn thread_end(&mut self, _: &ThreadEnd<'_>) -> std::io::Result<()> {
        assert!(self.open.is_empty());
        Ok(())
    }
    fn process_end(&mut self, _: &[String]) -> std::io::Result<()> {
        Ok(())
    }
    fn finish(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Compares the calls that a sink receives with the calls that the analysis counts.
fn check(session: &SessionReader, options: &Options) {
    let mut checker = Checker::default();
    let summary = export_to(&[session.into()], options, &mut checker).unwrap();
    // An export ends at the largest signed number.
    let until = Options {
        to_ns: options.to_ns.min((1 << 63) - 1),
        ..options.clone()
    };
    let mut counted = atf_analyze::functions(session, &until).totals();
    let without_files = Process::from(session).losses_without_files();
    counted.losses = counted.losses.plus(without_files);
    assert_eq!(checker.calls, counted.calls);
    assert_eq!(summary.totals, [counted]);
    for form in FORMS {
        let (out, _) = exported(session, options, form);
        if matches!(form, Form::Chrome | Form::Speedscope | Form::Firefox) {
            serde_json::from_slice::<Value>(&out).unwrap();
        }
    }
}

/// A change to a file: to one byte, or to the length.
#[derive(Debug, Clone)]
enum Change {
    Byte(prop::sample::Index, u8),
    Length(prop::sample::Index),
}

fn change() -> impl Strategy<Value = (usize, Change)> {
    let byte = (any::<prop::sample::Index>(), any::<u8>());
    let change = prop_oneof![
        4 => byte.prop_map(|(at, value)| Change::Byte(at, value)),
        1 => any::<prop::sample::Index>().prop_map(Change::Length),
    ];
    (0..4_usize, change)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn damage_never_makes_a_form_invalid(
        changes in prop::collection::vec(change(), 1..6),
        range in any::<(u16, u16)>(),
    ) {
        let (folder, _) = session();
        let files = ["manifest.json", "thread_0/index.atf", "thread_7/index.atf", "thread_7/detail.atf"];
        for (file, change) in changes {
            let path = folder.path().join("pid_42").join(files[file]);
            let mut bytes = fs::read(&path).unwrap();
            match change {
                Change::Byte(at, value) if !bytes.is_empty() => {
                    let at = at.index(bytes.len());
                    bytes[at] = value;
                }
                Change::Byte(..) => {}
                Change::Length(at) => bytes.truncate(at.index(bytes.len() + 1)),
            }
            fs::write(&path, bytes).unwrap();
        }
        let session = reopened(&folder);
        check(&session, &Options::default());
        let (from, to) = (range.0.min(range.1), range.0.max(range.1));
        check(&session, &Options { from_ns: from.into(), to_ns: to.into(), ..Options::default() });
    }

    #[test]
    fn any_events_nest(events in prop::collection::vec((0..50_u64, 0..4_u64, any::<bool>()), 0..60), range in (0..50_u64, 0..50_u64)) {
        let events = events.into_iter().map(|(time, function, is_call)| {
            (time, function, if is_call { CALL } else { RETURN })
        });
        let mut events: Vec<_> = events.collect();
        events.sort_by_key(|event| event.0);
        let (_folder, session) = write_session(&[(0, &events)]);
        check(&session, &Options::default());
        let (from, to) = (range.0.min(range.1), range.0.max(range.1));
        check(&session, &Options { from_ns: from, to_ns: to, ..Options::default() });
    }
}

#[test]
fn a_truncated_file_is_noted_in_the_forms() {
    let (folder, _) = session();
    let path = folder.path().join("pid_42/thread_0/index.atf");
    let bytes = fs::read(&path).unwrap();
    // Keep the header, six events and half of the seventh.
    fs::write(&path, &bytes[..64 + 6 * 32 + 16]).unwrap();
    let session = reopened(&folder);
    for form in FORMS {
        let (out, summary) = exported(&session, &Options::default(), form);
        assert!(!summary.is_whole());
        let text = String::from_utf8_lossy(&out);
        assert!(
            text.contains("no footer: the file was truncated or damaged"),
            "{form:?}: {text}"
        );
    }
}

#[test]
fn damaged_details_are_noted_in_the_form_that_has_details() {
    let (folder, _) = session();
    let path = folder.path().join("pid_42/thread_7/detail.atf");
    let mut bytes = fs::read(&path).unwrap();
    // The last byte of the last detail's stack; a footer of 64 bytes follows.
    let last = bytes.len() - 64 - 1;
    bytes[last] ^= 1;
    fs::write(&path, bytes).unwrap();
    let session = reopened(&folder);
    let (out, summary) = exported(&session, &Options::default(), Form::Perfetto);
    let kinds: Vec<_> = summary.problems.iter().map(|it| it.error.kind()).collect();
    assert!(
        matches!(kinds[..], [ErrorKind::ChecksumMismatch { .. }]),
        "{kinds:?}"
    );
    let text = String::from_utf8_lossy(&out);
    assert!(text.contains("thread_7/detail.atf: footer"), "{text}");
    let (_, summary) = exported(&session, &Options::default(), Form::Chrome);
    assert!(summary.is_whole(), "this form has no details");
}

#[test]
fn open_calls_beyond_the_limit_end_there_and_stay_nested() {
    const LIMIT: u64 = atf::spans::CallStack::LIMIT as u64;
    let calls = (0..LIMIT + 10).map(|time| (time, 1, CALL));
    let returns = (0..5).map(|time| (LIMIT + 10 + time, 1, RETURN));
    let events: Vec<_> = calls.chain(returns).collect();
    let (_folder, session) = write_session(&[(0, &events)]);
    let mut checker = Checker::default();
    let processes = [(&session).into()];
    let summary = export_to(&processes, &Options::default(), &mut checker).unwrap();
    assert_eq!(checker.calls, LIMIT + 10);
    assert_eq!(summary.problems.len(), 1, "the calls that were given up");
}

#[test]
fn losses_of_the_session_are_noted_in_the_forms() {
    let (folder, _) = session();
    let session = lacking(&folder);
    for form in [
        Form::Chrome,
        Form::Perfetto,
        Form::Speedscope,
        Form::Firefox,
        Form::Csv,
    ] {
        let (out, _) = exported(&session, &Options::default(), form);
        let text = String::from_utf8_lossy(&out);
        let lost = "threads without files: the tracer lost 3 events, from 1700 to 1950 ns";
        assert!(text.contains(lost), "{form:?}: {text}");
        let unwritten = "up to 64 events of each thread are missing";
        assert!(text.contains(unwritten), "{form:?}: {text}");
    }
}

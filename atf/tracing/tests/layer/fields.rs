//! Records the fields of spans.

use std::fmt;
use std::path::Path;

use atf::EventKind;
use atf::detail::{LARGEST_FIELDS, fields};
use atf::session::SessionReader;
use atf::thread::Linked;
use tracing::{Dispatch, Span, field, info_span};
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::prelude::*;

use crate::{CALL, RETURN, is_clean, layer, only, within};

/// Runs `program`, records its spans, and returns each event with its fields.
fn recorded(program: impl FnOnce()) -> Vec<(EventKind, Option<String>)> {
    let folder = tempfile::tempdir().unwrap();
    let (layer, guard) = layer(folder.path(), false);
    within(&only(layer.record_fields()), program);
    assert_eq!(guard.stop().unwrap().lost_events, 0);
    is_clean(folder.path());
    read(folder.path())
}

fn read(folder: &Path) -> Vec<(EventKind, Option<String>)> {
    let session = SessionReader::open(folder).unwrap();
    assert_eq!(session.manifest().unwrap().detail_fields, Some(true));
    let [thread] = session.threads() else {
        panic!("one thread records spans")
    };
    let thread = thread.open().unwrap();
    let events = thread.index().events().map(|event| {
        let event = event.unwrap();
        let Linked::To(found) = thread.detail_of(&event).unwrap() else {
            return (event.event_kind, None);
        };
        let detail = thread.detail().unwrap();
        let payload = detail.payload(&found, usize::from(u16::MAX)).unwrap();
        let text = fields(&payload).expect("a JSON object").to_owned();
        (event.event_kind, Some(text))
    });
    events.collect()
}

fn one(json: &str) -> Option<String> {
    Some(json.to_owned())
}

#[test]
fn a_call_has_the_fields_of_its_span() {
    let error: &(dyn std::error::Error + 'static) = &fmt::Error;
    let seen = recorded(|| {
        let number = 1.5;
        let span = info_span!("all", path = "a\t\"b\"", size = 7, low = -7_i64, is_new = true, number,
            none = field::Empty, nan = f64::NAN, list = ?[1, 2], %error, error);
        span.in_scope(|| {});
        info_span!("no fields").in_scope(|| {});
        info_span!("no values", value = field::Empty).in_scope(|| {});
    });
    let all = r#"{"path":"a\t\"b\"","size":7,"low":-7,"is_new":true,"number":1.5,"nan":"NaN","list":"[1, 2]","error":"an error occurred when formatting an argument"}"#;
    let expected = [
        (CALL, one(all)),
        (RETURN, None),
        (CALL, None),
        (RETURN, None),
        (CALL, None),
        (RETURN, None),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn a_return_has_the_fields_if_values_were_recorded_since_the_call() {
    let seen = recorded(|| {
        let span = info_span!("fetch", path = "a", status = field::Empty);
        span.in_scope(|| {
            info_span!("inner", size = 1).in_scope(|| {});
            span.record("status", 404);
        });
        span.record("path", "b");
        span.in_scope(|| {});
    });
    let expected = [
        (CALL, one(r#"{"path":"a"}"#)),
        (CALL, one(r#"{"size":1}"#)),
        (RETURN, None),
        (RETURN, one(r#"{"path":"a","status":404}"#)),
        (CALL, one(r#"{"path":"b","status":404}"#)),
        (RETURN, None),
    ];
    assert_eq!(seen, expected);
}

/// A value whose formatting never ends unless the writer fails.
struct Endless;

impl fmt::Display for Endless {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        loop {
            f.write_str("ä\u{85}")?;
        }
    }
}

/// A value whose formatter keeps writing after its text has been truncated.
struct Stubborn;

impl fmt::Display for Stubborn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for _ in 0..3000 {
            let _ = f.write_str("x");
        }
        Ok(())
    }
}

#[test]
fn long_values_are_truncated_and_omitted_ones_are_counted() {
    let seen = recorded(|| {
        let a = "x".repeat(1024);
        let b = "x".repeat(1025);
        info_span!("cut", a, b, c = %Stubborn).in_scope(|| {});
        info_span!("endless", a = %Endless).in_scope(|| {});
        let (a, b, c, d) = (&*a, &*a, &*a, &*a);
        info_span!("many", a, b, c, d, e = 5, f = 6).in_scope(|| {});
        // 4,096 bytes with names and punctuation.
        let last = "x".repeat(1019);
        let (a, b, c, d) = (&a[..1016], &b[..1016], &c[..1016], &*last);
        info_span!("fits", a, b, c, d).in_scope(|| {});
        info_span!("does not fit", a, b, c, d, e = 5).in_scope(|| {});
    });
    let long = "x".repeat(1024);
    let cut = format!(r#"{{"a":"{long}","b":"{long}…","c":"{long}…"}}"#);
    // 256 pairs of two-byte characters; the second of each pair is escaped.
    let endless = format!(r#"{{"a":"{}…"}}"#, r"ä\u0085".repeat(256));
    let many = format!(r#"{{"a":"{long}","b":"{long}","c":"{long}","…":3}}"#);
    let (part, last) = ("x".repeat(1016), "x".repeat(1019));
    let fits = format!(r#"{{"a":"{part}","b":"{part}","c":"{part}","d":"{last}"}}"#);
    assert_eq!(fits.len(), LARGEST_FIELDS);
    let left_out = format!(r#"{{"a":"{part}","b":"{part}","c":"{part}","…":2}}"#);
    for (place, text) in [cut, endless, many, fits, left_out].into_iter().enumerate() {
        assert!(text.len() <= LARGEST_FIELDS);
        let expected = [(CALL, Some(text)), (RETURN, None)];
        assert_eq!(seen[2 * place..2 * place + 2], expected);
    }
}

#[test]
fn layers_with_and_without_fields_record_side_by_side() {
    let root = tempfile::tempdir().unwrap();
    let folder = |name| root.path().join(name);
    let [(all, of_all), (some, of_some), (none, of_none)] =
        ["all", "some", "none"].map(|name| layer(&folder(name), name == "all"));
    let is_inner = filter_fn(|metadata| metadata.name() == "inner");
    let subscriber: Dispatch = tracing_subscriber::registry()
        .with(all.record_fields())
        .with(some.record_fields().with_filter(is_inner))
        .with(none)
        .into();
    within(&subscriber, || {
        info_span!("outer", a = 1).in_scope(|| {
            info_span!("inner", b = field::Empty).in_scope(|| {
                Span::current().record("b", 2);
            });
        });
    });
    for guard in [of_all, of_some, of_none] {
        guard.stop().unwrap();
    }
    let inner = [(CALL, None), (RETURN, one(r#"{"b":2}"#))];
    assert_eq!(read(&folder("some")), inner);
    let outer = [(CALL, one(r#"{"a":1}"#)), (RETURN, None)];
    let [first, last] = outer;
    let [call, back] = inner;
    assert_eq!(read(&folder("all")), [first, call, back, last]);
    let session = SessionReader::open(folder("none")).unwrap();
    assert_eq!(session.manifest().unwrap().detail_fields, None);
    assert!(session.threads()[0].open().unwrap().detail().is_none());
}

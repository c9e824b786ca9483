//! Tests how the output of processes is kept.

use std::io::{self, ErrorKind, Read};
use std::time::Instant;

use atf_conformance::run::warden::streams::{Ends, KEPT, bounded};

/// A reader that yields its parts and errors from last to first.
struct Parts(Vec<Result<&'static [u8], ErrorKind>>);

impl Read for Parts {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.pop() {
            None => Ok(0),
            Some(Err(kind)) => Err(kind.into()),
            Some(Ok(bytes)) => {
                buffer[..bytes.len()].copy_from_slice(bytes);
                Ok(bytes.len())
            }
        }
    }
}

#[test]
fn an_interrupted_read_is_retried_and_a_failed_one_ends_the_stream() {
    let kept = |failure: ErrorKind| {
        // The parts are yielded in reverse order.
        let parts = vec![Ok(&b"two"[..]), Err(failure), Ok(b"one")];
        let stream = bounded(Parts(parts), || 100, None::<fn()>, || {}).unwrap();
        stream.finish(Instant::now())
    };
    assert_eq!(kept(ErrorKind::Interrupted), b"onetwo");
    assert_eq!(kept(ErrorKind::BrokenPipe), b"one");
}

#[test]
fn a_long_stream_keeps_its_two_ends() {
    let mut ends = Ends::default();
    for chunk in 0..10_u8 {
        ends.push(&vec![b'0' + chunk; KEPT / 4]);
    }
    let text = ends.text();
    assert!(text.starts_with("0000"));
    assert!(text.ends_with("9999"));
    assert!(text.contains(&format!("3333\n[{} bytes omitted]\n6666", KEPT / 2)));
}

#[test]
fn a_short_stream_is_complete_however_it_is_split() {
    let mut ends = Ends::default();
    let text = "x".repeat(KEPT) + &"y".repeat(KEPT);
    for piece in text.as_bytes().chunks(1000) {
        ends.push(piece);
    }
    assert_eq!(ends.text(), text);
}

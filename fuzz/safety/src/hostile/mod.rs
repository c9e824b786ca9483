//! Traces made to cost a reader dearly: what they take of memory, and of time as they grow.
//!
//! Each [`Input`] is a session of one thread of about the size that is asked for, and [`work`] does to it
//! all that a reader, a checker and a recovery with salvage do. Its memory has a [`bound`]; twice the size
//! may take at most [`GROWTH`] times the instructions.

mod inputs;

use std::fs;
use std::io;
use std::num::NonZero;
use std::path::Path;

use atf::detail::DetailReader;
use atf::index::IndexReader;
use atf::rewrite::{RecoverOptions, recover};
use atf::session::SessionReader;
use atf::spans::Spans;
use atf_conformance::check::check;
use atf_conformance::{FileReport, Output};

pub use inputs::{INPUTS, Input};

/// Bytes of memory that any trace may take: windows, buffers, the lists of what was found, which are
/// bounded.
pub const FIXED: usize = 4 << 20;
/// Bytes of memory for each byte of the trace: 8 for each detail of at least 24 bytes, what a manifest
/// says, and 56 for each detail that a salvage finds.
pub const PER_BYTE: usize = 12;
/// The same for a manifest: of `{"id":7}` become a place in the text, a thread, a problem, each in what is
/// read, checked and written.
pub const PER_MANIFEST_BYTE: usize = 64;
/// How many times the instructions twice the trace may take, without those of an empty one: linear, and a
/// logarithm for what is sorted.
pub const GROWTH: f64 = 2.5;

/// Writes a hostile trace of about `size` bytes into a folder; says how many it has.
///
/// # Errors
///
/// Those of the file system.
pub fn write(input: &Input, size: usize, folder: &Path) -> io::Result<usize> {
    let mut written = 0;
    for (name, bytes) in (input.make)(size) {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        written += bytes.len();
        fs::write(path, bytes)?;
    }
    Ok(written)
}

/// The most memory that a trace of that size may take, in bytes.
#[must_use]
pub fn bound(input: &Input, size: usize) -> usize {
    let per_byte = match input.name.starts_with("manifest") {
        true => PER_MANIFEST_BYTE,
        false => PER_BYTE,
    };
    FIXED + per_byte * size
}

/// Does all that can be done to a session: reads, merges, pairs, looks up, checks, recovers into `out`.
/// Errors are fine; what it costs is the question.
pub fn work(session: &Path, out: &Path) {
    if let Ok(opened) = SessionReader::open(session) {
        let _ = opened.symbols().function(7);
        let _ = opened.merge().events().take_while(Result::is_ok).count();
        for thread in opened.threads() {
            if let Ok(index) = thread.open_index() {
                self::index(&index);
            }
            if let Ok(detail) = DetailReader::open(thread.path().join("detail.atf")) {
                self::detail(&detail);
            }
        }
    }
    check(session, &mut Nothing);
    let options = RecoverOptions {
        salvage: true,
        ..RecoverOptions::default()
    };
    let _ = recover(session, out, &options);
}

fn index(index: &IndexReader) {
    let _ = index.scan_parallel(NonZero::<usize>::MIN);
    let _ = index.holes().take_while(Result::is_ok).count();
    let _ = Spans::new(index.events_in(..))
        .take_while(Result::is_ok)
        .count();
    let _ = index.events_in(..).rev().take_while(Result::is_ok).count();
    let _ = index.disagreements();
}

fn detail(detail: &DetailReader) {
    let _ = detail.checksum();
    for event in detail.events_in(..).flatten() {
        let _ = detail.function_payload(&event);
    }
}

/// A check whose results nobody wants.
struct Nothing;

impl Output for Nothing {
    fn file(&mut self, _report: FileReport) {}

    fn unreadable(&mut self, _path: &Path, _why: &str) {}
}

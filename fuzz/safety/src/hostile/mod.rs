//! Traces crafted to need a lot of memory, or disproportionate time for their size.
//!
//! Each [`Input`] is a session of about the requested size. [`work`] reads the
//! session, checks it and recovers it with salvage. Memory use has a [`bound`], and a trace of
//! twice the size may take at most [`GROWTH`] times the instructions.

mod inputs;

use std::fs;
use std::io;
use std::num::NonZero;
use std::path::Path;

use atf::detail::DetailReader;
use atf::follow::{Polled, ThreadFollower};
use atf::index::IndexReader;
use atf::rewrite::{RecoverOptions, recover};
use atf::session::SessionReader;
use atf::spans::Spans;
use atf_conformance::check::check;
use atf_conformance::{FileReport, Output};

pub use inputs::{INPUTS, Input};

/// The memory in bytes that any trace may use regardless of its size, for windows, buffers and
/// bounded lists of findings.
pub const FIXED: usize = 4 << 20;
/// The memory in bytes allowed per byte of the trace. A detail has at least 24 bytes and takes 8
/// bytes of memory, or 64 if a salvage finds it. The content of the manifest is also kept in
/// memory.
pub const PER_BYTE: usize = 12;
/// The memory in bytes allowed per byte of a manifest. When a manifest is read, checked and
/// written, each `{"id":7}` needs memory for a position in the text, a thread and a problem.
pub const PER_MANIFEST_BYTE: usize = 74;
/// The memory in bytes allowed per byte of a session with many threads. Each thread has three
/// events in 160 bytes, and much of the memory is for its problems.
pub const PER_THREAD_BYTE: usize = 40;
/// The maximum growth in instructions for a trace of twice the size, not counting those for an
/// empty trace. This allows for linear growth and for the logarithmic factor of sorting.
pub const GROWTH: f64 = 2.5;

/// Writes a hostile trace of about `size` bytes into a folder, and returns its exact size.
///
/// # Errors
///
/// Returns file system errors.
pub fn write(input: &Input, size: usize, folder: &Path) -> io::Result<usize> {
    let mut written = 0;
    for (name, bytes) in (input.make)(size) {
        let path = folder.join(name.as_ref());
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        written += bytes.len();
        fs::write(path, bytes)?;
    }
    Ok(written)
}

/// Returns the maximum memory use for a trace of this size, in bytes.
#[must_use]
pub fn bound(input: &Input, size: usize) -> usize {
    let per_byte = match input.name.split_once('-') {
        Some(("manifest", _)) => PER_MANIFEST_BYTE,
        Some(("threads", _)) => PER_THREAD_BYTE,
        _ => PER_BYTE,
    };
    FIXED + per_byte * size
}

/// Runs every operation on a session: reads and merges events, pairs calls, looks up names, checks
/// the session and recovers it into `out`. Ignores errors, because only the resource use matters.
pub fn work(session: &Path, out: &Path) {
    if let Ok(opened) = SessionReader::open(session) {
        let _ = opened.symbols().function(7);
        let _ = opened.merge().events().count();
        for thread in opened.threads() {
            if let Ok(index) = thread.open_index() {
                self::index(&index);
            }
            if let Ok(detail) = DetailReader::open(thread.path().join("detail.atf")) {
                self::detail(&detail);
            }
            let mut follower = ThreadFollower::new(thread.path());
            while let Ok(Polled::New(_)) = follower.poll() {}
        }
    }
    check(session, &mut Nothing);
    let options = RecoverOptions::default().salvage(true);
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

/// Discards the results of a check.
struct Nothing;

impl Output for Nothing {
    fn file(&mut self, _report: FileReport) {}

    fn unreadable(&mut self, _path: &Path, _why: &str) {}
}

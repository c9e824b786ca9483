//! Runs two decoders that share no code on the same bytes, and compares the results.

use atf::thread::{DETAIL_FILE, INDEX_FILE};
use atf_conformance::reference;
use atf_interpreter::{Kind, read_as};

use crate::scratch::{put, scratch};

/// Reads a file with the library and with the layout interpreter.
///
/// The decoders must agree on everything: the verdict, all events and all derived values.
pub fn differential(data: &[u8]) {
    let kind = Kind::detect(data);
    let name = match kind {
        Kind::Index => INDEX_FILE,
        Kind::Detail => DETAIL_FILE,
    };
    let scratch = scratch();
    let path = scratch.path().join(name);
    put(&path, data);
    let read = reference::read(&path);
    let interpreted = read_as(kind, data);
    assert!(
        read == interpreted,
        "the library reads\n{read:#}\nthe interpreter\n{interpreted:#}"
    );
}

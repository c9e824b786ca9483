//! Runs two decoders that share no code on the same bytes, and compares the results.

use atf_conformance::reference;
use atf_interpreter::{Kind, read_as};

use crate::scratch::{put_detected, scratch};

/// Reads a file with the library and with the layout interpreter.
///
/// The decoders must agree on everything: the verdict, all events and all derived values.
pub fn differential(data: &[u8]) {
    let scratch = scratch();
    let path = put_detected(scratch.path(), data);
    let read = reference::read(&path);
    let interpreted = read_as(Kind::detect(data), data);
    assert!(
        read == interpreted,
        "the library reads\n{read:#}\nthe interpreter\n{interpreted:#}"
    );
}

//! Code that contradicts the spec is a compile error at its place, in the spec's words.
//!
//! `TRYBUILD=overwrite` rewrites the expected messages.

#[test]
fn mistakes_are_compile_errors() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}

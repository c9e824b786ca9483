//! Code that contradicts the spec causes a compile error at its place, worded like the spec.
//!
//! `TRYBUILD=overwrite` rewrites the expected messages.

#[test]
fn mistakes_are_compile_errors() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}

//! What does not fit the spec is an error at the place where it is written, in the spec's words.
//!
//! `TRYBUILD=overwrite` writes the expected messages anew.

#[test]
fn mistakes_are_compile_errors() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}

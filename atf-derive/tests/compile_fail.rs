//! Code that contradicts the spec causes a compile error at the contradiction, in the spec's terms.
//!
//! `TRYBUILD=overwrite` rewrites the expected messages.

#[test]
fn mistakes_are_compile_errors() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}

//! Tests that code that contradicts the spec does not compile. The error points at the
//! contradiction and uses the spec's terms.
//!
//! `TRYBUILD=overwrite` rewrites the expected messages.

#[test]
#[ignore = "slow: the nightly job runs it"]
fn mistakes_are_compile_errors() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}

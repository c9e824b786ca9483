//! Tests that the shipped implementations pass, and that every mistake that one of them can make on
//! purpose is caught.
//!
//! If a test's tool is missing, the test is skipped with a message. If `ATF_REQUIRE_TOOLS=1` is
//! set, it fails instead.

mod agree;
mod bugs;
mod guide;
mod pass;
mod programs;

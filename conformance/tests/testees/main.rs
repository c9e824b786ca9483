//! Tests that the shipped implementations pass, and that every mistake one of them can plant is
//! caught.
//!
//! A test whose tool is missing is skipped with a message. If `ATF_REQUIRE_TOOLS=1` is set, the
//! test fails instead.

mod agree;
mod bugs;
mod guide;
mod pass;
mod programs;

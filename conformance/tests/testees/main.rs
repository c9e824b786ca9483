//! The shipped implementations pass, and every mistake that one of them can plant is caught.
//!
//! A test whose tool is missing is skipped with a message; with `ATF_REQUIRE_TOOLS=1` in the
//! environment it fails.

mod agree;
mod bugs;
mod guide;
mod pass;
mod programs;

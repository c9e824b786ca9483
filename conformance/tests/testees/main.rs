//! The testees that we ship: they pass, and each mistake that one of them can plant is caught.
//!
//! A tool that is missing is skipped, loudly; with `ATF_REQUIRE_TOOLS=1` in the environment it is a
//! failure.

mod agree;
mod bugs;
mod guide;
mod pass;
mod programs;

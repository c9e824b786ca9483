//! Tests that the shipped implementations pass, and that every bug that can be planted in one of
//! them is caught.
//!
//! If a test's tool is missing, the test is skipped with a message. If `ATF_REQUIRE_TOOLS=1` is
//! set, it fails instead.

mod bugs;
mod ci;
mod fingerprint;
mod guide;
mod pass;
mod programs;
mod same_files;

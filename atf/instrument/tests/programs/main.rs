//! Compiles C and C++ programs, runs them with the library, and compares the trace with what the
//! programs counted themselves.
//!
//! A missing compiler is skipped with a message; with `ATF_REQUIRE_TOOLS=1` in the environment it
//! is a failure.

#![cfg(target_os = "linux")]

mod support;

mod details;
mod ends;
mod forks;
mod functions;
mod kills;
mod settings;
mod signals;
mod threads;

//! Compiles C and C++ programs, runs them with the library, and compares the traces with the
//! programs' own counts.
//!
//! If a compiler is missing, its tests are skipped with a message, or fail if `ATF_REQUIRE_TOOLS=1`
//! is set.

#![cfg(target_os = "linux")]

mod support;

mod details;
mod ends;
mod forks;
mod functions;
mod rights;
mod settings;
mod signals;
mod symbols;
mod threads;

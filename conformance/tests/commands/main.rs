//! Runs the commands in this folder's text files; see [`harness`]. `= PATH VERSION` writes the
//! corpus's clean session.

// The cases use GNU tools and Linux devices.
#![cfg(target_os = "linux")]

#[path = "../../../atf/cli/tests/commands/harness.rs"]
mod harness;

use atf_conformance::corpus::Trace;
use harness::{Commands, files};

const COMMANDS: Commands = Commands {
    folder: concat!(env!("CARGO_MANIFEST_DIR"), "/tests/commands"),
    program: env!("CARGO_BIN_EXE_atf-conformance"),
    write: |path, version| Trace::clean(version.parse().unwrap()).write(path).unwrap(),
};

files! { COMMANDS: answers check compare corpus lists run scripts }

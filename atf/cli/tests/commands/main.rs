//! Runs the commands in this folder's text files; see [`harness`].

// The cases use GNU tools and Linux devices.
#![cfg(target_os = "linux")]

mod harness;
mod threads;

use harness::{Commands, files};

const COMMANDS: Commands = Commands {
    folder: concat!(env!("CARGO_MANIFEST_DIR"), "/tests/commands"),
    program: env!("CARGO_BIN_EXE_atf"),
    write: threads::write,
};

files! {
    COMMANDS: check cut damage diff dump explain export follow info last losses media paths record recover report
    rewrite segments symbolize synth usage
}

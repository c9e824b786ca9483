//! Tests programs that are killed by SIGKILL.

use std::fs;
use std::thread;
use std::time::Duration;

use crate::support::{Program, Trace};

#[test]
fn a_killed_program_loses_no_call_that_had_been_recorded() {
    Program::with("life.c", |program| {
        let finished = program.folder.path().join("finished");
        for kill in 0..20 {
            let _ = fs::remove_file(&finished);
            let mut command = program.command(&["forever", finished.to_str().unwrap()]);
            let mut child = command.spawn().unwrap();
            let count = || {
                let bytes = fs::read(&finished).unwrap_or_default();
                bytes
                    .first_chunk()
                    .map_or(0, |bytes| u64::from_ne_bytes(*bytes))
            };
            while count() == 0 {
                thread::sleep(Duration::from_millis(1));
            }
            thread::sleep(Duration::from_micros(1_700 * kill));
            child.kill().unwrap();
            child.wait().unwrap();
            let sessions = program.sessions();
            let trace = Trace::open(&sessions[0]);
            // The last call may have been recorded but not yet counted.
            let (recorded, counted) = (trace.calls().returned, count());
            let is_whole = (counted..=counted + 1).contains(&recorded);
            assert!(is_whole, "{recorded} of {counted}");
        }
    });
}

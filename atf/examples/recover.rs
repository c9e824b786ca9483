//! Writes a finalized copy of a crashed or damaged trace and prints what was kept, set aside and
//! dropped. The original is never modified. Exit status 1 means that something was lost.
//!
//! ```sh
//! cargo run --release --example recover -- TRACE NEW_FOLDER [--salvage]
//! ```

use std::error::Error;
use std::process::ExitCode;

use atf::rewrite::{RecoverOptions, recover};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut paths = Vec::new();
    let mut salvage = false;
    for argument in std::env::args_os().skip(1) {
        if argument == "--salvage" {
            // Also search past gaps and damaged regions.
            salvage = true;
        } else {
            paths.push(argument);
        }
    }
    let [trace, new_folder] = paths.as_slice() else {
        return Err("usage: recover TRACE NEW_FOLDER [--salvage]".into());
    };
    let options = RecoverOptions::default().salvage(salvage);
    let report = recover(trace, new_folder, &options)?;
    print!("{report}");
    let (events, details) = (report.events(), report.details());
    println!("{events} events and {details} details are in the new trace");
    Ok(match report.losses() {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

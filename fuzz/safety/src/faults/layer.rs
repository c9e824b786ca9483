//! Builds the C layer, restarts this program with the layer preloaded before libc, and sends
//! commands to the layer.

use std::fs::{self, File};
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;
use std::process::{Command, ExitStatus};

use super::{ENOSPC, Extent, Fault, Plan};

const SOURCE: &str = include_str!("calls.c");
const LOADED: &str = "ATF_SAFETY_LAYER";

/// Returns whether this program was started with the layer.
#[must_use]
pub fn is_under_layer() -> bool {
    std::env::var_os(LOADED).is_some()
}

/// A handle to the loaded layer.
#[derive(Debug, Clone, Copy)]
pub struct Layer(());

impl Layer {
    /// Returns the layer, if this program was started with it and it responds.
    ///
    /// # Errors
    ///
    /// Returns an error if the layer does not respond, because no faults would ever occur.
    pub fn get() -> io::Result<Self> {
        let layer = Self(());
        layer.plan(Plan::Count);
        let _ = fs::read("/dev/null");
        if layer.log()?.is_empty() {
            Err(io::Error::other("the fault layer does not intercept calls"))
        } else {
            Ok(layer)
        }
    }

    /// Starts counting calls, and makes them fail as planned.
    pub fn plan(self, plan: Plan) {
        let order = match plan {
            Plan::Count => "count".to_owned(),
            Plan::Space(space) => format!("space={space},errno={ENOSPC}"),
            Plan::Call(call, fault, extent) => {
                let error = match fault {
                    Fault::Error(number) => number,
                    Fault::Short => 0,
                };
                let ever = u8::from(extent == Extent::ForEver);
                format!("call={call},errno={error},ever={ever}")
            }
        };
        // The path contains the command for the layer. No such file exists, so opening it always
        // fails.
        let _ = File::open(format!("/atf-faults/{order}"));
    }

    /// Makes reads of a range of bytes fail in files whose path ends with `file`.
    pub fn break_sector(self, file: &str, range: &Range<u64>) {
        let (start, end) = (range.start, range.end);
        let _ = File::open(format!("/atf-faults/bad={start},to={end},file={file}"));
    }

    /// Ends the plan, and returns the names and outcomes of the calls made since it started.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no layer.
    pub fn log(self) -> io::Result<Vec<String>> {
        let mut text = String::new();
        File::open("/atf-faults/log")?.read_to_string(&mut text)?;
        Ok(text.lines().map(str::to_owned).collect())
    }
}

/// Builds the layer in `folder`, and restarts this program with the layer and the same arguments.
///
/// # Errors
///
/// Returns an error if there is no C compiler `cc`, or if the program does not start.
pub fn run_again(folder: &Path) -> io::Result<ExitStatus> {
    let (source, library) = (folder.join("calls.c"), folder.join("calls.so"));
    fs::write(&source, SOURCE)?;
    let built = Command::new("cc")
        .args([
            "-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC", "-o",
        ])
        .args([&library, &source])
        .status()?;
    if !built.success() {
        return Err(io::Error::other("cannot build the fault layer"));
    }
    Command::new(std::env::current_exe()?)
        .args(std::env::args_os().skip(1))
        .env(LOADED, "1")
        .env("LD_PRELOAD", &library)
        .status()
}

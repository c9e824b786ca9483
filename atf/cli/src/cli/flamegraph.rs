//! `flamegraph`: draws where a trace spent its time.

use std::path::PathBuf;
use std::slice;

use atf_export::flame;

use crate::dump::Reported;
use crate::export::{Opened, Selection, write_to};
use crate::output::{Outcome, State};

const AFTER_HELP: &str = "\
A frame is a function with the callers below it, over all threads; it is as wide as its total time.
Open the file in a browser: a frame's times appear under the mouse, and a click zooms in. --diff
draws frames with more self time than in BEFORE in red, and with less in blue.

--from and --to are inclusive; TIME is as for `atf dump`, and applies to both traces. Frames
narrower than a tenth of a pixel are left out; docs/export.md has the other limits.

FILE gets its name when it is complete, and replaces an older one. If this command is killed, it
leaves a file .atf-export-… next to FILE, which can be deleted.

Exit status: 0; 1 something is damaged or missing, such as the end of an unfinalized file, but not
for events that the manifest counts as lost or unwritten; 2 usage, a path that could not be read, or
a file that could not be written.

Example:
  $ atf flamegraph --out flame.svg samples/sample-small";

/// Options of `flamegraph`.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Options {
    /// The file to write; - for standard output
    #[arg(long, value_name = "FILE", default_value = "-")]
    out: PathBuf,
    /// The title; PATH by default
    #[arg(long)]
    title: Option<String>,
    /// Show what changed since this trace
    #[arg(long, value_name = "BEFORE")]
    diff: Option<PathBuf>,
    #[command(flatten)]
    selection: Selection,
}

pub(super) fn run(options: &Options) -> Outcome {
    let (out, selection) = (&options.out, &options.selection);
    let paths = &selection.paths()?;
    let names = paths.iter().map(|path| path.display().to_string());
    let path = names.collect::<Vec<_>>().join(", ");
    let title = match (&options.title, &options.diff) {
        (Some(title), _) => title.clone(),
        (None, None) => path,
        (None, Some(before)) => format!("{} → {path}", before.display()),
    };
    let opened = Opened::new(paths, selection)?;
    let after = opened.processes();
    let mut reported = Reported::default();
    let mut inputs = selection.inputs(paths);
    let Some(before) = &options.diff else {
        let summary = write_to(out, &inputs, |out| {
            flame::write(&after, &opened.options, &title, out)
        })?;
        return Ok(opened.report(&summary, &mut reported));
    };
    let earlier = Opened::new(slice::from_ref(before), selection)?;
    inputs.push(before.clone());
    let [first, second] = write_to(out, &inputs, |out| {
        let first = (&earlier.processes()[..], &earlier.options);
        flame::write_difference(first, (&after, &opened.options), &title, out)
    })?;
    let states = [
        earlier.report(&first, &mut reported),
        opened.report(&second, &mut reported),
    ];
    Ok(State::damaged_if(states.contains(&State::Damaged)))
}

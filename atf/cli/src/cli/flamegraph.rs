//! `flamegraph`: draws where a trace spent its time.

use std::path::PathBuf;

use crate::export::{self, Selection};
use crate::output::Outcome;

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
    let selection = &options.selection;
    let paths = &selection.paths()?;
    let names = paths.iter().map(|path| path.display().to_string());
    let path = names.collect::<Vec<_>>().join(", ");
    let title = match (&options.title, &options.diff) {
        (Some(title), _) => title.clone(),
        (None, None) => path,
        (None, Some(before)) => format!("{} → {path}", before.display()),
    };
    let before = options.diff.as_ref();
    export::flamegraph(before, paths, &options.out, &title, selection)
}

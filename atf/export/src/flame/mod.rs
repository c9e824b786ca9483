//! Flame graphs: the merged call tree of a trace as an interactive SVG, and the difference between
//! two traces.
//!
//! A frame's width is its total time, and the part without frames above it is its self time. Lines
//! above the frames list what is missing from the trace.
//!
//! Memory: as for [`tree`](atf_analyze::tree()), and 70 bytes per node for each tree.

mod svg;
mod tree;

use std::io::Write;

use atf::trace::Process;
use atf_analyze::Options;

use crate::{Error, Summary};
use tree::{Names, Tree};

/// Writes a flame graph of processes that share a clock.
///
/// # Errors
///
/// Output errors and internal errors. Read errors are in the summary.
pub fn write(
    processes: &[Process],
    options: &Options,
    title: &str,
    out: impl Write,
) -> Result<Summary, Error> {
    let mut names = Names::default();
    let (tree, summary) = Tree::build(processes, options, &mut names)?;
    svg::write(&tree, &names, None, title, &tree.notes, out)?;
    Ok(summary)
}

/// Writes a flame graph of `after`, in which red frames have more self time than in `before`, and
/// blue frames less. Frames are compared by the names on their stacks, so the traces may come from
/// different builds. Returns both summaries.
///
/// # Errors
///
/// As for [`write()`].
pub fn write_difference(
    before: (&[Process], &Options),
    after: (&[Process], &Options),
    title: &str,
    out: impl Write,
) -> Result<[Summary; 2], Error> {
    let mut names = Names::default();
    let (earlier, first) = Tree::build(before.0, before.1, &mut names)?;
    let (tree, second) = Tree::build(after.0, after.1, &mut names)?;
    let before = earlier.notes.iter().map(|note| format!("before: {note}"));
    let notes: Vec<_> = before.chain(tree.notes.iter().cloned()).collect();
    let changes = tree.compared_with(&earlier);
    svg::write(&tree, &names, Some(&changes), title, &notes, out)?;
    Ok([first, second])
}

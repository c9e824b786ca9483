//! Folded stacks: one line per stack of the merged call tree.

use std::io::Write;

use atf::trace::Process;
use atf_analyze::{Node, Options};

use crate::notes::notes_of_process;
use crate::process::{self, OTHERS, name_of, until_latest};
use crate::{Error, Summary};

/// The maximum number of frames of a stack. Each line repeats the whole stack, so without a limit
/// the output of a deep recursion would grow with the square of its depth.
pub(crate) const DEEPEST: u32 = 1024;

/// Returns a tree's nodes down to [`DEEPEST`], including the times of deeper nodes.
pub(crate) fn shallow(nodes: &[Node]) -> impl Iterator<Item = Node> {
    let shown = nodes.iter().filter(|node| node.depth <= DEEPEST);
    shown.copied().map(|mut node| {
        if node.depth == DEEPEST {
            node.function_id = None;
            node.times.self_ns = node.times.total_ns;
        }
        node
    })
}

/// Writes the self time of each stack in nanoseconds, in the format that flamegraph.pl and inferno
/// read. With several processes, a stack begins with its process. Each note on missing events is a
/// stack with the time 0.
pub(crate) fn write(
    processes: &[Process],
    options: &Options,
    mut out: impl Write,
) -> Result<Summary, Error> {
    let mut summary = Summary::default();
    for (pid, process) in process::pids(processes).into_iter().zip(processes) {
        let tree = atf_analyze::tree(process, &until_latest(options));
        let mut stack = Stack::default();
        if processes.len() > 1 {
            stack.push(0, &format!("{} (pid {pid})", process::name(process)));
        }
        let above = u32::try_from(stack.ends.len()).unwrap_or(u32::MAX);
        for node in shallow(&tree.nodes) {
            let function = node.function_id.map(|id| process.function(id));
            let name = function.as_ref().map_or(OTHERS.into(), name_of);
            summary.is_cut |= node.function_id.is_none();
            stack.push(node.depth.saturating_add(above), &name);
            if node.times.self_ns > 0 {
                writeln!(out, "{} {}", stack.text, node.times.self_ns)?;
            }
        }
        // The format has no comments. A stack without time has no width in a flame graph.
        for note in notes_of_process(process, options, &tree.threads, &tree.problems) {
            stack.push(above, &format!("({note})"));
            writeln!(out, "{} 0", stack.text)?;
        }
        summary.add(process, options, &tree.threads, tree.problems);
    }
    out.flush()?;
    Ok(summary)
}

/// A stack as text.
#[derive(Default)]
struct Stack {
    text: String,
    /// Where each frame ends in the text.
    ends: Vec<usize>,
}

impl Stack {
    /// Replaces all frames at `depth` or deeper with a single frame.
    fn push(&mut self, depth: u32, name: &str) {
        self.ends
            .truncate(usize::try_from(depth).unwrap_or(usize::MAX));
        self.text.truncate(self.ends.last().copied().unwrap_or(0));
        if !self.ends.is_empty() {
            self.text.push(';');
        }
        // The format has no escapes, so replace its special characters.
        let letters = name.chars().map(|letter| match letter {
            ';' => ':',
            letter if letter.is_control() => ' ',
            letter => letter,
        });
        self.text.extend(letters);
        self.ends.push(self.text.len());
    }
}

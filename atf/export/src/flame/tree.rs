//! A call tree with function names as nodes.

use std::collections::HashMap;

use atf::analyze::Options;

use crate::export::count_of;
use crate::folded::{OTHERS, is_cut, shallow, tree_of};
use crate::names::name_of;
use crate::notes::notes_of_process;
use crate::{Error, Process, Summary};

/// The functions, each below its caller. Functions with the same name share a node.
#[derive(Debug)]
pub(super) struct Tree {
    /// The nodes, each after its parent. The first is the root, the parent of the outermost calls.
    pub(super) nodes: Vec<Node>,
    /// Positions in `nodes`, by parent and name.
    places: HashMap<(usize, String), usize>,
    /// Sentences about missing or damaged data.
    pub(super) notes: Vec<String>,
}

/// A function with its chain of callers.
#[derive(Debug, Clone, Default)]
pub(super) struct Node {
    pub(super) name: String,
    /// The root is its own parent.
    pub(super) parent: usize,
    pub(super) children: Vec<usize>,
    pub(super) calls: u64,
    pub(super) self_ns: u64,
    pub(super) total_ns: u64,
}

/// The changes since another tree.
#[derive(Debug)]
pub(super) struct Changes {
    /// Each node's self and total time in the other tree.
    pub(super) before: Vec<(u64, u64)>,
    /// The self time of all stacks that occur only in the other tree.
    pub(super) vanished_ns: u64,
}

const ROOT: usize = 0;

impl Tree {
    pub(super) fn of(
        processes: &[Process<'_>],
        options: &Options,
    ) -> Result<(Self, Summary), Error> {
        let mut this = Self {
            nodes: vec![Node {
                name: "all".to_owned(),
                ..Node::default()
            }],
            places: HashMap::new(),
            notes: Vec::new(),
        };
        let mut summary = Summary::default();
        for (pid, process) in Process::pids(processes).into_iter().zip(processes) {
            let tree = tree_of(process, options)?;
            let label = (processes.len() > 1).then(|| format!("{} (pid {pid})", process.name()));
            // The positions of the current node and its ancestors.
            let mut stack = vec![match &label {
                None => ROOT,
                Some(label) => this.child(ROOT, label),
            }];
            for node in shallow(&tree.nodes) {
                let function = node.function_id.map(|id| process.function(id));
                let name = function.as_ref().map_or(OTHERS.into(), name_of);
                let depth = usize::try_from(node.depth).unwrap_or(usize::MAX);
                stack.truncate(depth.saturating_add(1));
                let parent = stack.last().copied().unwrap_or(ROOT);
                let place = this.child(parent, &name);
                stack.push(place);
                if let Some(found) = this.nodes.get_mut(place) {
                    found.calls = found.calls.saturating_add(node.times.calls);
                    found.self_ns = found.self_ns.saturating_add(node.times.self_ns);
                }
            }
            summary.is_cut |= is_cut(&tree);
            let notes = notes_of_process(process, &tree.threads, &tree.problems);
            this.notes
                .extend(notes.into_iter().map(|note| match &label {
                    Some(label) => format!("{label}: {note}"),
                    None => note,
                }));
            let lost = count_of(process.lost_details(&tree.threads));
            summary.add(&tree.threads, lost, tree.problems);
        }
        this.add_up();
        Ok((this, summary))
    }

    /// Returns a node's position, and adds the node if it is missing.
    fn child(&mut self, parent: usize, name: &str) -> usize {
        let next = self.nodes.len();
        let place = *self.places.entry((parent, name.to_owned())).or_insert(next);
        if place == next {
            self.nodes.push(Node {
                name: name.to_owned(),
                parent,
                ..Node::default()
            });
            if let Some(parent) = self.nodes.get_mut(parent) {
                parent.children.push(place);
            }
        }
        place
    }

    /// Sums the total times, children first: iterates in reverse, since each node comes after its
    /// parent.
    fn add_up(&mut self) {
        for place in (0..self.nodes.len()).rev() {
            let Some(node) = self.nodes.get_mut(place) else {
                continue;
            };
            node.total_ns = node.total_ns.saturating_add(node.self_ns);
            let (parent, total_ns) = (node.parent, node.total_ns);
            if place != ROOT
                && let Some(parent) = self.nodes.get_mut(parent)
            {
                parent.total_ns = parent.total_ns.saturating_add(total_ns);
            }
        }
    }

    /// Compares each node with the node that has the same stack in another tree.
    pub(super) fn compared_with(&self, other: &Self) -> Changes {
        let mut same: Vec<Option<usize>> = Vec::with_capacity(self.nodes.len());
        for (place, node) in self.nodes.iter().enumerate() {
            let parent = same.get(node.parent).copied().flatten();
            same.push(match place {
                ROOT => Some(ROOT),
                _ => parent
                    .and_then(|parent| other.places.get(&(parent, node.name.clone())).copied()),
            });
        }
        let found = |place: &Option<usize>| {
            let node = other.nodes.get((*place)?)?;
            Some((node.self_ns, node.total_ns))
        };
        let before: Vec<_> = same
            .iter()
            .map(|place| found(place).unwrap_or((0, 0)))
            .collect();
        let kept = before.iter().map(|(self_ns, _)| *self_ns);
        let kept_ns = kept.fold(0, u64::saturating_add);
        let all_ns = other.nodes.first().map_or(0, |root| root.total_ns);
        Changes {
            before,
            vanished_ns: all_ns.saturating_sub(kept_ns),
        }
    }
}

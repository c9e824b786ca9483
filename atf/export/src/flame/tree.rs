//! A call tree with function names as nodes.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use atf::trace::Process;
use atf_analyze::Options;

use crate::folded::shallow;
use crate::notes::notes_of_process;
use crate::process::{self, OTHERS, name_of, until_latest};
use crate::{Error, Summary};

/// The functions, each below its caller. Functions with the same name share a node.
#[derive(Debug)]
pub(super) struct Tree {
    /// The nodes, each after its parent. The first is the root, the parent of the outermost calls.
    pub(super) nodes: Vec<Node>,
    /// Positions in `nodes`, by parent and name.
    places: HashMap<(u32, u32), u32>,
    /// All nodes except the root, sorted by parent, then by their order in `nodes`.
    children: Vec<u32>,
    /// The nodes with calls that last at least until the process's last event. A field of `Node`
    /// would take 8 bytes per node.
    pub(super) minimums: HashSet<u32>,
    /// Sentences about missing or damaged data.
    pub(super) notes: Vec<String>,
    /// The maximum number of nodes. Beyond it, a node gets only one more child, [`OTHERS`].
    limit: usize,
}

/// A function with its chain of callers.
#[derive(Debug, Clone, Default)]
pub(super) struct Node {
    /// A number from [`Names`].
    pub(super) name: u32,
    /// The position of the parent. The root is its own parent.
    parent: u32,
    pub(super) calls: u64,
    pub(super) self_ns: u64,
    pub(super) total_ns: u64,
}

/// Names, each stored once, for all trees that are compared.
#[derive(Debug, Default)]
pub(super) struct Names {
    names: Vec<Rc<str>>,
    numbers: HashMap<Rc<str>, u32>,
}

/// The changes since another tree.
#[derive(Debug)]
pub(super) struct Changes {
    /// Each node's self and total time in the other tree.
    pub(super) before: Vec<(u64, u64)>,
    /// The self time of all stacks that occur only in the other tree.
    pub(super) vanished_ns: u64,
}

const ROOT: u32 = 0;

impl Names {
    pub(super) fn get(&self, number: u32) -> &str {
        self.names.get(number as usize).map_or("", |name| name)
    }

    fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        let name: Rc<str> = name.into();
        self.names.push(Rc::clone(&name));
        self.numbers.insert(name, number);
        number
    }
}

impl Tree {
    pub(super) fn build(
        processes: &[Process],
        options: &Options,
        names: &mut Names,
    ) -> Result<(Self, Summary), Error> {
        let root = Node {
            name: names.number("all"),
            ..Node::default()
        };
        let mut this = Self {
            nodes: vec![root],
            places: HashMap::new(),
            children: Vec::new(),
            minimums: HashSet::new(),
            notes: Vec::new(),
            limit: options.max_nodes,
        };
        let others = names.number(OTHERS);
        let mut summary = Summary::default();
        for (pid, process) in process::pids(processes).into_iter().zip(processes) {
            let tree = atf_analyze::tree(process, &until_latest(options));
            let label =
                (processes.len() > 1).then(|| format!("{} (pid {pid})", process::name(process)));
            // The positions of the current node and its ancestors.
            let mut stack = vec![match &label {
                None => ROOT,
                Some(label) => this.child(ROOT, names.number(label), others),
            }];
            for node in shallow(&tree.nodes) {
                let function = node.function_id.map(|id| process.function(id));
                let name = function.as_ref().map_or(OTHERS.into(), name_of);
                let depth = usize::try_from(node.depth).unwrap_or(usize::MAX);
                stack.truncate(depth.saturating_add(1));
                let parent = stack.last().copied().unwrap_or(ROOT);
                let place = this.child(parent, names.number(&name), others);
                stack.push(place);
                if let Some(found) = this.nodes.get_mut(place as usize) {
                    found.calls = found.calls.saturating_add(node.times.calls);
                    found.self_ns = found.self_ns.saturating_add(node.times.self_ns);
                }
                if node.times.at_least > 0 {
                    this.minimums.insert(place);
                }
            }
            let notes = notes_of_process(process, options, &tree.threads, &tree.problems);
            this.notes
                .extend(notes.into_iter().map(|note| match &label {
                    Some(label) => format!("{label}: {note}"),
                    None => note,
                }));
            summary.add(process, options, &tree.threads, tree.problems);
        }
        summary.is_cut = this.nodes.iter().any(|node| node.name == others);
        if summary.is_cut {
            let note = format!("some calls are combined as {OTHERS}: too many or too deep stacks");
            this.notes.push(note);
        }
        this.add_up();
        Ok((this, summary))
    }

    /// Returns a node's position, and adds the node if it is missing.
    fn child(&mut self, parent: u32, name: u32, others: u32) -> u32 {
        if let Some(place) = self.places.get(&(parent, name)) {
            return *place;
        }
        let is_full = self.nodes.len() > self.limit;
        let above = self.nodes.get(parent as usize);
        match u32::try_from(self.nodes.len()) {
            _ if is_full && name != others => match above {
                // Beyond the limit, all new children of a node are combined in one node.
                Some(above) if above.name == others => parent,
                _ => self.child(parent, others, others),
            },
            Ok(next) => {
                self.nodes.push(Node {
                    name,
                    parent,
                    ..Node::default()
                });
                self.places.insert((parent, name), next);
                next
            }
            Err(_) => parent,
        }
    }

    /// Sums the total times, children first: iterates in reverse, since each node comes after its
    /// parent. Sorts the children.
    fn add_up(&mut self) {
        for place in (0..self.nodes.len()).rev() {
            let Some(node) = self.nodes.get_mut(place) else {
                continue;
            };
            node.total_ns = node.total_ns.saturating_add(node.self_ns);
            let (parent, total_ns) = (node.parent as usize, node.total_ns);
            if place > 0
                && let Some(parent) = self.nodes.get_mut(parent)
            {
                parent.total_ns = parent.total_ns.saturating_add(total_ns);
            }
        }
        self.children = (0..)
            .zip(&self.nodes)
            .skip(1)
            .map(|(place, _)| place)
            .collect();
        let nodes = &self.nodes;
        let parent = |place: &u32| nodes.get(*place as usize).map(|node| node.parent);
        self.children.sort_by_key(parent);
    }

    pub(super) fn children(&self, place: u32) -> impl Iterator<Item = (u32, &Node)> {
        let node = |child: &u32| self.nodes.get(*child as usize);
        let parent = move |child: &u32| node(child).map(|node| node.parent);
        let first = self
            .children
            .partition_point(|child| parent(child) < Some(place));
        let rest = self.children.get(first..).unwrap_or_default().iter();
        let own = rest.take_while(move |child| parent(child) == Some(place));
        own.filter_map(move |child| Some((*child, node(child)?)))
    }

    /// Compares each node with the node that has the same stack in another tree.
    pub(super) fn compared_with(&self, other: &Self) -> Changes {
        let mut same: Vec<Option<u32>> = Vec::with_capacity(self.nodes.len());
        for (place, node) in self.nodes.iter().enumerate() {
            let parent = same.get(node.parent as usize).copied().flatten();
            same.push(match place {
                0 => Some(ROOT),
                _ => parent.and_then(|parent| other.places.get(&(parent, node.name)).copied()),
            });
        }
        let found = |place: &Option<u32>| {
            let node = other.nodes.get((*place)? as usize)?;
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

//! Merges the calls of all threads into one tree.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::table::Times;
use super::walk::{Began, Ended, Observer};
use super::{Options, ThreadTotals, Threads, Totals, run};
use crate::error::Result;
use crate::session::Problem;
use crate::spans::Unmatched;

/// A call tree, from [`tree`].
#[derive(Debug)]
#[non_exhaustive]
pub struct Tree {
    /// The nodes in depth-first order, each after its parent. A parent's children are sorted by
    /// descending total time, then by id.
    pub nodes: Vec<Node>,
    /// The threads that were read, by id.
    pub threads: Vec<ThreadTotals>,
    /// How the events differ from what the tracer wrote, and which threads were not read.
    pub problems: Vec<Problem>,
}

/// A function called through a particular stack of callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Node {
    /// The function; `None` for all calls under the parent that have no node of their own because
    /// the tree reached its [limit](Options::max_nodes).
    pub function_id: Option<u64>,
    /// How many callers are above it: 0 for outermost calls.
    pub depth: u32,
    /// The function's calls through these callers. Their total time is their self time plus the
    /// total times of the node's children.
    pub times: Times,
}

impl Tree {
    /// Returns the totals over all threads.
    #[must_use]
    pub fn totals(&self) -> Totals {
        Totals::of(&self.threads)
    }

    /// Returns whether the tree lacks calls because of [`max_nodes`](Options::max_nodes).
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.nodes.iter().any(|node| node.function_id.is_none())
    }
}

/// Returns the call tree of a trace: one node for each function under each distinct stack of
/// callers, with calls and times over all threads. For a single thread's tree, select the thread in
/// `options`.
///
/// Memory: about 200 bytes per node of the result (at most [`max_nodes`](Options::max_nodes)
/// nodes), and 130 bytes per node of each thread being read or waiting to be merged.
///
/// # Errors
///
/// Those of [`functions`](super::functions()).
pub fn tree<'a>(threads: impl Into<Threads<'a>>, options: &Options) -> Result<Tree> {
    let mut all = Growing::new(options.max_nodes);
    let new = || Growing::new(options.max_nodes);
    let (threads, problems) = run(&threads.into(), options, new, |thread| {
        all.merge(&thread);
    })?;
    Ok(Tree {
        nodes: all.into_nodes(),
        threads,
        problems,
    })
}

/// A tree to which calls are added.
struct Growing {
    /// Each node after its parent. The first one is the root, above the outermost calls.
    nodes: Vec<Branch>,
    /// By parent and function.
    children: HashMap<(u32, u64), u32>,
    limit: usize,
}

#[derive(Debug, Default)]
struct Branch {
    function_id: u64,
    parent: u32,
    times: Times,
    /// The calls below it that have no node.
    others: Times,
}

/// A node, or the calls below a node that have no node of their own.
#[derive(Debug, Clone, Copy)]
enum Place {
    Node(u32),
    Below(u32),
}

const ROOT: u32 = 0;

impl Growing {
    fn new(limit: usize) -> Self {
        Self {
            nodes: vec![Branch::default()],
            children: HashMap::new(),
            limit,
        }
    }

    fn child(&mut self, parent: u32, function_id: u64) -> Place {
        if let Some(node) = self.children.get(&(parent, function_id)) {
            return Place::Node(*node);
        }
        let Ok(node) = u32::try_from(self.nodes.len()) else {
            return Place::Below(parent);
        };
        // The root does not count.
        if self.nodes.len() > self.limit {
            return Place::Below(parent);
        }
        self.children.insert((parent, function_id), node);
        self.nodes.push(Branch {
            function_id,
            parent,
            ..Branch::default()
        });
        Place::Node(node)
    }

    #[expect(clippy::indexing_slicing, reason = "a place is that of a node")]
    fn times(&mut self, place: Place) -> &mut Times {
        match place {
            Place::Node(node) => &mut self.nodes[node as usize].times,
            Place::Below(node) => &mut self.nodes[node as usize].others,
        }
    }

    /// Adds another thread's tree.
    #[expect(clippy::indexing_slicing, reason = "each node is after its parent")]
    fn merge(&mut self, other: &Self) {
        let mut places: Vec<Place> = Vec::with_capacity(other.nodes.len());
        for (node, branch) in (0..).zip(&other.nodes) {
            let place = match node {
                ROOT => Place::Node(ROOT),
                _ => match places[branch.parent as usize] {
                    Place::Node(parent) => self.child(parent, branch.function_id),
                    below @ Place::Below(_) => below,
                },
            };
            places.push(place);
            self.times(place).add(&branch.times);
            let (Place::Node(above) | Place::Below(above)) = place;
            self.times(Place::Below(above)).add(&branch.others);
        }
    }

    /// Adds up the total times, and orders the nodes.
    #[expect(clippy::indexing_slicing, reason = "each node is after its parent")]
    fn into_nodes(mut self) -> Vec<Node> {
        for node in (0..self.nodes.len()).rev() {
            let branch = &mut self.nodes[node];
            branch.others.total_ns = branch.others.self_ns;
            let own_ns = [branch.times.self_ns, branch.others.total_ns];
            let below_ns = branch.times.total_ns;
            let total_ns = own_ns.into_iter().fold(below_ns, u64::saturating_add);
            branch.times.total_ns = total_ns;
            let parent = branch.parent as usize;
            if parent != node {
                let above = &mut self.nodes[parent].times;
                above.total_ns = above.total_ns.saturating_add(total_ns);
            }
        }
        let mut children: Vec<Vec<u32>> = vec![Vec::new(); self.nodes.len()];
        for (node, branch) in (ROOT..).zip(&self.nodes).skip(1) {
            if !branch.times.is_empty() {
                children[branch.parent as usize].push(node);
            }
        }
        self.in_order(&mut children)
    }

    #[expect(clippy::indexing_slicing, reason = "each child is a node")]
    fn in_order(&self, children: &mut [Vec<u32>]) -> Vec<Node> {
        let mut nodes = Vec::new();
        // The places to visit with their depths; the next one is last.
        let mut next = vec![(Place::Node(ROOT), 0_u32)];
        while let Some((place, depth)) = next.pop() {
            let (function_id, times) = match place {
                Place::Node(node) => {
                    let branch = &self.nodes[node as usize];
                    (Some(branch.function_id), branch.times)
                }
                Place::Below(node) => (None, self.nodes[node as usize].others),
            };
            if !matches!(place, Place::Node(ROOT)) {
                nodes.push(Node {
                    function_id,
                    // The root is not shown.
                    depth: depth.saturating_sub(1),
                    times,
                });
            }
            let Place::Node(node) = place else {
                continue;
            };
            let depth = depth.saturating_add(1);
            if !self.nodes[node as usize].others.is_empty() {
                next.push((Place::Below(node), depth));
            }
            let mut below = std::mem::take(&mut children[node as usize]);
            below.sort_unstable_by_key(|child| {
                let branch = &self.nodes[*child as usize];
                (branch.times.total_ns, Reverse(branch.function_id))
            });
            next.extend(below.into_iter().map(|child| (Place::Node(child), depth)));
        }
        nodes
    }
}

impl Observer for Growing {
    type Place = Place;

    fn call(&mut self, caller: Option<Place>, call: &Began<'_>) -> Place {
        let function_id = call.event.function_id;
        match caller {
            None => self.child(ROOT, function_id),
            Some(Place::Node(node)) => self.child(node, function_id),
            Some(below @ Place::Below(_)) => below,
        }
    }

    fn spend(&mut self, place: Place, ns: u64) {
        let times = self.times(place);
        times.self_ns = times.self_ns.saturating_add(ns);
    }

    fn end(&mut self, place: Place, ended: &Ended) {
        self.times(place).count(ended);
    }

    fn unmatched(&mut self, _: &Unmatched, _: u64) {}
}

//! Merges the calls of all threads into one tree.

use std::cmp::Reverse;
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

use atf::spans::Unmatched;
use atf::trace::Process;

use crate::places::Places;
use crate::table::Times;
use crate::walk::{Began, Ended, Observer};
use crate::{Options, Problem, ThreadTotals, Totals, jobs, on_any_cores, run};

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
    /// The function; `None` for the node that collects the remaining calls under the parent,
    /// because the tree reached its [limit](Options::max_nodes).
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
        Totals::sum(&self.threads)
    }

    /// Returns whether some calls have no node of their own because of
    /// [`max_nodes`](Options::max_nodes).
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.nodes.iter().any(|node| node.function_id.is_none())
    }
}

/// Returns the call tree of a trace: one node for each function under each distinct stack of
/// callers, with calls and times over all threads. For a single thread's tree, select the thread in
/// `options`.
///
/// Memory: about 130 bytes per node of the result (at most [`max_nodes`](Options::max_nodes)
/// nodes), plus 20 MB in total for the threads being read, which merge their nodes into the result
/// as they go. Open calls add to this: 30 MB per core if 262,144 are open. If the tree reaches its
/// limit, the trace is read again, one thread after another, so that the nodes do not depend on the
/// number of cores.
#[must_use]
pub fn tree(process: impl Into<Process>, options: &Options) -> Tree {
    let process = process.into();
    on_any_cores(options, |options| read(&process, options))
}

/// Builds the tree. Also returns whether some calls have no node because of the limit.
fn read(process: &Process, options: &Options) -> (Tree, bool) {
    let all = Mutex::new(Growing::new(options.max_nodes));
    let least = NODES_OF_THREADS.min(options.max_nodes) / jobs(options.jobs);
    let new = || Merging {
        all: &all,
        own: Growing::new(usize::MAX),
        least,
        most: least,
    };
    let (threads, problems) = run(process, options, new);
    let all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    let is_full = all.rest > 0;
    let nodes = all.into_nodes();
    let tree = Tree {
        nodes,
        threads,
        problems,
    };
    (tree, is_full)
}

/// The total number of nodes that the threads being read may hold before they merge them into the
/// result.
const NODES_OF_THREADS: usize = 1 << 17;

/// A tree to which calls are added.
struct Growing {
    /// The nodes, each after its parent. The first one is the root, above the outermost calls.
    places: Places<Key>,
    /// The times of each node.
    times: Vec<Times>,
    limit: usize,
    /// The number of nodes that collect remaining calls. They do not count towards the limit.
    rest: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    function_id: u64,
    parent: u32,
    /// Whether the node collects the remaining calls under the parent, which have no other node.
    is_rest: bool,
}

const ROOT: u32 = 0;

impl Growing {
    fn new(limit: usize) -> Self {
        let root = Key {
            function_id: 0,
            // No node has this position, so no function has this key.
            parent: u32::MAX,
            is_rest: false,
        };
        let mut places = Places::new();
        places.add(root);
        Self {
            places,
            times: vec![Times::default()],
            limit: limit.min(MOST_NODES),
            rest: 0,
        }
    }

    #[expect(
        clippy::indexing_slicing,
        reason = "each place is the position of a node"
    )]
    fn times(&mut self, place: u32) -> &mut Times {
        &mut self.times[place as usize]
    }

    /// Returns the function's child node of `parent`. Adds the node if it is missing and there is
    /// room.
    #[expect(
        clippy::indexing_slicing,
        reason = "each place is the position of a node"
    )]
    fn child(&mut self, parent: u32, function_id: u64) -> u32 {
        if self.places.keys()[parent as usize].is_rest {
            return parent;
        }
        let key = Key {
            function_id,
            parent,
            is_rest: false,
        };
        // The root does not count towards the limit.
        let is_full = self.times.len().saturating_sub(self.rest) > self.limit;
        self.place(key, !is_full)
            .unwrap_or_else(|| self.rest_of(parent))
    }

    /// Returns the node for the remaining calls under a node.
    fn rest_of(&mut self, parent: u32) -> u32 {
        let key = Key {
            function_id: 0,
            parent,
            is_rest: true,
        };
        let before = self.times.len();
        let place = self.place(key, true).unwrap_or(parent);
        self.rest = self
            .rest
            .saturating_add(self.times.len().saturating_sub(before));
        place
    }

    fn place(&mut self, key: Key, may_add: bool) -> Option<u32> {
        let place = self.places.find(&key);
        let next = u32::try_from(self.times.len()).ok().filter(|_| may_add);
        if place.is_some() || next.is_none() {
            return place;
        }
        self.times.push(Times::default());
        self.places.add(key);
        next
    }

    /// Adds the nodes of `other`, which has no limit.
    #[expect(clippy::indexing_slicing, reason = "each node is after its parent")]
    fn merge(&mut self, other: &Self) {
        let mut places = vec![ROOT];
        for (key, times) in other.places.keys().iter().zip(&other.times).skip(1) {
            let place = self.child(places[key.parent as usize], key.function_id);
            places.push(place);
            self.times(place).add(times);
        }
    }

    /// Adds up the total times, and orders the nodes.
    #[expect(clippy::indexing_slicing, reason = "each node is after its parent")]
    fn into_nodes(self) -> Vec<Node> {
        let (keys, mut times) = (self.places.into_keys(), self.times);
        for place in (1..times.len()).rev() {
            let own = &mut times[place];
            own.total_ns = own.total_ns.saturating_add(own.self_ns);
            let total_ns = own.total_ns;
            let above = &mut times[keys[place].parent as usize];
            above.total_ns = above.total_ns.saturating_add(total_ns);
        }
        let is_reported = |place: &u32| !times[*place as usize].is_empty();
        let mut children: Vec<u32> = (ROOT..)
            .take(times.len())
            .skip(1)
            .filter(is_reported)
            .collect();
        children.sort_unstable_by_key(|place| {
            let key = &keys[*place as usize];
            let id = Reverse((key.is_rest, key.function_id));
            // Nodes for the remaining calls come last, whatever their times.
            let total_ns = (!key.is_rest).then_some(times[*place as usize].total_ns);
            (key.parent, total_ns, id)
        });
        // The children of `parent` are `starts[parent]..starts[parent + 1]`, last one first.
        let mut starts = vec![0_u32; times.len().saturating_add(1)];
        for child in &children {
            let next = keys[*child as usize].parent.saturating_add(1) as usize;
            starts[next] = starts[next].saturating_add(1);
        }
        let mut sum = 0_u32;
        for start in &mut starts {
            sum = sum.saturating_add(*start);
            *start = sum;
        }
        let below = |place: u32| {
            let ends = [place, place.saturating_add(1)].map(|place| starts[place as usize]);
            &children[ends[0] as usize..ends[1] as usize]
        };
        let mut nodes = Vec::with_capacity(children.len());
        // The nodes to visit, with their depths. The last one is visited next.
        let mut next: Vec<(u32, u32)> = below(ROOT).iter().map(|child| (*child, 0)).collect();
        while let Some((place, depth)) = next.pop() {
            let key = &keys[place as usize];
            nodes.push(Node {
                function_id: (!key.is_rest).then_some(key.function_id),
                depth,
                times: times[place as usize],
            });
            let depth = depth.saturating_add(1);
            next.extend(below(place).iter().map(|child| (*child, depth)));
        }
        nodes
    }
}

/// The largest limit for which the positions of all nodes, including those for the remaining
/// calls, fit in 32 bits.
const MOST_NODES: usize = 1 << 30;

/// A thread's tree, which is merged into the tree of all threads whenever it has many nodes.
struct Merging<'a> {
    all: &'a Mutex<Growing>,
    own: Growing,
    /// The smallest number of nodes worth merging.
    least: usize,
    /// The number of nodes at which the next merge is due.
    most: usize,
}

impl Merging<'_> {
    /// Merges the tree and empties it. Returns the keys of its nodes.
    fn hand_over(&mut self) -> Vec<Key> {
        let own = mem::replace(&mut self.own, Growing::new(usize::MAX));
        let mut all: MutexGuard<'_, _> = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.merge(&own);
        own.places.into_keys()
    }
}

impl Observer for Merging<'_> {
    /// The position of a node.
    type Place = u32;

    fn call(&mut self, caller: Option<u32>, call: &Began<'_>) -> u32 {
        self.own
            .child(caller.unwrap_or(ROOT), call.event.function_id)
    }

    fn spend(&mut self, place: u32, ns: u64) {
        let times = self.own.times(place);
        times.self_ns = times.self_ns.saturating_add(ns);
    }

    fn end(&mut self, place: u32, ended: &Ended) {
        self.own.times(place).count(ended);
    }

    fn unmatched(&mut self, _: &Unmatched, _: u64) {}

    #[expect(
        clippy::indexing_slicing,
        reason = "each place is the position of a node"
    )]
    fn tidy<'p>(&mut self, open: impl Iterator<Item = &'p mut u32>) {
        if self.own.times.len() < self.most {
            return;
        }
        let old = self.hand_over();
        // Keep the open calls and their callers.
        let mut kept = vec![ROOT; old.len()];
        let mut path = Vec::new();
        for place in open {
            let mut above = *place;
            while above != ROOT && kept[above as usize] == ROOT {
                path.push(above);
                above = old[above as usize].parent;
            }
            while let Some(node) = path.pop() {
                let key = &old[node as usize];
                kept[node as usize] = self.own.child(kept[key.parent as usize], key.function_id);
            }
            *place = kept[*place as usize];
        }
        self.most = self.least.max(self.own.times.len().saturating_mul(2));
    }

    fn finish(&mut self) {
        self.hand_over();
    }
}

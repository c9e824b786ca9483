//! Merges the tables of threads into one while the threads are read, so memory use depends on the
//! size of the result but not on the number of threads.

use std::hash::Hash;
use std::num::NonZero;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::durations::COARSEST;
use crate::table::{Place, Table};

/// The total number of rows that the threads being read may hold before they merge them into the
/// table of all threads.
const ROWS_OF_THREADS: usize = 1 << 16;
/// The total number of duration buckets that those threads may hold before they merge.
const BUCKETS_OF_THREADS: usize = 1 << 18;
/// The number of buckets that a thread may always hold, so that many cores do not wait for each
/// other's merges.
const BUCKETS_OF_THREAD: usize = 1 << 14;

/// A row's figures other than its times.
pub(crate) trait Figures: Default {
    /// Adds the figures of another thread. `coarseness` is the coarseness of all rows' durations.
    /// Returns the number of new buckets.
    fn merge(&mut self, other: Self, coarseness: u32) -> usize;

    /// Coarsens the durations, and returns the number of their buckets.
    fn coarsen(&mut self, coarseness: u32) -> usize;
}

impl Figures for () {
    fn merge(&mut self, (): Self, _: u32) -> usize {
        0
    }

    fn coarsen(&mut self, _: u32) -> usize {
        0
    }
}

/// The table of all threads.
pub(crate) struct Merged<K, V> {
    pub(crate) table: Table<K, V>,
    /// How many buckets the durations of all rows have in total.
    buckets: usize,
    max_buckets: usize,
    /// How many times the durations were coarsened to limit the number of buckets.
    pub(crate) coarseness: u32,
}

impl<K: Hash + Eq + Copy, V: Figures> Merged<K, V> {
    pub(crate) fn new(max_rows: usize, max_buckets: usize) -> Self {
        Self {
            table: Table::new(max_rows),
            buckets: 0,
            max_buckets,
            coarseness: 0,
        }
    }

    /// Adds the rows of a thread. The coarseness does not depend on the order in which rows are
    /// added: it is the lowest one at which the buckets of all threads stay within the limit.
    fn add(&mut self, own: Table<K, V>) {
        let (buckets, coarseness) = (&mut self.buckets, self.coarseness);
        self.table.merge(own, |all, one| {
            *buckets = buckets.saturating_add(all.merge(one, coarseness));
        });
        while self.buckets > self.max_buckets && self.coarseness < COARSEST {
            self.coarseness = self.coarseness.saturating_add(1);
            let values = self.table.values();
            let counts = values.map(|value| value.coarsen(self.coarseness));
            self.buckets = counts.fold(0, usize::saturating_add);
        }
    }
}

/// A thread's table. Whenever it grows too large, it is merged into the table of all threads.
pub(crate) struct Merging<'a, K, V> {
    pub(crate) table: Table<K, V>,
    /// How many buckets the durations of the thread's rows have in total.
    pub(crate) buckets: usize,
    all: &'a Mutex<Merged<K, V>>,
    /// The numbers of rows and buckets at which the next merge is due.
    most: (usize, usize),
    /// The smallest number of rows worth merging.
    least: usize,
}

impl<'a, K: Hash + Eq + Copy, V: Figures> Merging<'a, K, V> {
    /// Creates the table of one of `jobs` threads that are read in parallel.
    pub(crate) fn new(all: &'a Mutex<Merged<K, V>>, jobs: NonZero<usize>) -> Self {
        let least = ROWS_OF_THREADS / jobs;
        Self {
            table: Table::new(usize::MAX),
            buckets: 0,
            all,
            most: (least, (BUCKETS_OF_THREADS / jobs).max(BUCKETS_OF_THREAD)),
            least,
        }
    }

    /// Merges the table if it is large. `open` are the places of the open calls.
    pub(crate) fn tidy<'p>(&mut self, open: impl Iterator<Item = &'p mut Place>) {
        if self.table.len() < self.most.0 && self.buckets < self.most.1 {
            return;
        }
        let kept = self.table.split(open);
        self.hand_over();
        self.table = kept;
        self.most.0 = self.least.max(self.table.len().saturating_mul(2));
    }

    /// Merges the table into the table of all threads, and empties it.
    pub(crate) fn hand_over(&mut self) {
        let own = std::mem::replace(&mut self.table, Table::new(usize::MAX));
        self.buckets = 0;
        let mut all: MutexGuard<'_, _> = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.add(own);
    }
}

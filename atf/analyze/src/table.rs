//! Adds up times per key. Calls may be nested in calls with the same key.

use std::hash::Hash;

use crate::places::{Keyed, Places};
use crate::walk::Ended;

/// The calls and times of a function or a pair of functions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Times {
    /// The number of calls.
    pub calls: u64,
    /// How many of these calls were not ended by an event, because they were still open after the
    /// thread's last event, or were given up when too many calls were open
    /// ([`CallStack::LIMIT`](atf::spans::CallStack::LIMIT)).
    pub open: u64,
    /// How many of the open calls last at least until the process's last event, because the process
    /// died and the thread's events are complete. The times are then minimums.
    pub at_least: u64,
    /// The time during which one of these calls was the innermost open call, in nanoseconds.
    pub self_ns: u64,
    /// The time during which at least one of these calls was open, in nanoseconds, added up over
    /// threads. Recursive calls count once.
    pub total_ns: u64,
}

impl Times {
    pub(crate) fn add(&mut self, other: &Self) {
        self.calls = self.calls.saturating_add(other.calls);
        self.open = self.open.saturating_add(other.open);
        self.at_least = self.at_least.saturating_add(other.at_least);
        self.self_ns = self.self_ns.saturating_add(other.self_ns);
        self.total_ns = self.total_ns.saturating_add(other.total_ns);
    }

    pub(crate) fn count(&mut self, ended: &Ended) {
        if ended.is_counted {
            self.calls = self.calls.saturating_add(1);
            self.open = self.open.saturating_add((!ended.is_known).into());
            self.at_least = self.at_least.saturating_add(ended.is_minimum.into());
        }
    }

    /// Returns whether there are no calls and no time to report.
    pub(crate) fn is_empty(&self) -> bool {
        self.calls == 0 && self.total_ns == 0
    }
}

/// The times per key. Keys beyond the limit share one row.
#[derive(Debug)]
pub(crate) struct Table<K, V> {
    rows: Vec<Row<K, V>>,
    places: Places,
    /// The sums over keys without a row.
    others: Row<(), V>,
    limit: usize,
    /// Whether a key has no row because of the limit.
    pub(crate) is_full: bool,
}

/// The position of a key's row; `None` if the key has no row.
pub(crate) type Place = Option<u32>;

#[derive(Debug)]
struct Row<K, V> {
    key: K,
    times: Times,
    /// The number of open calls.
    active: u32,
    /// When the first of the open calls began.
    since_ns: u64,
    value: V,
}

impl<K: Hash + Eq, V> Keyed for Row<K, V> {
    type Key = K;

    fn key(&self) -> &K {
        &self.key
    }
}

impl<K, V: Default> Row<K, V> {
    fn new(key: K) -> Self {
        Self {
            key,
            times: Times::default(),
            active: 0,
            since_ns: 0,
            value: V::default(),
        }
    }
}

impl<K: Hash + Eq + Copy, V: Default> Table<K, V> {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            rows: Vec::new(),
            places: Places::default(),
            others: Row::new(()),
            limit,
            is_full: false,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns the values of all rows, and of the keys without a row.
    pub(crate) fn values(&mut self) -> impl Iterator<Item = &mut V> {
        let rows = self.rows.iter_mut().map(|row| &mut row.value);
        rows.chain([&mut self.others.value])
    }

    /// Returns a new table in which the open calls can continue after this table is merged into
    /// another one. Updates the calls' places to the new table.
    pub(crate) fn split<'p>(&self, open: impl Iterator<Item = &'p mut Place>) -> Self {
        let mut next = Self::new(self.limit);
        for place in open {
            if let Some(row) = place.and_then(|at| self.rows.get(at as usize)) {
                *place = next.place(row.key);
                let (_, active, since_ns, _) = next.parts(*place);
                (*active, *since_ns) = (row.active, row.since_ns);
            }
        }
        next
    }

    /// Returns a key's place, adding a row for the key if there is room.
    pub(crate) fn place(&mut self, key: K) -> Place {
        if let Some(place) = self.places.find(&self.rows, &key) {
            return Some(place);
        }
        let next = u32::try_from(self.rows.len()).ok();
        let next = next.filter(|_| self.rows.len() < self.limit);
        self.is_full |= next.is_none();
        let place = next?;
        self.rows.push(Row::new(key));
        self.places.add(&self.rows);
        Some(place)
    }

    pub(crate) fn value(&mut self, place: Place) -> &mut V {
        self.parts(place).3
    }

    pub(crate) fn begin(&mut self, place: Place, now_ns: u64) {
        let (_, active, since_ns, _) = self.parts(place);
        if *active == 0 {
            *since_ns = now_ns;
        }
        *active = active.saturating_add(1);
    }

    pub(crate) fn spend(&mut self, place: Place, ns: u64) {
        let (times, ..) = self.parts(place);
        times.self_ns = times.self_ns.saturating_add(ns);
    }

    pub(crate) fn end(&mut self, place: Place, ended: &Ended) {
        let (times, active, since_ns, _) = self.parts(place);
        times.count(ended);
        *active = active.saturating_sub(1);
        if *active == 0 {
            let ns = ended.now_ns.saturating_sub(*since_ns);
            times.total_ns = times.total_ns.saturating_add(ns);
        }
    }

    #[expect(
        clippy::indexing_slicing,
        reason = "each place is the position of a row"
    )]
    fn parts(&mut self, place: Place) -> (&mut Times, &mut u32, &mut u64, &mut V) {
        fn parts<K, V>(row: &mut Row<K, V>) -> (&mut Times, &mut u32, &mut u64, &mut V) {
            let since_ns = &mut row.since_ns;
            (&mut row.times, &mut row.active, since_ns, &mut row.value)
        }
        match place {
            Some(place) => parts(&mut self.rows[place as usize]),
            None => parts(&mut self.others),
        }
    }

    /// Adds another thread's rows.
    pub(crate) fn merge(&mut self, other: Self, mut add: impl FnMut(&mut V, V)) {
        for row in other.rows {
            let place = self.place(row.key);
            let (times, _, _, value) = self.parts(place);
            times.add(&row.times);
            add(value, row.value);
        }
        self.others.times.add(&other.others.times);
        add(&mut self.others.value, other.others.value);
    }

    /// Returns the rows, and the sums over keys without a row.
    pub(crate) fn into_rows(self) -> (impl Iterator<Item = (K, Times, V)>, (Times, V)) {
        let rows = self.rows.into_iter();
        let rows = rows.map(|row| (row.key, row.times, row.value));
        (rows, (self.others.times, self.others.value))
    }
}

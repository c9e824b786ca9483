//! Adds up times per key. Calls may be nested in calls with the same key.

use std::hash::Hash;

use crate::places::Places;
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
            self.open = self.open.saturating_add((!ended.how.is_known()).into());
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
    places: Places<K>,
    /// The row of each key, by position.
    rows: Vec<Row<V>>,
    /// The sums over keys without a row.
    others: Row<V>,
    limit: usize,
    /// Whether a key has no row because of the limit.
    pub(crate) is_full: bool,
}

/// The position of a key's row; `None` if the key has no row.
pub(crate) type Place = Option<u32>;

#[derive(Debug, Default)]
struct Row<V> {
    times: Times,
    /// The number of open calls.
    active: u32,
    /// When the first of the open calls began.
    since_ns: u64,
    value: V,
}

impl<K: Hash + Eq + Copy, V: Default> Table<K, V> {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            places: Places::new(),
            rows: Vec::new(),
            others: Row::default(),
            limit,
            is_full: false,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns the values of all rows, and of the keys without a row.
    pub(crate) fn values(&mut self) -> impl Iterator<Item = &mut V> {
        let rows = self.rows.iter_mut().chain([&mut self.others]);
        rows.map(|row| &mut row.value)
    }

    /// Returns a new table in which the open calls can continue after this table is merged into
    /// another one. Updates the calls' places to the new table.
    pub(crate) fn split<'p>(&self, open: impl Iterator<Item = &'p mut Place>) -> Self {
        let mut next = Self::new(self.limit);
        for place in open {
            if let Some(at) = *place
                && let Some(key) = self.places.keys().get(at as usize)
                && let Some(row) = self.rows.get(at as usize)
            {
                *place = next.place(*key);
                let new = next.row(*place);
                (new.active, new.since_ns) = (row.active, row.since_ns);
            }
        }
        next
    }

    /// Returns a key's place, adding a row for the key if there is room.
    pub(crate) fn place(&mut self, key: K) -> Place {
        if let Some(place) = self.places.find(&key) {
            return Some(place);
        }
        let next = u32::try_from(self.rows.len()).ok();
        let next = next.filter(|_| self.rows.len() < self.limit);
        self.is_full |= next.is_none();
        let place = next?;
        self.rows.push(Row::default());
        self.places.add(key);
        Some(place)
    }

    pub(crate) fn value(&mut self, place: Place) -> &mut V {
        &mut self.row(place).value
    }

    pub(crate) fn begin(&mut self, place: Place, now_ns: u64) {
        let row = self.row(place);
        if row.active == 0 {
            row.since_ns = now_ns;
        }
        row.active = row.active.saturating_add(1);
    }

    pub(crate) fn spend(&mut self, place: Place, ns: u64) {
        let times = &mut self.row(place).times;
        times.self_ns = times.self_ns.saturating_add(ns);
    }

    pub(crate) fn end(&mut self, place: Place, ended: &Ended) {
        let row = self.row(place);
        row.times.count(ended);
        row.active = row.active.saturating_sub(1);
        if row.active == 0 {
            let ns = ended.now_ns.saturating_sub(row.since_ns);
            row.times.total_ns = row.times.total_ns.saturating_add(ns);
        }
    }

    #[expect(
        clippy::indexing_slicing,
        reason = "each place is the position of a row"
    )]
    fn row(&mut self, place: Place) -> &mut Row<V> {
        match place {
            Some(place) => &mut self.rows[place as usize],
            None => &mut self.others,
        }
    }

    /// Adds another thread's rows.
    pub(crate) fn merge(&mut self, other: Self, mut add: impl FnMut(&mut V, V)) {
        for (key, from) in other.places.into_keys().into_iter().zip(other.rows) {
            let place = self.place(key);
            let row = self.row(place);
            row.times.add(&from.times);
            add(&mut row.value, from.value);
        }
        self.others.times.add(&other.others.times);
        add(&mut self.others.value, other.others.value);
    }

    /// Returns the rows, and the sums over keys without a row.
    pub(crate) fn into_rows(self) -> (impl Iterator<Item = (K, Times, V)>, (Times, V)) {
        let rows = self.places.into_keys().into_iter().zip(self.rows);
        let rows = rows.map(|(key, row)| (key, row.times, row.value));
        (rows, (self.others.times, self.others.value))
    }
}

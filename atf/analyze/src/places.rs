//! Finds rows by key, using a fifth of the memory of a `HashMap`, which would store each key a
//! second time.

use std::hash::{BuildHasher as _, Hash, RandomState};

/// A row of a table, or a node of a tree.
pub(crate) trait Keyed {
    type Key: Hash + Eq;

    fn key(&self) -> &Self::Key;
}

/// The positions of rows in a list, by their keys' hashes. The caller owns the list.
#[derive(Debug, Default)]
pub(crate) struct Places {
    hasher: RandomState,
    /// Each slot holds a row's position plus one, or 0 if it is empty. The length is 0 or a power
    /// of two.
    slots: Vec<u32>,
}

impl Places {
    /// Returns the position of the key's row.
    pub(crate) fn find<R: Keyed>(&self, rows: &[R], key: &R::Key) -> Option<u32> {
        for slot in self.probe(key) {
            // An empty slot ends the search: the key has no row.
            let place = self.slots.get(slot)?.checked_sub(1)?;
            if rows.get(place as usize)?.key() == key {
                return Some(place);
            }
        }
        None
    }

    /// Adds the position of the last row.
    pub(crate) fn add<R: Keyed>(&mut self, rows: &[R]) {
        // Grow the table once two thirds of the slots are in use.
        if rows.len().saturating_mul(3) > self.slots.len().saturating_mul(2) {
            let size = self.slots.len().saturating_mul(2).max(64);
            self.slots = vec![0; size];
            (1..=rows.len()).for_each(|count| self.insert(rows, count));
        } else {
            self.insert(rows, rows.len());
        }
    }

    /// Inserts the position of the row at `count - 1`.
    fn insert<R: Keyed>(&mut self, rows: &[R], count: usize) {
        let row = count.checked_sub(1).and_then(|last| rows.get(last));
        let free = row.and_then(|row| {
            self.probe(row.key())
                .find(|slot| self.slots.get(*slot) == Some(&0))
        });
        let free = free.and_then(|free| self.slots.get_mut(free));
        if let (Some(free), Ok(count)) = (free, u32::try_from(count)) {
            *free = count;
        }
    }

    /// Returns the slots in which the key may be, in search order.
    fn probe<K: Hash>(&self, key: &K) -> impl Iterator<Item = usize> + use<K> {
        let mask = self.slots.len().wrapping_sub(1);
        // A table has fewer than 2³² slots.
        let low = self.hasher.hash_one(key) & u64::from(u32::MAX);
        let first = usize::try_from(low).unwrap_or_default();
        (0..self.slots.len()).map(move |at| first.wrapping_add(at) & mask)
    }
}

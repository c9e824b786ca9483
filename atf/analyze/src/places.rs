//! Numbers keys, using a fifth of the memory of a `HashMap` from keys to numbers, which would store
//! each key a second time.

use std::hash::{BuildHasher as _, Hash, RandomState};

/// Keys of rows or nodes, by position, and their positions by hash.
#[derive(Debug)]
pub(crate) struct Places<K> {
    keys: Vec<K>,
    hasher: RandomState,
    /// Each slot holds a key's position plus one, or 0 if it is empty. The length is 0 or a power
    /// of two.
    slots: Vec<u32>,
}

impl<K: Hash + Eq> Places<K> {
    pub(crate) fn new() -> Self {
        Self {
            keys: Vec::new(),
            hasher: RandomState::new(),
            slots: Vec::new(),
        }
    }

    /// Returns the keys, by position.
    pub(crate) fn keys(&self) -> &[K] {
        &self.keys
    }

    pub(crate) fn into_keys(self) -> Vec<K> {
        self.keys
    }

    /// Returns a key's position.
    pub(crate) fn find(&self, key: &K) -> Option<u32> {
        for slot in self.probe(key) {
            // An empty slot ends the search: the key was not added.
            let place = self.slots.get(slot)?.checked_sub(1)?;
            if self.keys.get(place as usize)? == key {
                return Some(place);
            }
        }
        None
    }

    /// Adds a key after the others. It must not have been added before.
    pub(crate) fn add(&mut self, key: K) {
        self.keys.push(key);
        // Grow the table once two thirds of the slots are in use.
        if self.keys.len().saturating_mul(3) > self.slots.len().saturating_mul(2) {
            let size = self.slots.len().saturating_mul(2).max(64);
            self.slots = vec![0; size];
            (1..=self.keys.len()).for_each(|count| self.insert(count));
        } else {
            self.insert(self.keys.len());
        }
    }

    /// Inserts the position of the key at `count - 1`.
    fn insert(&mut self, count: usize) {
        let key = count.checked_sub(1).and_then(|last| self.keys.get(last));
        let free = key.and_then(|key| {
            self.probe(key)
                .find(|slot| self.slots.get(*slot) == Some(&0))
        });
        let free = free.and_then(|free| self.slots.get_mut(free));
        if let (Some(free), Ok(count)) = (free, u32::try_from(count)) {
            *free = count;
        }
    }

    /// Returns the slots in which the key may be, in search order.
    fn probe(&self, key: &K) -> impl Iterator<Item = usize> + use<K> {
        let mask = self.slots.len().wrapping_sub(1);
        // A table has fewer than 2³² slots.
        let low = self.hasher.hash_one(key) & u64::from(u32::MAX);
        let first = usize::try_from(low).unwrap_or_default();
        (0..self.slots.len()).map(move |at| first.wrapping_add(at) & mask)
    }
}

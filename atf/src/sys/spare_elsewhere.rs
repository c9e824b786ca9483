//! A stub for systems where a mapped file cannot be replaced.

use std::fs::File;

/// No file.
#[derive(Debug)]
pub struct Spare;

impl Spare {
    /// Maps nothing.
    pub fn map(_file: &File, _size: usize, _old: Option<Self>) -> Option<Self> {
        None
    }

    /// Returns 0.
    pub fn size(&self) -> u64 {
        0
    }

    /// Stores nothing.
    pub fn store(&self, _text: &[u8]) -> bool {
        false
    }
}

//! A thread that takes part in a merge.

use crate::error::Result;
use crate::index::IndexReader;

/// An open thread, under the id of its folder.
#[derive(Debug)]
pub(super) struct Thread {
    id: u32,
    index: IndexReader,
}

impl Thread {
    pub(super) fn new(id: u32, index: IndexReader) -> Self {
        Self { id, index }
    }

    /// The id in the folder's name.
    pub(super) fn id(&self) -> u32 {
        self.id
    }

    pub(super) fn index(&self) -> &IndexReader {
        &self.index
    }

    /// Whether no event has a timestamp below that of the one before it. The first call reads all
    /// events, later ones know.
    pub(super) fn is_ordered(&self) -> Result<bool> {
        Ok(self.index.scan()?.is_ordered())
    }
}

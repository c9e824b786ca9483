//! `manifest.json`: a session's threads, clock and time range, and the names of functions.
//!
//! No source defines its schema, so this module uses the one that known tracers write. The manifest
//! is written before the thread files are finalized, so it may be wrong or missing after a crash.
//! It is not needed for reading the events.
//!
//! ```
//! use atf::manifest::Manifest;
//!
//! let text = r#"{"threads": [{"id": 0, "has_detail": true}, {"id": "../1"}]}"#;
//! let manifest = Manifest::parse(text.as_bytes());
//! assert_eq!(manifest.threads[0].id, 0);
//! assert_eq!(manifest.threads.len(), 1);
//!
//! let problem = &manifest.problems[0];
//! assert_eq!(problem.field(), Some("threads[1].id"));
//! assert_eq!(problem.offset(), Some(51));
//! ```

#[rustfmt::skip]
mod generated;
mod json;
mod losses;
mod missing;
mod names;
mod read;
mod write;

pub(crate) use generated::key;
pub use generated::{Cut, Damage, Loss, Manifest, ManifestThread, Module, Symbol};
pub use losses::{LossKind, Losses};
pub use missing::Missing;
pub(crate) use names::{with_ended_by, with_symbols};
pub(crate) use read::{bytes_in_session, unknown_keys};

/// The type of an anchor's `media_timescale`, without which times cannot be converted.
pub(crate) const TIMESCALE: &str = "an i32 greater than 0";

impl Loss {
    /// Returns the sum of this loss and the loss of other events.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            count: self.count.saturating_add(other.count),
            first_ns: self.first_ns.min(other.first_ns),
            last_ns: self.last_ns.max(other.last_ns),
        }
    }
}

impl Module {
    /// Sets the path of the module's file.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Sets the module's load address.
    #[must_use]
    pub const fn base_address(mut self, base_address: u64) -> Self {
        self.base_address = Some(base_address);
        self
    }

    /// Sets the module's size in memory, in bytes.
    #[must_use]
    pub const fn size(mut self, size: u64) -> Self {
        self.size = Some(size);
        self
    }

    /// Sets the module's build id.
    #[must_use]
    pub fn uuid(mut self, uuid: impl Into<String>) -> Self {
        self.uuid = Some(uuid.into());
        self
    }

    /// Sets whether the lower halves of the module's function ids are offsets from its load
    /// address.
    #[must_use]
    pub const fn function_offsets(mut self, function_offsets: bool) -> Self {
        self.function_offsets = Some(function_offsets);
        self
    }
}

impl Symbol {
    /// Creates the name of a function; its module and index are the halves of `function_id`.
    #[must_use]
    pub fn new(function_id: u64, name: impl Into<String>) -> Self {
        let [module_id, symbol_index] = [function_id >> 32, function_id & u64::from(u32::MAX)]
            .map(|half| u32::try_from(half).ok());
        Self {
            module_id,
            symbol_index,
            name: Some(name.into()),
            ..Self::unnamed(function_id)
        }
    }
}

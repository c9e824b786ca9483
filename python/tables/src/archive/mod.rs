//! Archives: the tables of a session as Parquet files, plus everything else needed to restore its
//! files byte for byte.
//!
//! The table `files` lists the parts of each file. Wherever rows of the tables `events` and
//! `details` encode to a file's bytes, `files` refers to the rows. All other bytes are stored in
//! `files` itself.

mod encode;
mod files;
mod pack;
mod parts;
mod read;
mod restore;
mod sink;
#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]
mod tests;
mod tree;

use std::path::{Path, PathBuf};

pub use pack::{Packed, pack};
pub use restore::{Unpacked, unpack};

use crate::error::Error;
use crate::table::Table;

/// The archive's layout version, stored in the metadata of its table `files`.
const VERSION: &str = "1";

/// The paths of a session's tables in an archive.
struct Layout {
    archive: PathBuf,
    /// The path below each table's folder: `host=H/session=S`.
    place: PathBuf,
}

impl Layout {
    fn folder(&self, table: Table) -> PathBuf {
        self.archive.join(table.name()).join(&self.place)
    }

    fn files(&self) -> PathBuf {
        self.folder(Table::Files).join("files.parquet")
    }
}

// Errors are passed by value, for use with `map_err`.
#[allow(clippy::needless_pass_by_value)]
fn bad(path: &Path, why: impl ToString) -> Error {
    Error::File {
        path: path.to_path_buf(),
        why: why.to_string(),
    }
}

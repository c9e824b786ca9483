//! ATF v2 traces as tables: Arrow record batches and Parquet files.
//!
//! [`Session::stream`] reads a [`Table`] of a session as record batches, using an amount of memory
//! that does not grow with the trace. [`write_files`] writes the tables of a session to a folder of
//! Parquet or Arrow files. [`pack`] writes an archive from which [`unpack`] restores the session's
//! files byte for byte. `docs/tables.md` lists the columns.
//!
//! ```
//! use atf_tables::{Options, Session, Table};
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path();
//! # let writer = atf::write::SessionWriter::create(path, &Default::default())?;
//! # let mut thread = writer.thread(0)?;
//! # for (timestamp_ns, event_kind) in [(100, atf::EventKind::CALL), (250, atf::EventKind::RETURN)] {
//! #     thread.write(&atf::write::Event::new(timestamp_ns, 7, event_kind, 1))?;
//! # }
//! # thread.finalize()?;
//! # writer.finalize()?;
//!
//! let session = Session::open(path)?;
//! let mut rows = 0;
//! for batch in session.stream(Table::Events, &Options::default())? {
//!     rows += batch?.num_rows(); // After the last batch comes an error if the trace is incomplete or damaged.
//! }
//! assert_eq!(rows, 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]
// As in `atf`, nothing in a file may cause a panic.
#![warn(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

mod archive;
mod calls;
mod check;
mod column;
mod details;
mod error;
mod files;
mod listed;
mod names;
mod options;
mod report;
mod session;
mod stage;
mod stream;
mod table;
mod table_file;
mod thread;

pub use archive::{Packed, Unpacked, pack, unpack};
pub use check::check;
pub use column::{Column, ColumnKind};
pub use error::{Error, Incomplete, Problem, kind_name};
pub use files::{FileOptions, Split, Written, write_files};
pub use options::{AtEnd, Options};
pub use session::{Loss, Session};
pub use stream::{Outcome, Stream};
pub use table::Table;
pub use table_file::Form;

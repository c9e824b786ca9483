//! Data missing from the trace because the tracer lost it.

use std::fmt;
use std::sync::Arc;

use arrow_schema::SchemaRef;
use atf::manifest::{self, Manifest, Missing};
use serde_json::Value;

use crate::error::Error;
use crate::options::Options;
use crate::session::Session;
use crate::table::Table;

/// The key of the losses in the metadata of schemas and files: a JSON array of messages.
pub(crate) const KEY: &str = "atf.losses";

/// The metadata key of the clock on which times are given: `trace` or `media`.
pub(crate) const CLOCK_KEY: &str = "atf.clock";

/// Data missing from the trace because the tracer lost it, or may have lost it, according to the
/// manifest. All rows that the files contain are still returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loss {
    /// The thread's id; `None` for events of threads that have no files, and for unwritten events,
    /// which may be missing from any thread.
    pub thread: Option<u32>,
    /// The lost data.
    pub missing: Missing,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.thread, &self.missing) {
            (Some(id), missing) => write!(f, "thread {id}: {missing}"),
            (None, missing @ Missing::Unwritten { .. }) => missing.fmt(f),
            (None, missing) => write!(f, "threads without files: {missing}"),
        }
    }
}

impl Session {
    /// Returns the losses in the selected threads and times, and the losses that do not belong to
    /// any listed thread.
    #[must_use]
    pub fn losses(&self, options: &Options) -> Vec<Loss> {
        let losses = self.reader().manifest().map(Manifest::missing);
        let losses = losses.into_iter().flatten();
        let on_clock = |loss: manifest::Loss| {
            let [first_ns, last_ns] = [loss.first_ns, loss.last_ns].map(|ns| options.time(ns));
            manifest::Loss::new(loss.count, first_ns, last_ns)
        };
        let losses = losses.map(|(thread, missing)| Loss {
            thread,
            missing: match missing {
                Missing::Lost(kind, loss) => Missing::Lost(kind, on_clock(loss)),
                other => other,
            },
        });
        let is_selected = |loss: &Loss| {
            let is_in_time = match loss.missing {
                Missing::Lost(_, loss) => {
                    loss.first_ns <= options.to_ns && loss.last_ns >= options.from_ns
                }
                _ => true,
            };
            is_in_time && loss.thread.is_none_or(|id| options.selects(id))
        };
        losses.filter(is_selected).collect()
    }

    /// Returns the schema of a table with these options. Its metadata contains the losses and the
    /// clock.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] if a column does not exist or none is selected.
    pub fn schema(&self, table: Table, options: &Options) -> Result<SchemaRef, Error> {
        let schema = options.schema(table)?.as_ref().clone();
        let metadata = [
            (KEY.to_owned(), self.losses_as_json(options)),
            (CLOCK_KEY.to_owned(), options.clock_name().to_owned()),
        ];
        Ok(Arc::new(schema.with_metadata(metadata)))
    }

    /// Returns the losses as a JSON array of messages.
    pub(crate) fn losses_as_json(&self, options: &Options) -> String {
        let losses = self.losses(options).into_iter();
        let losses: Value = losses.map(|loss| loss.to_string()).collect();
        losses.to_string()
    }
}

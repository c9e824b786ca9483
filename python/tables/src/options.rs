//! Options for reading a table.

use std::collections::BTreeSet;
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use arrow_schema::{Schema, SchemaRef};
use atf::clock::MediaClock;
use atf_analyze::Pattern;

use crate::column::Column;
use crate::error::Error;
use crate::table::Table;

/// The part of a table to read, and how to read it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// The columns in the order in which to return them. `None`, the default, selects all.
    pub columns: Option<Vec<String>>,
    /// The threads, by the ids in their folders' names. `None`, the default, selects all.
    pub threads: Option<BTreeSet<u32>>,
    /// The start of the time range in nanoseconds: 0 by default.
    pub from_ns: u64,
    /// The inclusive end of the time range in nanoseconds: the maximum by default.
    pub to_ns: u64,
    /// The recording's clock to use for the time range and the rows, from
    /// [`Session::media_clock`](crate::Session::media_clock). `None`, the default, selects the
    /// trace's own clock. Events before the recording have time 0.
    pub clock: Option<MediaClock>,
    /// The range of event positions to read in each thread; the events are not verified. `None`,
    /// the default, selects all. Other tables ignore this option.
    pub seqs: Option<Range<u64>>,
    /// The functions to include in the table `histogram`. `None`, the default, selects all. Other
    /// tables ignore this option.
    pub function: Option<Pattern>,
    /// The maximum number of rows in a batch: 65,536 by default.
    pub batch_rows: usize,
    /// Whether columns of names and of words are dictionary-encoded: `true` by default. Spark needs
    /// plain text.
    pub dictionaries: bool,
    /// How to handle problems after the last row.
    pub problems: AtEnd,
}

/// How to handle problems after the last row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AtEnd {
    /// The stream ends with one error, [`Incomplete`](crate::Incomplete).
    #[default]
    Raise,
    /// The stream ends without an error, and [`Outcome`](crate::Outcome) lists the problems.
    Keep,
}

impl Default for Options {
    /// Selects all columns and rows, in batches of 65,536.
    fn default() -> Self {
        Self {
            columns: None,
            threads: None,
            from_ns: 0,
            to_ns: u64::MAX,
            clock: None,
            seqs: None,
            function: None,
            batch_rows: 1 << 16,
            dictionaries: true,
            problems: AtEnd::default(),
        }
    }
}

impl Options {
    /// Returns whether a thread is selected.
    pub(crate) fn selects(&self, thread: u32) -> bool {
        let threads = self.threads.as_ref();
        threads.is_none_or(|threads| threads.contains(&thread))
    }

    /// Returns the timestamps in the time range.
    pub(crate) fn timestamps(&self) -> RangeInclusive<u64> {
        let times = self.from_ns..=self.to_ns;
        let Some(clock) = &self.clock else {
            return times;
        };
        let none = RangeInclusive::new(1, 0);
        if self.from_ns > 0 {
            return clock.to_host_range(times).unwrap_or(none);
        }
        // A range from time 0 also contains the timestamps before the recording, because they have
        // time 0. Exclude only those after the range.
        let next = self.to_ns.checked_add(1);
        match next.and_then(|next| clock.to_host_range(next..=u64::MAX)) {
            Some(after) => after.start().checked_sub(1).map_or(none, |end| 0..=end),
            None => 0..=u64::MAX,
        }
    }

    /// Converts a timestamp to the time in rows.
    pub(crate) fn time(&self, timestamp_ns: u64) -> u64 {
        let clock = self.clock.as_ref();
        clock.map_or(timestamp_ns, |it| it.to_media_ns_or_zero(timestamp_ns))
    }

    /// Returns the name of the clock.
    pub(crate) fn clock_name(&self) -> &'static str {
        match self.clock {
            Some(_) => "media",
            None => "trace",
        }
    }

    /// Returns the requested columns of a table.
    pub(crate) fn columns_of(&self, table: Table) -> Result<Vec<&'static Column>, Error> {
        let all = table.columns();
        let Some(names) = &self.columns else {
            return Ok(all.iter().collect());
        };
        if names.is_empty() {
            return Err(Error::usage("columns: the list is empty"));
        }
        let column = |name: &String| {
            all.iter()
                .find(|column| column.name == name)
                .ok_or_else(|| {
                    let known: Vec<&str> = all.iter().map(|column| column.name).collect();
                    let known = known.join(", ");
                    Error::usage(format!(
                        "columns: the table {table} has no column {name:?}; it has {known}"
                    ))
                })
        };
        names.iter().map(column).collect()
    }

    /// Returns the schema of a table read with these options.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] if a column does not exist or none is selected.
    pub fn schema(&self, table: Table) -> Result<SchemaRef, Error> {
        let columns = self.columns_of(table)?;
        let fields = columns.into_iter();
        let fields = fields.map(|column| column.field(self.dictionaries));
        Ok(Arc::new(Schema::new(fields.collect::<Vec<_>>())))
    }
}

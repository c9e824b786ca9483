//! The events that `--follow` writes, and the problems to report at the end.

use std::collections::BTreeMap;
use std::mem;

use atf::index::IndexEvent;

use crate::dump::detail::Detail;
use crate::dump::filter::Filter;
use crate::dump::names::Names;
use crate::dump::reported::{Dangling, Reported};
use crate::dump::trace::ThreadName;
use crate::dump::{Dump, Row, Sink};
use crate::output::Failure;

/// A filter that passes the selected events to the sink.
pub(super) struct Output<'a, 'b> {
    dump: &'a Dump,
    pub(super) sink: &'b mut dyn Sink,
    /// Whether the session's details contain fields.
    pub(super) has_fields: bool,
    /// The time of the first event that was read.
    pub(super) start_ns: Option<u64>,
    /// The filter, resolved with the first event's time and the names known so far.
    pub(super) filter: Option<Filter<'a>>,
    /// The number of events that can still be written before the limit.
    pub(super) left: u64,
    pub(super) reported: Reported,
    pub(super) dangling: Dangling,
    pub(super) seqs: Seqs,
}

impl<'a, 'b> Output<'a, 'b> {
    pub(super) fn new(dump: &'a Dump, sink: &'b mut dyn Sink) -> Self {
        Self {
            dump,
            sink,
            has_fields: false,
            start_ns: None,
            filter: None,
            left: dump.limit,
            reported: Reported::default(),
            dangling: Dangling::default(),
            seqs: Seqs::default(),
        }
    }

    /// Writes an event if the filter admits it. Returns whether it is all zeros or its detail is
    /// missing. `count` is the number of details read so far, if details are written.
    pub(super) fn event(
        &mut self,
        id: Option<u32>,
        (seq, event): (u64, IndexEvent),
        (detail, count): (Option<&Detail<'_>>, Option<u64>),
        names: &Names<'_>,
    ) -> Result<bool, Failure> {
        let start_ns = match self.start_ns {
            Some(start_ns) => start_ns,
            None => {
                let start_ns = event.timestamp_ns;
                self.sink.start(Some(start_ns))?;
                Filter::complain_of_unknown(self.dump, names);
                *self.start_ns.insert(start_ns)
            }
        };
        let filter = match &self.filter {
            Some(filter) => filter,
            None => {
                let filter = Filter::new(self.dump, Some((start_ns, start_ns)), names)?;
                self.filter.insert(filter)
            }
        };
        let id = id.unwrap_or_default();
        let is_zero = event.is_zero();
        let function = (0, event.function_id);
        if !self.dump.selects(id) || !filter.admits(function, event.timestamp_ns, event.event_kind)
        {
            return Ok(is_zero);
        }
        self.left -= 1;
        let thread = ThreadName { process: None, id };
        let missing = event.detail_seq.zip(count);
        let missing = missing.filter(|_| detail.is_none() && !is_zero);
        if let Some((detail_seq, count)) = missing {
            self.dangling.add(thread, detail_seq < count, seq);
        }
        self.sink.event(&Row {
            thread,
            seq: self.seqs.position(id, seq),
            event,
            is_zero,
            function: names.named(function),
            detail,
        })?;
        Ok(is_zero || missing.is_some())
    }
}

/// The number of each thread's events in earlier segments, by id.
#[derive(Default)]
pub(super) struct Seqs {
    first: BTreeMap<u32, u64>,
    /// The number of events of finished threads in the current segment.
    ended: BTreeMap<u32, u64>,
}

impl Seqs {
    /// Remembers how many events a finished thread had in this segment.
    pub(super) fn end(&mut self, id: Option<u32>, count: u64) {
        self.ended.extend(id.map(|id| (id, count)));
    }

    pub(super) fn go_on(&mut self) {
        for (id, count) in mem::take(&mut self.ended) {
            *self.first.entry(id).or_default() += count;
        }
    }

    /// Converts an event's `seq` within its segment to its position across all segments.
    fn position(&self, id: u32, seq: u64) -> u64 {
        seq + self.first.get(&id).copied().unwrap_or_default()
    }
}

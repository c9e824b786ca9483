//! Requests that other threads make of the drain's thread.

/// The work of one pass of the drain, apart from draining. Until the pass begins, only the requests
/// are set.
#[derive(Debug, Default)]
pub(super) struct Requests {
    /// The threads to create.
    pub(super) wanted: Vec<u32>,
    /// The threads without a ring that have ended.
    pub(super) ended: Vec<u32>,
    /// The windows to open or to close, with their times.
    pub(super) windows: Vec<(bool, u64)>,
    pub(super) is_manifest: bool,
    pub(super) is_flush: bool,
    pub(super) is_last: bool,
    /// The ticket of the last request.
    pub(super) ticket: Ticket,
    /// When the pass began. `windows` includes all windows opened before that time.
    pub(super) now_ns: u64,
    /// How many triggers the pass serves.
    pub(super) triggers: u64,
}

/// The number of a request. Each pass of the drain takes all pending requests, and they are done
/// when it ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ticket(u64);

/// The requests to the next pass.
#[derive(Debug, Default)]
pub(super) struct Pending {
    next: Requests,
    last: Ticket,
    done: Ticket,
}

impl Pending {
    /// Adds to the work of the next pass.
    pub(super) fn add(&mut self, request: impl FnOnce(&mut Requests)) -> Ticket {
        request(&mut self.next);
        self.last = Ticket(self.last.0.saturating_add(1));
        self.last
    }

    /// Takes all requests.
    pub(super) fn take(&mut self) -> Requests {
        Requests {
            ticket: self.last,
            ..std::mem::take(&mut self.next)
        }
    }

    /// Marks the requests up to this ticket as done. Returns whether there are any.
    pub(super) fn finish(&mut self, ticket: Ticket) -> bool {
        std::mem::replace(&mut self.done, ticket) < ticket
    }

    pub(super) fn are_done(&self, ticket: Ticket) -> bool {
        ticket <= self.done
    }

    /// Returns whether all requests are done.
    pub(super) fn is_empty(&self) -> bool {
        self.are_done(self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_finishes_only_the_requests_that_it_took() {
        let mut pending = Pending::default();
        let first = pending.add(|next| next.is_flush = true);
        let taken = pending.take();
        let second = pending.add(|_| {});
        assert!(!pending.are_done(first) && !pending.is_empty());
        assert!(taken.is_flush && pending.finish(taken.ticket));
        assert!(pending.are_done(first) && !pending.are_done(second));
        let taken = pending.take();
        assert!(!taken.is_flush && pending.finish(taken.ticket));
        assert!(pending.are_done(second) && pending.is_empty());
        assert!(!pending.finish(taken.ticket));
    }
}

//! Computes call depths for events without one.

use crate::wire::EventKind;

/// Counts the depth from calls and returns, as tracers do: 1 for the outermost call; a return or an
/// exception has the depth of its call.
///
/// A trace that begins inside calls has returns without a call; they get depth 1 too.
#[derive(Debug, Default, Clone)]
pub(super) struct Depth {
    /// The number of calls that have not returned.
    open: u32,
}

impl Depth {
    /// Returns the depth of the next event.
    pub(super) fn next(&mut self, kind: EventKind) -> u32 {
        match kind {
            EventKind::CALL => {
                self.open = self.open.saturating_add(1);
                self.open
            }
            EventKind::RETURN | EventKind::EXCEPTION => {
                let depth = self.open.max(1);
                self.open = self.open.saturating_sub(1);
                depth
            }
            _ => self.open.max(1),
        }
    }
}

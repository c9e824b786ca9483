//! Computes call depths for events without one.

use crate::wire::{CallEffect, EventKind};

/// Call depths derived from calls and returns, as in tracers: the outermost call has depth 1, and a
/// return or an exception has the depth of its call.
///
/// If a trace begins inside calls, some returns have no call; these returns also get depth 1.
#[derive(Debug, Default, Clone)]
pub(super) struct Depth {
    /// The number of calls that have not returned.
    open: u32,
}

impl Depth {
    /// Continues after an event whose depth was recorded.
    pub(super) fn follow(&mut self, kind: EventKind, depth: u32) {
        self.open = match kind.effect() {
            CallEffect::Opens => depth,
            CallEffect::Returns | CallEffect::Throws => depth.saturating_sub(1),
            CallEffect::None => self.open,
        };
    }

    /// Returns the depth of the next event.
    pub(super) fn next(&mut self, kind: EventKind) -> u32 {
        match kind.effect() {
            CallEffect::Opens => {
                self.open = self.open.saturating_add(1);
                self.open
            }
            CallEffect::Returns | CallEffect::Throws => {
                let depth = self.open.max(1);
                self.open = self.open.saturating_sub(1);
                depth
            }
            CallEffect::None => self.open.max(1),
        }
    }
}

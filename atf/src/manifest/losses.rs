//! The tracer's losses, by kind.

use std::fmt;

use super::{Loss, Manifest, ManifestThread, key};
use crate::text::counted;

/// A kind of data that a tracer can lose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum LossKind {
    /// Events, with their details.
    Events,
    /// Details of events that are in the trace.
    Details,
}

impl LossKind {
    /// All kinds.
    pub const ALL: [Self; 2] = [Self::Events, Self::Details];

    /// Returns the singular noun for the lost data.
    #[must_use]
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Events => "event",
            Self::Details => "detail",
        }
    }

    /// Returns the key of such losses in a manifest.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Events => key::LOST_EVENTS,
            Self::Details => key::LOST_DETAILS,
        }
    }
}

/// The tracer's losses in a thread, in several threads, or in an entire trace. Displays the
/// numbers, such as `3 events and 1 detail`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Losses([Option<Loss>; LossKind::ALL.len()]);

impl Losses {
    /// Sets the loss of one kind; a count of 0 means no loss.
    #[must_use]
    pub fn with(mut self, kind: LossKind, loss: Option<Loss>) -> Self {
        if let Some(place) = self.0.get_mut(kind as usize) {
            *place = loss.filter(|loss| loss.count > 0);
        }
        self
    }

    /// Returns the loss of one kind.
    #[must_use]
    pub fn get(&self, kind: LossKind) -> Option<Loss> {
        self.0.get(kind as usize).copied().flatten()
    }

    /// Returns the losses with their kinds.
    pub fn iter(&self) -> impl Iterator<Item = (LossKind, Loss)> + use<> {
        let losses = LossKind::ALL.into_iter().zip(self.0);
        losses.filter_map(|(kind, loss)| Some((kind, loss?)))
    }

    /// Returns whether nothing was lost.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// Adds the losses of other threads.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        other.iter().fold(self, |all, (kind, loss)| {
            let sum = all.get(kind).map_or(loss, |all| all.plus(loss));
            all.with(kind, Some(sum))
        })
    }

    /// Converts the times of all losses.
    pub(crate) fn with_times(self, time: impl Fn(u64) -> u64) -> Self {
        self.iter().fold(Self::default(), |all, (kind, loss)| {
            let [first_ns, last_ns] = [loss.first_ns, loss.last_ns].map(&time);
            all.with(kind, Some(Loss::new(loss.count, first_ns, last_ns)))
        })
    }

    /// Returns the times of the first and the last loss, in nanoseconds.
    #[must_use]
    pub fn time_range(&self) -> Option<(u64, u64)> {
        let times = self.iter().map(|(_, loss)| (loss.first_ns, loss.last_ns));
        times.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)))
    }
}

impl fmt::Display for Losses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = self
            .iter()
            .map(|(kind, loss)| counted(loss.count, kind.noun()));
        match &counts.collect::<Vec<_>>()[..] {
            [] => f.write_str("nothing"),
            counts => f.write_str(&counts.join(" and ")),
        }
    }
}

impl ManifestThread {
    /// Returns what the tracer lost in the thread.
    #[must_use]
    pub fn losses(&self) -> Losses {
        let written = self.written_losses().into_iter();
        written.fold(Losses::default(), |all, (kind, loss)| all.with(kind, loss))
    }

    /// Returns the entries as they are written, even if a count is 0.
    pub(crate) fn written_losses(&self) -> [(LossKind, Option<Loss>); 2] {
        [
            (LossKind::Events, self.lost_events),
            (LossKind::Details, self.lost_details),
        ]
    }

    /// Sets what the tracer lost in the thread.
    pub(crate) fn set_losses(&mut self, losses: Losses) {
        self.lost_events = losses.get(LossKind::Events);
        self.lost_details = losses.get(LossKind::Details);
    }
}

impl Manifest {
    /// Returns what the tracer lost in threads without files.
    #[must_use]
    pub fn losses(&self) -> Losses {
        Losses::default().with(LossKind::Events, self.lost_events)
    }
}

//! The events and details that a tracer lost, from the manifest.

use std::fmt;

use atf::analyze::Totals;
use atf::manifest::{Loss, ManifestThread};
use serde::Serialize;

use crate::json::U64;
use crate::text::Counted;

/// The events and details that a tracer lost in a thread or session.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct Lost {
    #[serde(rename = "lost_events", skip_serializing_if = "Option::is_none")]
    pub(crate) events: Option<LossInfo>,
    #[serde(rename = "lost_details", skip_serializing_if = "Option::is_none")]
    pub(crate) details: Option<LossInfo>,
}

/// The number of lost events or details, with the timestamps of the first and the last.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct LossInfo {
    pub(crate) count: U64,
    pub(crate) first_ns: U64,
    pub(crate) last_ns: U64,
}

impl Lost {
    /// Returns a thread's losses, ignoring losses of 0.
    pub(crate) fn of(thread: &ManifestThread) -> Self {
        Self {
            events: info(thread.lost_events),
            details: info(thread.lost_details),
        }
    }

    /// Returns a session's losses in threads that the manifest does not list, ignoring losses of 0.
    pub(crate) fn of_no_thread(events: Option<Loss>) -> Self {
        Self {
            events: info(events),
            details: None,
        }
    }

    /// Returns the losses in an analysis, ignoring losses of 0.
    pub(crate) fn in_all(totals: &Totals) -> Self {
        Self {
            events: info(totals.lost_events),
            details: info(totals.lost_details),
        }
    }

    /// Adds the losses of another thread.
    pub(crate) fn plus(self, other: Self) -> Self {
        let both = |all: Option<LossInfo>, one: Option<LossInfo>| match (all, one) {
            (Some(all), Some(one)) => Some(LossInfo {
                count: U64(all.count.0.saturating_add(one.count.0)),
                first_ns: all.first_ns.min(one.first_ns),
                last_ns: all.last_ns.max(one.last_ns),
            }),
            (all, one) => all.or(one),
        };
        Self {
            events: both(self.events, other.events),
            details: both(self.details, other.details),
        }
    }

    /// Returns the first and the last timestamp of all losses; `None` if there are none.
    pub(crate) fn times(&self) -> Option<(u64, u64)> {
        let losses = [self.events, self.details].into_iter().flatten();
        let times = losses.map(|loss| (loss.first_ns.0, loss.last_ns.0));
        times.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)))
    }
}

fn info(loss: Option<Loss>) -> Option<LossInfo> {
    loss.filter(|loss| loss.count > 0).map(LossInfo::from)
}

impl From<Loss> for LossInfo {
    fn from(loss: Loss) -> Self {
        Self {
            count: U64(loss.count),
            first_ns: U64(loss.first_ns),
            last_ns: U64(loss.last_ns),
        }
    }
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lanes = [(self.events, "event"), (self.details, "detail")];
        let lost = lanes.map(|(loss, noun)| loss.map(|loss| Counted(loss.count.0, noun)));
        match lost {
            [Some(events), Some(details)] => write!(f, "{events} and {details}"),
            [Some(one), None] | [None, Some(one)] => write!(f, "{one}"),
            [None, None] => f.write_str("nothing"),
        }
    }
}

//! The tracer's losses in JSON.

use atf::manifest::{Loss, Losses};
use serde::{Serialize, Serializer};

use crate::json::U64;

/// Losses in JSON: `lost_events` and `lost_details`, each omitted if nothing was lost.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LossInfo(pub(crate) Losses);

impl Serialize for LossInfo {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let times = |loss: Loss| Times {
            count: U64(loss.count),
            first_ns: U64(loss.first_ns),
            last_ns: U64(loss.last_ns),
        };
        let losses = self.0.iter();
        serializer.collect_map(losses.map(|(kind, loss)| (kind.key(), times(loss))))
    }
}

/// The number of lost events or details, with the timestamps of the first and the last.
#[derive(Serialize)]
struct Times {
    count: U64,
    first_ns: U64,
    last_ns: U64,
}

//! Describes the data that is missing from a trace.

use std::fmt;

use super::{Damage, Loss, LossKind, Losses, Manifest, ManifestThread, key};
use crate::error::{Error, ErrorKind};
use crate::rules::table as rules;
use crate::text::{are, counted};

/// Data that is missing from a trace according to its manifest. Its `Display` output is a sentence.
///
/// ```
/// use atf::manifest::Manifest;
///
/// let text = r#"{
///     "threads": [{"id": 7, "lost_events": {"count": 2, "first_ns": 10, "last_ns": 30}}],
///     "unwritten_events": 64
/// }"#;
/// let missing = Manifest::parse(text.as_bytes()).missing();
/// let texts: Vec<_> = missing.iter().map(|(thread, it)| (*thread, it.to_string())).collect();
/// let killed = "the tracer is still running or was killed: up to 64 events of each thread are missing";
/// assert_eq!(texts, [
///     (Some(7), "the tracer lost 2 events, from 10 to 30 ns".to_owned()),
///     (None, killed.to_owned()),
/// ]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Missing {
    /// Data that the tracer lost.
    Lost(LossKind, Loss),
    /// Events that were still in the tracer's memory when it ended.
    #[non_exhaustive]
    Unwritten {
        /// The maximum number of unwritten events per thread.
        events: u64,
        /// Whether the tracer is known to have ended. Otherwise, it may still be running.
        has_ended: bool,
        /// Whether the tracer drops events; if so, the losses exclude the latest drops.
        drops: bool,
    },
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (loss, noun) = match self {
            Self::Lost(kind, loss) => (loss, kind.noun()),
            Self::Unwritten {
                events,
                has_ended,
                drops,
            } => {
                let end = if *has_ended {
                    "was killed"
                } else {
                    "is still running or was killed"
                };
                let are = are(*events);
                let events = counted(*events, "event");
                write!(
                    f,
                    "the tracer {end}: up to {events} of each thread {are} missing"
                )?;
                let dropped = ", plus those dropped after the last update of the manifest";
                return f.write_str(if *drops { dropped } else { "" });
            }
        };
        let lost = counted(loss.count, noun);
        let (first_ns, last_ns) = (loss.first_ns, loss.last_ns);
        write!(f, "the tracer lost {lost}, from {first_ns} to {last_ns} ns")
    }
}

/// Formats a sentence.
impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if self.lost {
            "lost or guessed"
        } else {
            "changed"
        };
        let what = &self.what;
        match self.thread {
            Some(thread) => write!(f, "a recovery {verb} in thread {thread}: {what}"),
            None => write!(f, "a recovery {verb}: {what}"),
        }
    }
}

impl Losses {
    /// Returns each loss as missing data, which displays as a sentence.
    pub fn missing(&self) -> impl Iterator<Item = Missing> + use<> {
        self.iter().map(|(kind, loss)| Missing::Lost(kind, loss))
    }
}

impl Manifest {
    /// Returns the first entry of a thread.
    #[must_use]
    pub fn thread(&self, id: u32) -> Option<&ManifestThread> {
        self.threads.iter().find(|thread| thread.id == id)
    }

    /// Returns what recoveries changed without losing events.
    pub fn changes(&self) -> impl Iterator<Item = &Damage> {
        self.recovered.iter().filter(|damage| !damage.lost)
    }

    /// Returns an error for each loss of a recovery.
    pub(crate) fn lost_in_recovery(&self) -> impl Iterator<Item = Error> {
        let lost = self.recovered.iter().enumerate();
        lost.filter(|(_, damage)| damage.lost)
            .map(|(position, damage)| {
                let kind = ErrorKind::LostInRecovery {
                    thread: damage.thread,
                    what: damage.to_string(),
                };
                let error = Error::new(kind).with_rule(&rules::ATF_MANI_017);
                error.with_field(format!("{}[{position}]", key::RECOVERED))
            })
    }

    /// Returns all data missing from the trace, each item with its thread's id. The id is `None`
    /// for threads that the manifest does not list, and for unwritten events, because they may be
    /// missing from any thread.
    #[must_use]
    pub fn missing(&self) -> Vec<(Option<u32>, Missing)> {
        let of_thread = |thread: &ManifestThread| {
            let (id, missing) = (thread.id, thread.losses().missing());
            missing.map(move |missing| (Some(id), missing))
        };
        let of_session = self.losses().missing().chain(self.unwritten());
        let of_session = of_session.map(|missing| (None, missing));
        self.threads
            .iter()
            .flat_map(of_thread)
            .chain(of_session)
            .collect()
    }

    /// Returns the events that were still in the tracer's memory when it ended; `None` if it wrote
    /// all events.
    #[must_use]
    pub fn unwritten(&self) -> Option<Missing> {
        let events = self.unwritten_events.filter(|events| *events > 0)?;
        Some(Missing::Unwritten {
            events,
            has_ended: self.ended_by.is_some(),
            drops: self.drops_events == Some(true),
        })
    }
}

//! Settings for details, windows, triggers and segments.

use std::ffi::c_int;
use std::time::Duration;

use atf::detail::FunctionPayload;
use atf::record::{Lanes, Segment, Window};

use crate::capture::MOST_STACK;
use crate::environment::{milliseconds, number, parse_size, parse_time, text, wrong};
use crate::marks::Marks;

/// The size of a snapshot (S4), in bytes.
const STACK: usize = 128;

/// The settings that determine what triggers windows: a signal, a time, calls or crashes.
#[derive(Debug, Default)]
pub(crate) struct Triggers {
    pub(crate) signal: Option<c_int>,
    pub(crate) after: Option<Duration>,
    /// The minimum depth of calls that are triggers. If the settings name functions, only calls of
    /// these functions are triggers.
    depth: Option<u32>,
    needs_mark: bool,
    pub(crate) are_crashes: bool,
}

impl Triggers {
    /// Returns whether a call is a trigger.
    #[inline]
    pub(crate) fn are_fired_by(&self, marks: Marks, depth: u32) -> bool {
        self.depth.is_some_and(|least| depth >= least)
            && (!self.needs_mark || marks.contains(Marks::TRIGGER))
    }

    /// Reads the environment variables.
    fn read(has_names: bool) -> Result<Self, String> {
        let depth = number("ATF_TRIGGER_DEPTH")?;
        Ok(Self {
            signal: text("ATF_TRIGGER_SIGNAL")?
                .map(|name| signal(&name))
                .transpose()?,
            after: milliseconds("ATF_TRIGGER_AFTER")?,
            depth: depth.or(has_names.then_some(0)),
            needs_mark: has_names,
            are_crashes: false,
        })
    }

    fn is_empty(&self) -> bool {
        self.signal.is_none() && self.after.is_none() && self.depth.is_none()
    }
}

/// The settings for details and windows.
#[derive(Debug)]
pub(crate) struct Details {
    /// How many bytes of the stack a detail includes; `None` to record no details.
    pub(crate) stack_size: Option<usize>,
    pub(crate) window: Option<Window>,
    pub(crate) triggers: Triggers,
    /// The number of events in each ring, unless `ATF_RING` sets it; `None` without windows.
    pub(crate) ring: Option<usize>,
}

/// How much a flight recorder keeps or a segment holds.
enum Length {
    Time(Duration),
    Bytes(u64),
}

/// The maximum number of bytes that a flight recorder can keep: half of the largest ring.
const MOST_FLIGHT: u64 = 512 << 20;

/// The maximum number of payload bytes in a ring without windows, enough for more than 200,000
/// details.
const MOST_DRAINED: usize = 64 << 20;

impl Details {
    /// Reads the environment variables. `are_chosen` is true if `ATF_DETAIL_FUNCTIONS` is set, and
    /// `are_triggers` if `ATF_TRIGGER_FUNCTIONS` is.
    pub(crate) fn read(are_chosen: bool, are_triggers: bool) -> Result<Self, String> {
        let is_windowed = match text("ATF_DETAILS")?.as_deref() {
            None | Some("off") => None,
            Some("all") => Some(false),
            Some("trigger") => Some(true),
            Some(found) => return Err(wrong("ATF_DETAILS", "off, all or trigger", found)),
        };
        let flight = text("ATF_FLIGHT")?
            .map(|length| Length::parse("ATF_FLIGHT", &length, MOST_FLIGHT))
            .transpose()?;
        let stack_size: Option<usize> = number("ATF_STACK")?;
        if let Some(size) = stack_size.filter(|size| *size > MOST_STACK) {
            return Err(wrong("ATF_STACK", "at most 256", &size.to_string()));
        }
        if is_windowed.is_none() && (stack_size.is_some() || are_chosen) {
            return Err("ATF_STACK and ATF_DETAIL_FUNCTIONS need ATF_DETAILS".to_owned());
        }
        let mut triggers = Triggers::read(are_triggers)?;
        let pre_roll = milliseconds("ATF_PRE_ROLL")?;
        let post_roll = milliseconds("ATF_POST_ROLL")?;
        let window = Window::default().post_roll(post_roll.unwrap_or_default());
        let window = match (&flight, is_windowed) {
            (Some(_), Some(true)) => {
                return Err("ATF_DETAILS=trigger: with ATF_FLIGHT, use all or off".to_owned());
            }
            (Some(_), _) if pre_roll.is_some() => {
                return Err("ATF_PRE_ROLL: ATF_FLIGHT has its length".to_owned());
            }
            (Some(flight), _) => Some(window.lanes(Lanes::Both).on_stop(true).pre_roll(
                match flight {
                    Length::Time(time) => *time,
                    Length::Bytes(_) => Duration::MAX,
                },
            )),
            (None, Some(true)) => Some(window.pre_roll(pre_roll.unwrap_or_default())),
            _ if pre_roll.or(post_roll).is_some() || !triggers.is_empty() => {
                return Err(
                    "triggers, ATF_PRE_ROLL and ATF_POST_ROLL need ATF_DETAILS=trigger or ATF_FLIGHT"
                        .to_owned(),
                );
            }
            _ => None,
        };
        triggers.are_crashes = flight.is_some();
        let stack_size = is_windowed.map(|_| stack_size.unwrap_or(STACK));
        let ring = match flight {
            Some(Length::Bytes(size)) => usize::try_from(flight_events(size, stack_size)).ok(),
            _ => window.map(|_| 1 << if is_windowed.is_some() { 17 } else { 20 }),
        };
        Ok(Self {
            stack_size,
            window,
            triggers,
            ring,
        })
    }

    /// Returns how many payload bytes a ring of this many events holds. With windows, there is room
    /// for every event's payload. Without windows, less room suffices, because the drain takes
    /// payloads right away.
    pub(crate) fn payload_size(&self, events: usize) -> usize {
        let most = match self.window {
            Some(_) => 1 << 30,
            None => MOST_DRAINED,
        };
        events.saturating_mul(payload(self.stack_size)).min(most)
    }
}

/// Returns the size of the largest payload.
fn payload(stack_size: Option<usize>) -> usize {
    stack_size.map_or(0, |size| FunctionPayload::SIZE.saturating_add(size))
}

/// Returns how many events a flight recorder's ring must hold to keep `size` bytes of events and
/// payloads in total. A ring keeps only half of its capacity.
fn flight_events(size: u64, stack_size: Option<usize>) -> u64 {
    /// The size of an event in a ring, in bytes.
    const EVENT: u64 = 32;
    let each = EVENT.saturating_add(payload(stack_size) as u64);
    let events = size.saturating_mul(2).checked_div(each);
    events.unwrap_or_default().max(2)
}

/// Reads the environment variables for segments.
pub(crate) fn segment() -> Result<Option<Segment>, String> {
    let keep = number("ATF_KEEP")?;
    let Some(length) = text("ATF_SEGMENT")? else {
        return match keep {
            Some(_) => Err("ATF_KEEP needs ATF_SEGMENT".to_owned()),
            None => Ok(None),
        };
    };
    let segment = Segment::default().keep(keep);
    let length = Length::parse("ATF_SEGMENT", &length, u64::MAX)?;
    Ok(Some(match length {
        Length::Time(time) => segment.duration(Some(time)),
        Length::Bytes(size) => segment.size(Some(size)),
    }))
}

impl Length {
    /// Reads seconds, or a size in bytes with a unit.
    fn parse(variable: &str, length: &str, most: u64) -> Result<Self, String> {
        let size = parse_size(length).filter(|size| (1..=most).contains(size));
        let time = parse_time(length, 1.0).filter(|time| !time.is_zero());
        let expected = match most {
            u64::MAX => "a number of seconds greater than 0, or a size such as 64M",
            _ => "a number of seconds greater than 0, or a size up to 512M",
        };
        let parsed = time.map(Self::Time).or(size.map(Self::Bytes));
        parsed.ok_or_else(|| wrong(variable, expected, length))
    }
}

/// Returns the number of a signal that programs rarely use themselves.
fn signal(name: &str) -> Result<c_int, String> {
    match name.strip_prefix("SIG").unwrap_or(name) {
        "HUP" => Ok(libc::SIGHUP),
        "USR1" => Ok(libc::SIGUSR1),
        "USR2" => Ok(libc::SIGUSR2),
        "URG" => Ok(libc::SIGURG),
        "WINCH" => Ok(libc::SIGWINCH),
        _ => Err(wrong(
            "ATF_TRIGGER_SIGNAL",
            "HUP, USR1, USR2, URG or WINCH",
            name,
        )),
    }
}

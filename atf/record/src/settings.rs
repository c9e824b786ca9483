//! The settings of the recorder: each is an option of `atf record`, and an environment variable of
//! its library.

use std::time::Duration;

use atf::detail::FunctionPayload;

use super::{Capacity, Lanes, Overflow, RecordOptions, Segment, Window};

/// A setting of the recorder.
#[derive(Debug)]
#[non_exhaustive]
pub struct Setting {
    /// The name of the option of `atf record`, without the dashes.
    pub flag: &'static str,
    /// The environment variable of the library.
    pub variable: &'static str,
    /// The name of the option's value in its help.
    pub value_name: &'static str,
    /// The setting's effect, as its help states it.
    pub help: &'static str,
    /// The values it accepts.
    pub kind: Kind,
    needs: Needs,
}

/// The values that a setting accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// A number in this range, inclusive.
    Number(u64, u64),
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A size in bytes, with a unit: `64M`.
    Size,
    /// A time: `0.5`, or with a unit, `500ms`. Without one, it is in milliseconds.
    Time,
    /// A time, in seconds if it has no unit, or a size up to this one.
    TimeOrSize(u64),
    /// A signal that programs usually do not use themselves.
    Signal,
    /// Globs, separated by commas.
    Globs,
}

/// The other settings without which a setting has no effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Needs {
    Nothing,
    Rings,
    Windows,
    Details,
    Segments,
}

/// The names that messages use for settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SettingNames {
    /// Options: `--details trigger`.
    Flags,
    /// Environment variables: `ATF_DETAILS=trigger`.
    Variables,
}

const MOST_STACK: u64 = FunctionPayload::MAX_STACK as u64;
/// The size of a snapshot (S4), in bytes.
const STACK: u64 = 128;
/// The maximum number of bytes that a flight recorder can keep: half of the largest ring.
const MOST_FLIGHT: u64 = 512 << 20;
/// The maximum number of payload bytes in a ring without windows, enough for more than 200,000
/// details.
const MOST_DRAINED: u64 = 64 << 20;
/// The signals that programs usually do not use themselves.
const SIGNALS: [&str; 5] = ["HUP", "USR1", "USR2", "URG", "WINCH"];
const ANY: u64 = u64::MAX;
const DEPTHS: Kind = Kind::Number(1, u32::MAX as u64);

macro_rules! settings {
    ($($name:ident: $flag:literal $variable:literal $value:literal $kind:expr, $needs:ident, $help:literal;)*) => {
        $(
            #[doc = concat!("`--", $flag, "`, `", $variable, "`: ", $help, ".")]
            pub static $name: Setting = Setting {
                flag: $flag,
                variable: $variable,
                value_name: $value,
                help: $help,
                kind: $kind,
                needs: Needs::$needs,
            };
        )*
        /// All settings, in the order of the options.
        pub static ALL: &[&Setting] = &[$(&$name),*];
    };
}

settings! {
    DEPTH: "depth" "ATF_DEPTH" "N" DEPTHS, Nothing,
        "Leave out calls that are deeper than this";
    MODULES: "module" "ATF_MODULES" "GLOB" Kind::Globs, Nothing,
        "Record only functions of modules whose path or file name matches; with `!`, none of these. Of several patterns, the last match decides";
    FUNCTIONS: "function" "ATF_FUNCTIONS" "GLOB" Kind::Globs, Nothing,
        "Record only functions whose name matches, and functions without a name; patterns as with --module";
    MIN_SIZE: "min-size" "ATF_MIN_SIZE" "BYTES" Kind::Number(0, ANY), Nothing,
        "Leave out functions whose code has fewer bytes than this";
    CLOCK: "clock" "ATF_CLOCK" "CLOCK" Kind::OneOf(&["system", "tsc"]), Nothing,
        "The clock; tsc, the processor's time-stamp counter, takes less time to read";
    RING: "ring" "ATF_RING" "EVENTS" Kind::Number(1, 1 << 25), Nothing,
        "Record through a ring of this many events for each thread";
    OVERFLOW: "overflow" "ATF_OVERFLOW" "HOW" Kind::OneOf(&["block", "drop", "drop-detail"]), Rings,
        "What a thread with a full ring does: wait, or drop its events";
    RING_MEMORY: "ring-memory" "ATF_RING_MEMORY" "BYTES" Kind::Size, Rings,
        "How much memory all rings may take together, as in 64M [default: 2G]";
    DETAILS: "details" "ATF_DETAILS" "WHEN" Kind::OneOf(&["off", "all", "trigger"]), Nothing,
        "When to record registers and stack";
    STACK_SIZE: "stack" "ATF_STACK" "BYTES" Kind::Number(0, MOST_STACK), Details,
        "How many bytes of the stack a detail contains [default: 128]";
    DETAIL_FUNCTIONS: "detail-function" "ATF_DETAIL_FUNCTIONS" "GLOB" Kind::Globs, Details,
        "Record details only of these functions; patterns as with --function";
    FLIGHT: "flight" "ATF_FLIGHT" "SECONDS|BYTES" Kind::TimeOrSize(MOST_FLIGHT), Nothing,
        "Keep only the last seconds (10, 0.5, 500ms), or bytes per thread (64M), and write them at a trigger, a crash, or the end";
    PRE_ROLL: "pre-roll" "ATF_PRE_ROLL" "MS" Kind::Time, Windows,
        "Milliseconds before a trigger (250, 0.5, 2s) to keep [default: 0]";
    POST_ROLL: "post-roll" "ATF_POST_ROLL" "MS" Kind::Time, Windows,
        "Milliseconds after a trigger to keep [default: 0]";
    TRIGGER_SIGNAL: "trigger-signal" "ATF_TRIGGER_SIGNAL" "SIGNAL" Kind::Signal, Windows,
        "A signal that is a trigger: HUP, USR1, USR2, URG or WINCH";
    TRIGGER_AFTER: "trigger-after" "ATF_TRIGGER_AFTER" "MS" Kind::Time, Windows,
        "Fire a trigger this long after the program's first call";
    TRIGGER_FUNCTIONS: "trigger-function" "ATF_TRIGGER_FUNCTIONS" "GLOB" Kind::Globs, Windows,
        "Calls of functions whose name matches are triggers";
    TRIGGER_DEPTH: "trigger-depth" "ATF_TRIGGER_DEPTH" "N" DEPTHS, Windows,
        "Only calls from this depth on are triggers";
    SEGMENT: "segment" "ATF_SEGMENT" "SECONDS|BYTES" Kind::TimeOrSize(ANY), Nothing,
        "Start a new session when this one has this age (10, 500ms) or size (64M)";
    KEEP: "keep" "ATF_KEEP" "N" Kind::Number(1, u32::MAX as u64), Segments,
        "Keep only the last segments, and delete the others";
}

/// A value of a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Value {
    Number(u64),
    Time(Duration),
    Text(String),
}

impl Setting {
    /// Checks a value's text.
    ///
    /// # Errors
    ///
    /// A text that states the expected values.
    pub fn check(&self, text: &str) -> Result<(), String> {
        self.parse(text).map(drop)
    }

    fn parse(&self, text: &str) -> Result<Value, String> {
        let found = match self.kind {
            Kind::Number(least, most) => {
                let number = text.parse().ok();
                let number = number.filter(|number| (least..=most).contains(number));
                number.map(Value::Number)
            }
            Kind::OneOf(words) => words.contains(&text).then(|| Value::Text(text.to_owned())),
            Kind::Size => bytes(text).filter(|size| *size > 0).map(Value::Number),
            Kind::Time => return time(text, "ms").map(Value::Time),
            Kind::TimeOrSize(most) => {
                let size = bytes(text).filter(|size| (1..=most).contains(size));
                let time = time(text, "s").ok().filter(|time| !time.is_zero());
                size.map(Value::Number).or(time.map(Value::Time))
            }
            Kind::Signal => {
                let name = text.to_ascii_uppercase();
                let name = name.strip_prefix("SIG").unwrap_or(&name);
                SIGNALS
                    .contains(&name)
                    .then(|| Value::Text(name.to_owned()))
            }
            Kind::Globs => Some(Value::Text(text.to_owned())),
        };
        found.ok_or_else(|| format!("expected {}", self.kind.expected()))
    }
}

impl Kind {
    fn expected(self) -> String {
        match self {
            Self::Number(0, ANY) => "a number".to_owned(),
            Self::Number(least, most) => format!("a number from {least} to {most}"),
            Self::OneOf([words @ .., last]) => format!("{} or {last}", words.join(", ")),
            Self::OneOf([]) => "nothing".to_owned(),
            Self::Size => "a size such as 64M".to_owned(),
            Self::Time => "a time such as 250, 0.5 or 2s".to_owned(),
            Self::TimeOrSize(ANY) => {
                "a time such as 10, 0.5 or 500ms, or a size such as 64M".to_owned()
            }
            Self::TimeOrSize(most) => format!(
                "a time such as 10, 0.5 or 500ms, or a size up to {}M",
                most >> 20
            ),
            Self::Signal => "HUP, USR1, USR2, URG or WINCH".to_owned(),
            Self::Globs => "globs".to_owned(),
        }
    }
}

/// Parses a size in bytes with a unit.
fn bytes(text: &str) -> Option<u64> {
    let text = text.to_ascii_uppercase();
    let units = [('K', 1_u64 << 10), ('M', 1 << 20), ('G', 1 << 30)];
    units.iter().find_map(|(unit, size)| {
        let count: u64 = text.strip_suffix(*unit)?.parse().ok()?;
        count.checked_mul(*size)
    })
}

/// Parses a time exactly. Without a unit, it is in `unit`.
fn time(text: &str, unit: &str) -> Result<Duration, String> {
    let expected = || "expected a time such as 250, 0.5 or 2s".to_owned();
    let text = text.to_ascii_lowercase();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (number, own) = text.split_at(end.unwrap_or(text.len()));
    let digits = match if own.is_empty() { unit } else { own } {
        "ns" => 0,
        "us" | "µs" => 3,
        "ms" => 6,
        "s" => 9,
        _ => return Err(expected()),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() {
        return Err(expected());
    }
    if fraction.len() > digits {
        return Err("the resolution is one nanosecond".to_owned());
    }
    let ns: u64 = format!("{whole}{fraction:0<digits$}")
        .parse()
        .map_err(|_| expected())?;
    Ok(Duration::from_nanos(ns))
}

/// The values of the settings.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Those that have a value, with its text.
    values: Vec<(&'static Setting, Value, String)>,
}

impl Settings {
    /// Reads the settings. `given` returns the text of each, or `None` if it has its default.
    ///
    /// # Errors
    ///
    /// A sentence, with these `names`, about an invalid value or a setting that has no effect
    /// without another.
    pub fn read(
        names: SettingNames,
        mut given: impl FnMut(&'static Setting) -> Result<Option<String>, String>,
    ) -> Result<Self, String> {
        let mut this = Self::default();
        for setting in ALL.iter().copied() {
            if let Some(text) = given(setting)? {
                let value = setting.parse(&text);
                let name = names.name(setting);
                let value = value.map_err(|why| format!("{name}: {why}, found \"{text}\""))?;
                this.values.push((setting, value, text));
            }
        }
        this.check(names)?;
        Ok(this)
    }

    fn entry(&self, setting: &Setting) -> Option<(&Value, &str)> {
        let mut values = self.values.iter();
        let (_, value, text) = values.find(|(own, ..)| own.flag == setting.flag)?;
        Some((value, text))
    }

    fn value(&self, setting: &Setting) -> Option<&Value> {
        self.entry(setting).map(|(value, _)| value)
    }

    /// Returns whether a setting has a value.
    #[must_use]
    pub fn is_set(&self, setting: &Setting) -> bool {
        self.value(setting).is_some()
    }

    /// Returns the number that is a setting's value.
    #[must_use]
    pub fn number(&self, setting: &Setting) -> Option<u64> {
        match self.value(setting) {
            Some(Value::Number(number)) => Some(*number),
            _ => None,
        }
    }

    /// Returns the time that is a setting's value.
    #[must_use]
    pub fn time(&self, setting: &Setting) -> Option<Duration> {
        match self.value(setting) {
            Some(Value::Time(time)) => Some(*time),
            _ => None,
        }
    }

    /// Returns the word, the signal's name or the globs that are a setting's value.
    #[must_use]
    pub fn text(&self, setting: &Setting) -> Option<&str> {
        match self.value(setting) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Returns each environment variable with its value; `None` for a default.
    pub fn variables(&self) -> impl Iterator<Item = (&'static str, Option<&str>)> {
        ALL.iter().map(|setting| {
            let text = self.entry(setting).map(|(_, text)| text);
            (setting.variable, text)
        })
    }

    /// Rejects settings whose required settings are missing.
    fn check(&self, names: SettingNames) -> Result<(), String> {
        let [flight, segment] = [&FLIGHT, &SEGMENT].map(|setting| names.name(setting));
        let windowed = names.with(&DETAILS, "trigger");
        if self.is_windowed() && self.is_set(&FLIGHT) {
            return Err(format!("{windowed}: with {flight}, use all or off"));
        }
        if self.is_set(&PRE_ROLL) && self.is_set(&FLIGHT) {
            return Err(format!(
                "{}: {flight} already sets the length",
                names.name(&PRE_ROLL)
            ));
        }
        let set = |needs: Needs| {
            let mut values = self.values.iter().map(|(setting, ..)| *setting);
            Some(names.name(values.find(|setting| setting.needs == needs)?))
        };
        let ring = names.name(&RING);
        let details = names.with(&DETAILS, "all or trigger");
        let drops = self.text(&OVERFLOW) == Some("drop-detail");
        let drops = drops.then(|| names.with(&OVERFLOW, "drop-detail"));
        for (set, is_met, need) in [
            (
                set(Needs::Rings),
                self.ring().is_some(),
                format!("{ring}, {flight}, {segment} or {windowed}"),
            ),
            (
                set(Needs::Windows),
                self.window().is_some(),
                format!("{windowed} or {flight}"),
            ),
            (
                drops.or(set(Needs::Details)),
                self.stack_size().is_some(),
                details,
            ),
            (set(Needs::Segments), self.is_set(&SEGMENT), segment.clone()),
        ] {
            if let Some(setting) = set.filter(|_| !is_met) {
                return Err(format!("{setting} needs {need}"));
            }
        }
        Ok(())
    }

    fn is_windowed(&self) -> bool {
        self.text(&DETAILS) == Some("trigger")
    }

    /// Returns how many bytes of the stack a detail contains; `None` if none are recorded.
    #[must_use]
    pub fn stack_size(&self) -> Option<usize> {
        self.text(&DETAILS).filter(|when| *when != "off")?;
        usize::try_from(self.number(&STACK_SIZE).unwrap_or(STACK)).ok()
    }

    /// Returns the size of a detail's largest payload in bytes; 0 without details.
    #[must_use]
    pub fn payload_size(&self) -> u64 {
        let size = |stack: usize| FunctionPayload::SIZE.saturating_add(stack) as u64;
        self.stack_size().map_or(0, size)
    }

    /// Returns the windows around triggers.
    #[must_use]
    pub fn window(&self) -> Option<Window> {
        let window = Window::default().post_roll(self.time(&POST_ROLL).unwrap_or_default());
        if self.is_set(&FLIGHT) {
            let pre_roll = self.time(&FLIGHT).unwrap_or(Duration::MAX);
            return Some(window.lanes(Lanes::Both).on_stop(true).pre_roll(pre_roll));
        }
        let pre_roll = self.time(&PRE_ROLL).unwrap_or_default();
        self.is_windowed().then(|| window.pre_roll(pre_roll))
    }

    /// Returns how many events a full ring holds; `None` without rings.
    #[must_use]
    pub fn ring(&self) -> Option<u64> {
        /// The size of an event in a ring, in bytes.
        const EVENT: u64 = 32;
        let of_windows = || {
            self.window()?;
            let Some(size) = self.number(&FLIGHT) else {
                return Some(1 << if self.stack_size().is_some() { 17 } else { 20 });
            };
            // A ring keeps only half of its capacity.
            let each = EVENT.saturating_add(self.payload_size());
            let events = size.saturating_mul(2).checked_div(each);
            Some(events.unwrap_or_default().max(2))
        };
        let default = Capacity::default().events as u64;
        let of_segments = || self.is_set(&SEGMENT).then_some(default);
        self.number(&RING).or_else(of_windows).or_else(of_segments)
    }

    /// Returns the memory limit for all rings together, in bytes.
    #[must_use]
    pub fn ring_memory(&self) -> u64 {
        let default = RecordOptions::default().ring_memory as u64;
        self.number(&RING_MEMORY).unwrap_or(default)
    }

    /// Returns the options of the recording.
    #[must_use]
    pub fn options(&self) -> RecordOptions {
        let default = Capacity::default();
        let size = |size: u64| usize::try_from(size).unwrap_or(usize::MAX);
        let events = self.ring().map_or(default.events, size);
        // With windows, there is room for every event's payload. Without windows, less is enough,
        // because the drain removes payloads immediately.
        let most = self.window().map_or(MOST_DRAINED, |_| 1 << 30);
        let payloads = (events as u64).saturating_mul(self.payload_size());
        let payloads = size(payloads.min(most));
        let segment = self.is_set(&SEGMENT).then(|| {
            let segment = Segment::default().keep(self.number(&KEEP).map(size));
            let (time, bytes) = (self.time(&SEGMENT), self.number(&SEGMENT));
            segment.duration(time).size(bytes)
        });
        RecordOptions::default()
            .ring_memory(size(self.ring_memory()))
            .capacity(default.events(events).payload_size(payloads))
            .overflow(match self.text(&OVERFLOW) {
                Some("drop") => Overflow::DropNewest,
                Some("drop-detail") => Overflow::DropDetail,
                _ => Overflow::Block,
            })
            .window(self.window())
            .segment(segment)
    }
}

impl SettingNames {
    fn name(self, setting: &Setting) -> String {
        match self {
            Self::Flags => format!("--{}", setting.flag),
            Self::Variables => setting.variable.to_owned(),
        }
    }

    fn with(self, setting: &Setting, value: &str) -> String {
        let name = self.name(setting);
        match self {
            Self::Flags => format!("{name} {value}"),
            Self::Variables => format!("{name}={value}"),
        }
    }
}

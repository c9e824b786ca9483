//! Reads JSON values, with their positions in the text.

use std::borrow::Cow;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, TryReserveError};
use std::fmt;

use serde_core::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde_core::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::TIMESCALE;
use crate::error::{Error, ErrorKind, push};
use crate::rules::{Rule, table as rules};

/// The maximum number of problems to keep, because hostile text can have one for every two bytes.
const MOST_PROBLEMS: usize = 100;
/// How many characters of an invalid value to show.
const SHOWN: usize = 40;
/// The message of the only error that is not caused by the text.
const NO_MEMORY: &str = "not enough memory for the values";

/// The path to a value from the root, such as `threads[2].id`.
#[derive(Clone, Copy)]
pub(super) enum Place<'p> {
    Root,
    Key(&'p Place<'p>, &'p str),
    Item(&'p Place<'p>, usize),
}

impl Place<'_> {
    /// Returns the value's position in its list; 0 outside of lists.
    pub(super) const fn position(self) -> usize {
        match self {
            Self::Item(_, position) => position,
            Self::Root | Self::Key(..) => 0,
        }
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Key(Self::Root, key) => f.write_str(key),
            Self::Key(parent, key) => write!(f, "{parent}.{key}"),
            Self::Item(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

/// An object, with the first value of each key.
pub(super) struct Object<'a, 'p> {
    raw: &'a RawValue,
    place: Place<'p>,
    members: BTreeMap<Cow<'a, str>, &'a RawValue>,
}

/// JSON text, and the problems with its values.
pub(super) struct Reader<'a> {
    text: &'a str,
    /// The text's offset in the file.
    start: u64,
    pub(super) problems: Vec<Error>,
    pub(super) problem_count: u64,
    pub(super) ignored_count: u64,
    /// Whether memory ran out, so that some values are missing.
    pub(super) is_out_of_memory: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str, start: u64) -> Self {
        Self {
            text,
            start,
            problems: Vec::new(),
            problem_count: 0,
            ignored_count: 0,
            is_out_of_memory: false,
        }
    }

    /// Records a problem at a byte of the text, and the rule that it breaks.
    pub(super) fn problem_at(
        &mut self,
        offset: usize,
        place: Place<'_>,
        kind: ErrorKind,
        rule: &'static Rule,
    ) {
        let is_ignored = kind.is_ignored();
        self.problem_count = self.problem_count.saturating_add(1);
        self.ignored_count = self.ignored_count.saturating_add(is_ignored.into());
        let listed = self.problems.iter();
        let listed = listed.filter(|it| it.kind().is_ignored() == is_ignored);
        if listed.count() >= MOST_PROBLEMS {
            return;
        }
        let offset = self.start.saturating_add(offset as u64);
        let error = Error::new(kind).with_offset(offset).with_rule(rule);
        let error = match place {
            Place::Root => error,
            place => error.with_field(place.to_string()),
        };
        self.problems.push(error);
    }

    /// Records a problem at a value.
    pub(super) fn problem(
        &mut self,
        raw: &RawValue,
        place: Place<'_>,
        kind: ErrorKind,
        rule: &'static Rule,
    ) {
        // The value is a slice of the text, so the pointers' distance is its offset.
        let offset = raw
            .get()
            .as_ptr()
            .addr()
            .saturating_sub(self.text.as_ptr().addr());
        self.problem_at(offset, place, kind, rule);
    }

    /// Returns the value at the start of the text, even if something follows it.
    pub(super) fn root(&mut self) -> Option<&'a RawValue> {
        let mut values = serde_json::Deserializer::from_str(self.text).into_iter::<&RawValue>();
        let root = match values.next() {
            Some(Ok(root)) => root,
            Some(Err(error)) => {
                let offset = if error.is_eof() {
                    self.text.len()
                } else {
                    byte_offset(self.text, error.line(), error.column())
                };
                let kind = ErrorKind::NotJson(message(&error));
                self.problem_at(offset, Place::Root, kind, &rules::ATF_MANI_002);
                return None;
            }
            None => {
                self.problem_at(0, Place::Root, ErrorKind::Empty, &rules::ATF_MANI_002);
                return None;
            }
        };
        let end = values.byte_offset();
        let rest = self.text.get(end..).unwrap_or_default();
        // JSON's whitespace, which does not include the form feed.
        let text = rest.find(|c| !matches!(c, ' ' | '\t' | '\n' | '\r'));
        if let Some(blank) = text {
            let kind = ErrorKind::NotJson("unexpected text after the value".to_owned());
            let offset = end.saturating_add(blank);
            self.problem_at(offset, Place::Root, kind, &rules::ATF_MANI_002);
        }
        Some(root)
    }

    /// Reads an object. Unknown and duplicate keys are problems.
    pub(super) fn object<'p>(
        &mut self,
        raw: &'a RawValue,
        place: Place<'p>,
        known: &[&str],
    ) -> Option<Object<'a, 'p>> {
        let all: Members<'a> = self.typed(raw, place, "an object")?;
        let mut members = BTreeMap::new();
        for (key, value) in all.0 {
            let problem = match members.entry(key) {
                Entry::Vacant(entry) if known.contains(&&**entry.key()) => {
                    entry.insert(value);
                    continue;
                }
                Entry::Vacant(entry) => {
                    let rule = &rules::ATF_MANI_011;
                    (entry.into_key(), ErrorKind::UnknownKey, rule)
                }
                Entry::Occupied(entry) => {
                    let rule = &rules::ATF_MANI_002;
                    (entry.key().clone(), ErrorKind::DuplicateKey, rule)
                }
            };
            let (key, kind, rule) = problem;
            self.problem(value, Place::Key(&place, &key), kind, rule);
        }
        Some(Object {
            raw,
            place,
            members,
        })
    }

    /// Reads a member of an object with `read`; a missing member is not a problem.
    pub(super) fn member<T>(
        &mut self,
        object: &Object<'a, '_>,
        key: &str,
        read: impl FnOnce(&mut Self, &'a RawValue, Place<'_>) -> Option<T>,
    ) -> Option<T> {
        let raw = *object.members.get(key)?;
        read(self, raw, Place::Key(&object.place, key))
    }

    /// Like [`member`](Self::member), but a missing member is a problem.
    pub(super) fn required<T>(
        &mut self,
        object: &Object<'a, '_>,
        key: &str,
        read: impl FnOnce(&mut Self, &'a RawValue, Place<'_>) -> Option<T>,
    ) -> Option<T> {
        if !object.members.contains_key(key) {
            let place = Place::Key(&object.place, key);
            let rule = &rules::ATF_MANI_003;
            self.problem(object.raw, place, ErrorKind::MissingKey, rule);
        }
        self.member(object, key, read)
    }

    pub(super) fn boolean(&mut self, raw: &'a RawValue, place: Place<'_>) -> Option<bool> {
        self.typed(raw, place, "true or false")
    }

    pub(super) fn u8(&mut self, raw: &'a RawValue, place: Place<'_>) -> Option<u8> {
        self.typed(raw, place, "a u8")
    }

    pub(super) fn u32(&mut self, raw: &'a RawValue, place: Place<'_>) -> Option<u32> {
        self.typed(raw, place, "a u32")
    }

    pub(super) fn u64(&mut self, raw: &'a RawValue, place: Place<'_>) -> Option<u64> {
        self.typed(raw, place, "a u64")
    }

    pub(super) fn i64(&mut self, raw: &'a RawValue, place: Place<'_>) -> Option<i64> {
        self.typed(raw, place, "an i64")
    }

    /// Reads an integer greater than 0.
    pub(super) fn positive_i32(&mut self, raw: &'a RawValue, place: Place<'_>) -> Option<i32> {
        let number = self.typed(raw, place, TIMESCALE)?;
        self.expected((number > 0).then_some(number), raw, place, TIMESCALE)
    }

    /// Reads a string with a hexadecimal number, such as `"0x1f"`.
    pub(super) fn hex(&mut self, raw: &'a RawValue, place: Place<'_>) -> Option<u64> {
        const EXPECTED: &str = "a string with a hexadecimal number, as in \"0x1f\"";
        let Text(text) = self.typed(raw, place, EXPECTED)?;
        let digits = text
            .strip_prefix("0x")
            .filter(|digits| !digits.starts_with('+'));
        let number = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
        self.expected(number, raw, place, EXPECTED)
    }

    /// Reads a string and returns an owned copy.
    pub(super) fn text(&mut self, raw: &'a RawValue, place: Place<'_>) -> Option<String> {
        let Text(text) = self.typed(raw, place, "a text")?;
        let mut own = String::new();
        self.has_memory(own.try_reserve_exact(text.len()))?;
        own.push_str(&text);
        Some(own)
    }

    /// Reads a name, which must not be empty.
    pub(super) fn name(&mut self, raw: &'a RawValue, place: Place<'_>) -> Option<String> {
        let name = self.text(raw, place)?;
        if name.is_empty() {
            self.problem(raw, place, ErrorKind::EmptyName, &rules::ATF_MANI_013);
            return None;
        }
        Some(name)
    }

    /// Reads a list, skipping unreadable items.
    pub(super) fn list<T>(
        &mut self,
        raw: &'a RawValue,
        place: Place<'_>,
        mut read: impl FnMut(&mut Self, &'a RawValue, Place<'_>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let List(items) = self.typed(raw, place, "a list")?;
        let mut values = Vec::new();
        for (position, raw) in items.into_iter().enumerate() {
            if let Some(value) = read(self, raw, Place::Item(&place, position))
                && self.has_memory(values.try_reserve(1)).is_some()
            {
                values.push(value);
            }
            if self.is_out_of_memory {
                break;
            }
        }
        Some(values)
    }

    /// Returns `Some` if memory could be reserved; otherwise, records the failure and returns
    /// `None`.
    pub(super) fn has_memory(&mut self, reserved: Result<(), TryReserveError>) -> Option<()> {
        self.is_out_of_memory |= reserved.is_err();
        reserved.ok()
    }

    fn typed<T: Deserialize<'a>>(
        &mut self,
        raw: &'a RawValue,
        place: Place<'_>,
        expected: &'static str,
    ) -> Option<T> {
        match serde_json::from_str(raw.get()) {
            Ok(value) => Some(value),
            Err(error) if error.is_data() && error.to_string().starts_with(NO_MEMORY) => {
                self.is_out_of_memory = true;
                None
            }
            Err(_) => self.expected(None, raw, place, expected),
        }
    }

    /// Records a problem if `value` is `None`, which means that the JSON value has the wrong type
    /// or is out of range.
    fn expected<T>(
        &mut self,
        value: Option<T>,
        raw: &RawValue,
        place: Place<'_>,
        expected: &'static str,
    ) -> Option<T> {
        if value.is_none() {
            let found = shown(raw);
            let kind = ErrorKind::WrongType { found, expected };
            self.problem(raw, place, kind, &rules::ATF_MANI_003);
        }
        value
    }
}

/// Formats a hexadecimal number with at least `digits` digits, such as `0x1f`.
pub(super) fn hex(number: &u64, digits: usize) -> String {
    format!("0x{number:0digits$x}")
}

/// The members of an object in order, including duplicate keys.
pub(super) struct Members<'a>(pub(super) Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Self(Vec::new()))
    }
}

impl<'de> Visitor<'de> for Members<'de> {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Self, A::Error> {
        while let Some((key, value)) = map.next_entry::<Text<'de>, _>()? {
            push(&mut self.0, (key.0, value)).map_err(|_| A::Error::custom(NO_MEMORY))?;
        }
        Ok(self)
    }
}

/// The items of a list.
pub(super) struct List<'a>(pub(super) Vec<&'a RawValue>);

impl<'de> Deserialize<'de> for List<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Self(Vec::new()))
    }
}

impl<'de> Visitor<'de> for List<'de> {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<Self, A::Error> {
        while let Some(item) = list.next_element()? {
            push(&mut self.0, item).map_err(|_| A::Error::custom(NO_MEMORY))?;
        }
        Ok(self)
    }
}

/// A value that strict parsers accept, read but not kept. It must not contain numbers such as
/// 1e999, although they are well-formed.
pub(super) struct Strict;

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self, A::Error> {
        while list.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self, A::Error> {
        while map.next_entry::<Self, Self>()?.is_some() {}
        Ok(self)
    }
}

/// A string, borrowed unless it contains escapes.
struct Text<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Whole;
        impl<'de> Visitor<'de> for Whole {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Whole)
    }
}

/// Returns the beginning of a value, for use in a message.
fn shown(raw: &RawValue) -> String {
    let text = raw.get();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Returns the parser's message without its line and column, because the error has the byte offset.
pub(super) fn message(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split_once(" at line ")
        .map_or(text.clone(), |(message, _)| message.to_owned())
}

/// Converts the parser's line and column, both counted from 1, to a byte offset. Columns are in
/// bytes.
fn byte_offset(text: &str, line: usize, column: usize) -> usize {
    let lines = text.split_inclusive('\n').take(line.saturating_sub(1));
    let start = lines.map(str::len).fold(0, usize::saturating_add);
    start
        .saturating_add(column.saturating_sub(1))
        .min(text.len())
}

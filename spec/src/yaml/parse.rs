//! Parses a file's bytes into a tree: YAML of bounded depth and size, without anchors, aliases or
//! additional documents.

use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::{Error, Location, MergeKeyPolicy, Options, Spanned};

use super::At;
use super::node::{Node, Value};
use crate::diagnostic::{Diagnostic, FileId, Place};

/// The maximum nesting depth. Our deepest file has 10 levels.
const MAX_DEPTH: usize = 32;
/// The maximum number of nodes. Our largest file has about 3,000.
const MAX_NODES: usize = 250_000;

impl Node {
    /// Parses a file's only document and returns its root.
    ///
    /// # Errors
    ///
    /// Returns a diagnostic with the place of invalid UTF-8, invalid syntax, a duplicate key, an
    /// anchor or alias, a second document, a control character, or too many levels or nodes.
    pub fn parse(file: FileId, bytes: &[u8]) -> Result<Self, Diagnostic> {
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let start = as_offset(error.valid_up_to());
            let place = Place {
                file,
                start,
                end: start,
            };
            let is_utf16 = [[0xff, 0xfe], [0xfe, 0xff]]
                .iter()
                .any(|mark| bytes.starts_with(mark));
            let why = if is_utf16 {
                "the file is UTF-16, not UTF-8"
            } else {
                "the file is not UTF-8"
            };
            let label = format!("byte 0x{:02x}", bytes[error.valid_up_to()]);
            Diagnostic::error(place, why).label(label)
        })?;
        let mut root: Self = serde_saphyr::from_str_with_options(text, options())
            .map_err(|error| parse_error(file, text, &error))?;
        match root.completed(file) {
            Some((letter, place)) => {
                let code = u32::from(letter);
                let why = format!("a text with the control character U+{code:04X}");
                Err(Diagnostic::error(place, why).help("delete the character"))
            }
            None => Ok(root),
        }
    }

    /// Sets the file of all places, which the parser does not know. Returns the first character
    /// that no text may contain.
    fn completed(&mut self, file: FileId) -> Option<(char, Place)> {
        self.place.file = file;
        match &mut self.value {
            Value::Text(text) => Some((forbidden(text)?, self.place)),
            Value::Seq(items) => items.iter_mut().find_map(|item| item.completed(file)),
            Value::Map(entries) => entries.iter_mut().find_map(|(key, value)| {
                key.place.file = file;
                let letter = forbidden(key).map(|letter| (letter, key.place));
                letter.or_else(|| value.completed(file))
            }),
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::OtherNumber => None,
        }
    }
}

/// Finds a character that no text may contain, because it would end a line or change the direction
/// of text in generated code.
fn forbidden(text: &str) -> Option<char> {
    text.chars().find(|letter| match letter {
        '\n' => false,
        '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => true,
        letter => letter.is_control(),
    })
}

fn options() -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_anchors: 0,
            max_aliases: 0,
            max_depth: MAX_DEPTH,
            flow_nesting_limit: MAX_DEPTH,
            max_nodes: MAX_NODES,
        },
        // Read `no` and `on` as plain words.
        strict_booleans: true,
        // Read `<<` as an unknown key.
        merge_keys: MergeKeyPolicy::AsOrdinary,
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Spanned {
            value, referenced, ..
        } = Spanned::deserialize(deserializer)?;
        let place = place_of_value(referenced);
        Ok(Self { value, place })
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Int(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Int(value.into()))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Value, E> {
        Ok(Value::OtherNumber)
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut seq = Vec::new();
        while let Some(item) = items.next_element()? {
            seq.push(item);
        }
        Ok(Value::Seq(seq))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Vec::new();
        while let Some((key, node)) = entries.next_entry::<Spanned<String>, Node>()? {
            let place = place_of_value(key.referenced);
            let value = key.value;
            map.push((At { value, place }, node));
        }
        Ok(Value::Map(map))
    }
}

/// Converts the parser's error, rewording it where necessary.
fn parse_error(file: FileId, text: &str, error: &Error) -> Diagnostic {
    let place = place_of_error(file, text, error.location().unwrap_or(Location::UNKNOWN));
    if let Some(tab) = tab_in_indentation(text, place) {
        return Diagnostic::error(tab, "a tab in the indentation").help("indent with spaces");
    }
    match error.without_snippet() {
        Error::Budget {
            breach: BudgetBreach::Anchors { .. } | BudgetBreach::Aliases { .. },
            ..
        } => no_aliases(anchor_before(text, place)),
        Error::Budget { breach, .. } => Diagnostic::error(place, breached(breach)),
        Error::UnknownAnchor { .. } => no_aliases(place),
        Error::MultipleDocuments { .. } => {
            Diagnostic::error(place, "a second document; a spec file contains only one")
                .help("delete the `---` before it")
        }
        Error::DuplicateMappingKey { key: Some(key), .. } => {
            Diagnostic::error(place, format!("duplicate key `{key}`"))
        }
        // The parser's message ends with the place, but the diagnostic already shows it.
        error => {
            let message = error.to_string();
            let end = message.rfind(" at line ").unwrap_or(message.len());
            let message = &message[..end];
            if message == "recursion limit exceeded" {
                return Diagnostic::error(place, too_deep());
            }
            let fault = Diagnostic::error(place, message);
            if message.starts_with("mapping values are not allowed") {
                return fault.help("text that contains a colon followed by a space needs quotes");
            }
            fault
        }
    }
}

fn no_aliases(place: Place) -> Diagnostic {
    Diagnostic::error(place, "anchors and aliases are not allowed in spec files")
        .help("write the value out; text that starts with `&` or `*` needs quotes")
}

fn breached(breach: &BudgetBreach) -> String {
    match breach {
        BudgetBreach::Depth { .. } => too_deep(),
        BudgetBreach::Nodes { .. } => format!("more than {MAX_NODES} keys and values"),
        _ => "more than a spec file may contain".to_owned(),
    }
}

fn too_deep() -> String {
    format!("nested deeper than {MAX_DEPTH} levels")
}

/// Finds the anchor of the value at a place.
fn anchor_before(text: &str, place: Place) -> Place {
    let found = usize::try_from(place.start)
        .ok()
        .and_then(|start| Some((text.get(..start)?.rfind('&')?, start)));
    let Some((anchor, start)) = found else {
        return place;
    };
    Place {
        start: as_offset(anchor),
        end: as_offset(anchor + text[anchor..start].trim_end().len()),
        ..place
    }
}

/// Finds the first tab in the indentation of a fault's line or of the next one, because the parser
/// reports the place of the value before the tab.
fn tab_in_indentation(text: &str, place: Place) -> Option<Place> {
    let start = usize::try_from(place.start).ok()?;
    let line = text.get(..start)?.rfind('\n').map_or(0, |end| end + 1);
    let mut offset = line;
    for line in text.get(line..)?.split_inclusive('\n').take(2) {
        let blanks = line.len() - line.trim_start_matches([' ', '\t']).len();
        if let Some(tab) = line[..blanks].find('\t') {
            let start = as_offset(offset + tab);
            return Some(Place {
                start,
                end: start + 1,
                ..place
            });
        }
        offset += line.len();
    }
    None
}

/// Returns the place of a key or value, without its file.
fn place_of_value(location: Location) -> Place {
    let bytes = byte_range(location).unwrap_or_default();
    Place {
        start: as_offset(bytes.start),
        end: as_offset(bytes.end),
        ..Place::default()
    }
}

fn place_of_error(file: FileId, text: &str, location: Location) -> Place {
    // For some errors, the parser knows only the line and the column.
    let bytes = byte_range(location).unwrap_or_else(|| {
        let start = byte_of_char(text, location);
        start..start + 1
    });
    let clip = |offset: usize| as_offset(offset.min(text.len()));
    Place {
        file,
        start: clip(bytes.start),
        end: clip(bytes.end),
    }
}

/// Returns the bytes of a location, if the parser knows them.
fn byte_range(location: Location) -> Option<Range<usize>> {
    let span = location.span();
    let start = usize::try_from(span.byte_offset()?).ok()?;
    let size = usize::try_from(span.byte_len()?).ok()?;
    Some(start..start.saturating_add(size))
}

fn byte_of_char(text: &str, location: Location) -> usize {
    let line = usize::try_from(location.line().saturating_sub(1)).unwrap_or(usize::MAX);
    let column = usize::try_from(location.column().saturating_sub(1)).unwrap_or(usize::MAX);
    let before: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let within = text[before..].chars().take(column);
    let within: usize = within.map(char::len_utf8).sum();
    before + within
}

fn as_offset(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}

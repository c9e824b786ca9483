//! Adds function names, or the signal that ended the process, to a manifest's text.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde_core::ser::SerializeMap as _;
use serde_core::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::json::{List, Members, Place, Reader, message};
use super::read::without_mark;
use super::write::encode;
use super::{Manifest, Symbol, key};
use crate::error::{Error, ErrorKind, Result};

/// Returns the text with names added for unnamed functions. All other values, including unknown
/// ones, stay unchanged.
pub(crate) fn with_symbols(bytes: &[u8], symbols: &[Symbol]) -> Result<Vec<u8>> {
    let Members(members) = members(bytes)?;
    let old = members.iter().find(|(key, _)| key == key::SYMBOLS);
    let old = match old {
        Some((_, raw)) => {
            parse::<List<'_>>(raw.get())
                .map_err(|e| e.with_field(key::SYMBOLS))?
                .0
        }
        None => Vec::new(),
    };
    let named = symbols
        .iter()
        .filter_map(|symbol| Some((symbol.function_id, symbol.name.as_deref()?)));
    let names: HashMap<u64, &str> = named.collect();
    let mut seen = HashSet::new();
    let mut items = Vec::new();
    for raw in old {
        // Ignore the manifest's problems, because the checker reports them.
        let found = Symbol::read(&mut Reader::new(raw.get(), 0), raw, Place::Root);
        // If a function is listed twice, the first entry is used.
        let is_first = found
            .as_ref()
            .is_some_and(|found| seen.insert(found.function_id));
        let lacking = found.filter(|found| is_first && found.name.is_none());
        let name = lacking.and_then(|found| names.get(&found.function_id));
        items.push(match name {
            Some(name) => {
                let Members(members) = parse(raw.get())?;
                with_text(members, key::NAME, name)
            }
            None => Value::Old(raw),
        });
    }
    let new = symbols.iter().filter(|new| seen.insert(new.function_id));
    items.extend(new.map(Value::Symbol));
    // A manifest with symbols has this version.
    let mut all = vec![(Cow::Borrowed(key::FORMAT_VERSION), Value::Text("2.1"))];
    let others = members
        .into_iter()
        .filter(|(key, _)| key != key::FORMAT_VERSION);
    all.extend(others.map(|(key, raw)| (key, Value::Old(raw))));
    let items = Value::List(items);
    match all.iter_mut().find(|(key, _)| key == key::SYMBOLS) {
        Some((_, old)) => *old = items,
        None => all.push((Cow::Borrowed(key::SYMBOLS), items)),
    }
    encode(&Value::Object(all), Manifest::LIMIT)
}

/// Returns the manifest with `ended_by` set to the signal that ended the traced process. All other
/// values stay unchanged.
pub(crate) fn with_ended_by(bytes: &[u8], signal: &str) -> Result<Vec<u8>> {
    let Members(members) = members(bytes)?;
    let manifest = with_text(members, key::ENDED_BY, signal);
    encode(&manifest, Manifest::LIMIT)
}

fn members(bytes: &[u8]) -> Result<Members<'_>> {
    let text = str::from_utf8(bytes)
        .map_err(|error| Error::new(ErrorKind::NotUtf8).with_offset(error.valid_up_to() as u64))?;
    parse(without_mark(text))
}

fn parse<'a, T: serde_core::Deserialize<'a>>(text: &'a str) -> Result<T> {
    let parsed = serde_json::from_str(text);
    parsed.map_err(|error| Error::new(ErrorKind::NotJson(message(&error))))
}

/// Returns an object with the text of one key replaced, or added, at its end.
fn with_text<'a>(
    members: Vec<(Cow<'a, str>, &'a RawValue)>,
    name: &'a str,
    text: &'a str,
) -> Value<'a> {
    let others = members.into_iter().filter(|(key, _)| key != name);
    let others = others.map(|(key, raw)| (key, Value::Old(raw)));
    let new = (Cow::Borrowed(name), Value::Text(text));
    Value::Object(others.chain([new]).collect())
}

/// A value in the new text.
enum Value<'a> {
    /// A value of the old text, unchanged.
    Old(&'a RawValue),
    Text(&'a str),
    Symbol(&'a Symbol),
    List(Vec<Self>),
    Object(Vec<(Cow<'a, str>, Self)>),
}

impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Old(raw) => raw.serialize(serializer),
            Self::Text(text) => text.serialize(serializer),
            Self::Symbol(symbol) => symbol.serialize(serializer),
            Self::List(items) => items.serialize(serializer),
            Self::Object(members) => {
                let mut object = serializer.serialize_map(None)?;
                for (key, value) in members {
                    object.serialize_entry(key, value)?;
                }
                object.end()
            }
        }
    }
}

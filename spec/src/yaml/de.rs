//! Deserializes serde types from a tree and finds all format faults in it.
//!
//! An invalid entry in a sequence or mapping is reported and skipped, so one pass finds the faults in
//! all entries. Serde's structs stop at their first invalid entry, so the tree is decoded again
//! without the known ones until a pass finds nothing new.

use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{StrDeserializer, U32Deserializer};
use serde::de::{self, DeserializeOwned, DeserializeSeed, IntoDeserializer, Visitor};

use super::node::{Node, Value};
use super::values::{AT, At};
use crate::diagnostic::{Diagnostic, Place};

/// Decodes a tree.
///
/// # Errors
///
/// Returns all format faults: unknown or missing keys, wrong types, values out of range.
pub fn decode<T: DeserializeOwned>(root: &Node) -> Result<T, Vec<Diagnostic>> {
    let report = RefCell::new(Report::default());
    loop {
        let before = report.borrow().faults.len();
        let decoder = Decoder {
            node: root,
            report: &report,
        };
        let decoded = decoder.entry(PhantomData::<T>);
        if report.borrow().faults.len() > before {
            continue;
        }
        let faults = report.into_inner().faults;
        return match decoded {
            Ok(value) if faults.is_empty() => Ok(value),
            _ => Err(faults),
        };
    }
}

/// Faults found in the passes so far.
#[derive(Default)]
struct Report {
    faults: Vec<Diagnostic>,
    /// Reported entries of sequences and mappings, which the next pass skips.
    faulty: HashSet<*const Node>,
}

/// A format fault. Its place is that of the innermost value that contains the fault.
#[derive(Debug)]
struct Fault {
    message: String,
    place: Option<Place>,
    /// The missing key of a mapping.
    missing: Option<&'static str>,
    /// Whether the fault is already among the diagnostics.
    is_reported: bool,
}

impl Fault {
    fn placed(mut self, place: Place) -> Self {
        self.place.get_or_insert(place);
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}

impl de::Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self {
            message: message.to_string(),
            place: None,
            missing: None,
            is_reported: false,
        }
    }

    fn missing_field(key: &'static str) -> Self {
        Self {
            missing: Some(key),
            ..Self::custom(format_args!("the key `{key}` is missing"))
        }
    }

    fn unknown_variant(word: &str, known: &'static [&'static str]) -> Self {
        Self::custom(format_args!("`{word}` is not one of: {}", known.join(", ")))
    }
}

#[derive(Clone, Copy)]
struct Decoder<'a> {
    node: &'a Node,
    report: &'a RefCell<Report>,
}

impl<'a> Decoder<'a> {
    /// Returns the decoder of another node.
    const fn at(self, node: &'a Node) -> Self {
        Self { node, ..self }
    }

    /// Decodes a mapping. Unknown keys are faults if the known ones are given.
    fn mapping<'de, V: Visitor<'de>>(
        self,
        known: Option<&'static [&'static str]>,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let entries = Entries {
            entries: self.entries()?.iter(),
            value: None,
            known,
            decoder: self,
        };
        self.placed(visitor.visit_map(entries))
    }

    fn wrong(self, expected: &str) -> Fault {
        let found = self.node.value.kind();
        de::Error::custom(format!("expected {expected}, found {found}"))
    }

    fn entries(self) -> Result<&'a [(At<String>, Node)], Fault> {
        match &self.node.value {
            Value::Map(entries) => Ok(entries),
            _ => Err(self.wrong("a mapping")),
        }
    }

    fn integer<T: TryFrom<i128>>(self, range: &str) -> Result<T, Fault> {
        match self.node.value {
            Value::Int(value) => T::try_from(value)
                .map_err(|_| de::Error::custom(format!("expected {range}, found {value}"))),
            _ => Err(self.wrong(range)),
        }
    }

    fn text(self) -> Result<&'a str, Fault> {
        match &self.node.value {
            Value::Text(text) => Ok(text),
            _ => Err(self.wrong("text")),
        }
    }

    fn placed<T>(self, result: Result<T, Fault>) -> Result<T, Fault> {
        result.map_err(|fault| fault.placed(self.node.place))
    }

    /// Decodes an entry of a collection, or the whole tree, and reports its fault immediately,
    /// because the collections of this module skip a faulty entry and continue.
    fn entry<'de, S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Fault> {
        self.placed(seed.deserialize(self)).map_err(|mut fault| {
            if !fault.is_reported {
                self.report(&mut fault);
            }
            fault
        })
    }

    fn report(self, fault: &mut Fault) {
        fault.is_reported = true;
        let mut report = self.report.borrow_mut();
        if !report.faulty.insert(self.node) {
            return;
        }
        // The key exists but was skipped because its value is faulty.
        let is_known = fault.missing.is_some_and(|missing| {
            let entries = self.entries().unwrap_or_default();
            entries.iter().any(|(key, _)| key.value == missing)
        });
        if !is_known {
            let message = std::mem::take(&mut fault.message);
            let place = fault.place.unwrap_or(self.node.place);
            report.faults.push(Diagnostic::error(place, message));
        }
    }

    fn is_known_as_faulty(self) -> bool {
        let node = std::ptr::from_ref(self.node);
        self.report.borrow().faulty.contains(&node)
    }
}

impl<'de> de::Deserializer<'de> for Decoder<'_> {
    type Error = Fault;

    /// Decodes fixed values, which have one of two types.
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.node.value {
            Value::Int(_) => self.deserialize_u64(visitor),
            Value::Text(_) => self.deserialize_str(visitor),
            _ => Err(self.wrong("an integer or text")),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.node.value {
            Value::Bool(value) => self.placed(visitor.visit_bool(value)),
            _ => Err(self.wrong("true or false")),
        }
    }

    fn deserialize_u8<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let value = self.integer("an integer from 0 to 255")?;
        self.placed(visitor.visit_u8(value))
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let value = self.integer("an integer from 0 to 4294967295")?;
        self.placed(visitor.visit_u32(value))
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let value = self.integer("an integer from 0 to 18446744073709551615")?;
        self.placed(visitor.visit_u64(value))
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let text = self.text()?;
        self.placed(visitor.visit_str(text))
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_str(visitor)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.node.value {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let Value::Seq(items) = &self.node.value else {
            return Err(self.wrong("a sequence"));
        };
        self.placed(visitor.visit_seq(Items {
            items: items.iter(),
            decoder: self,
        }))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.mapping(None, visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        if name == AT {
            return self.placed(visitor.visit_seq(Located {
                decoder: self,
                part: 0,
            }));
        }
        self.mapping(Some(fields), visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        // The spec's enums are plain words.
        let word: StrDeserializer<'_, Fault> = self.text()?.into_deserializer();
        self.placed(visitor.visit_enum(word))
    }

    serde::forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u16 u128 f32 f64 char bytes byte_buf unit unit_struct
        newtype_struct tuple tuple_struct ignored_any
    }
}

struct Items<'a> {
    items: std::slice::Iter<'a, Node>,
    decoder: Decoder<'a>,
}

impl<'de> de::SeqAccess<'de> for Items<'_> {
    type Error = Fault;

    fn next_element_seed<T>(&mut self, seed: T) -> Result<Option<T::Value>, Fault>
    where
        T: DeserializeSeed<'de>,
    {
        let decoders = self.items.by_ref().map(|node| self.decoder.at(node));
        let mut sound = decoders.filter(|decoder| !decoder.is_known_as_faulty());
        sound.next().map(|decoder| decoder.entry(seed)).transpose()
    }
}

struct Entries<'a> {
    entries: std::slice::Iter<'a, (At<String>, Node)>,
    value: Option<&'a Node>,
    known: Option<&'static [&'static str]>,
    decoder: Decoder<'a>,
}

impl<'de> de::MapAccess<'de> for Entries<'_> {
    type Error = Fault;

    fn next_key_seed<K>(&mut self, seed: K) -> Result<Option<K::Value>, Fault>
    where
        K: DeserializeSeed<'de>,
    {
        for (key, value) in self.entries.by_ref() {
            if self.decoder.at(value).is_known_as_faulty() {
                continue;
            }
            let text = key.as_str();
            if let Some(known) = self.known.filter(|known| !known.contains(&text)) {
                let message = format!("unknown key `{text}`");
                let fault = Diagnostic::error(key.place, message)
                    .label(format!("expected one of: {}", known.join(", ")));
                let mut report = self.decoder.report.borrow_mut();
                report.faulty.insert(value);
                report.faults.push(fault);
                continue;
            }
            self.value = Some(value);
            let node = &Node {
                value: Value::Text(key.value.clone()),
                place: key.place,
            };
            let report = self.decoder.report;
            return seed.deserialize(Decoder { node, report }).map(Some);
        }
        Ok(None)
    }

    fn next_value_seed<V>(&mut self, seed: V) -> Result<V::Value, Fault>
    where
        V: DeserializeSeed<'de>,
    {
        let value = self.value.take();
        let node = value.ok_or_else(|| de::Error::custom("a value without a key"))?;
        self.decoder.at(node).entry(seed)
    }
}

/// The parts of an [`At`]: file, start, end, value.
struct Located<'a> {
    decoder: Decoder<'a>,
    part: usize,
}

impl<'de> de::SeqAccess<'de> for Located<'_> {
    type Error = Fault;

    fn next_element_seed<T>(&mut self, seed: T) -> Result<Option<T::Value>, Fault>
    where
        T: DeserializeSeed<'de>,
    {
        let place = self.decoder.node.place;
        let part = self.part;
        self.part += 1;
        let number = match part {
            0 => place.file.0,
            1 => place.start,
            2 => place.end,
            _ => return seed.deserialize(self.decoder).map(Some),
        };
        let number: U32Deserializer<Fault> = number.into_deserializer();
        seed.deserialize(number).map(Some)
    }
}

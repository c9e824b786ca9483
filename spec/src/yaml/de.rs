//! Serde's types out of a tree. A faulty entry of a sequence or mapping is reported and passed
//! over, so that one pass finds the faults of all entries.

use std::cell::RefCell;
use std::fmt;

use serde::de::value::{StrDeserializer, U32Deserializer};
use serde::de::{self, DeserializeOwned, DeserializeSeed, IntoDeserializer, Visitor};

use super::at::AT;
use super::node::{Key, Node, Place, Value};
use crate::diagnostic::Diagnostic;

/// Decodes a tree. Where anything was wrong, the diagnostics say what, and the value lacks it.
///
/// # Errors
///
/// All faults of form: an unknown or missing key, a wrong type, a value out of range.
pub fn decode<T: DeserializeOwned>(root: &Node) -> Result<T, Vec<Diagnostic>> {
    let faults = RefCell::new(Vec::new());
    let decoded = T::deserialize(Decoder {
        node: root,
        faults: &faults,
    });
    let mut faults = faults.into_inner();
    match decoded {
        Ok(value) if faults.is_empty() => Ok(value),
        Ok(_) => Err(faults),
        Err(fault) => {
            if !fault.is_reported {
                faults.push(fault.at(root.place));
            }
            Err(faults)
        }
    }
}

/// A fault of form; its place is that of the innermost value that it met on its way out.
#[derive(Debug)]
struct Fault {
    message: String,
    place: Option<Place>,
    /// Whether it stands among the diagnostics already.
    is_reported: bool,
}

impl Fault {
    fn at(self, place: Place) -> Diagnostic {
        Diagnostic::error(self.place.unwrap_or(place), self.message)
    }

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
            is_reported: false,
        }
    }
}

#[derive(Clone, Copy)]
struct Decoder<'a> {
    node: &'a Node,
    faults: &'a RefCell<Vec<Diagnostic>>,
}

impl<'a> Decoder<'a> {
    fn wrong(self, expected: &str) -> Fault {
        de::Error::custom(format!(
            "expected {expected}, found {}",
            self.node.value.kind()
        ))
    }

    fn entries(self) -> Result<&'a [(Key, Node)], Fault> {
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

    /// Decodes an entry of a collection and reports its fault at once: the collections of this
    /// module pass over a faulty entry and go on.
    fn entry<'de, S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Fault> {
        self.placed(seed.deserialize(self)).map_err(|mut fault| {
            if !fault.is_reported {
                let message = std::mem::take(&mut fault.message);
                let place = fault.place.unwrap_or(self.node.place);
                self.faults
                    .borrow_mut()
                    .push(Diagnostic::error(place, message));
                fault.is_reported = true;
            }
            fault
        })
    }
}

impl<'de> de::Deserializer<'de> for Decoder<'_> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match &self.node.value {
            Value::Null => self.placed(visitor.visit_unit()),
            Value::Bool(value) => self.placed(visitor.visit_bool(*value)),
            Value::Int(value) => match (u64::try_from(*value), i64::try_from(*value)) {
                (Ok(value), _) => self.placed(visitor.visit_u64(value)),
                (_, Ok(value)) => self.placed(visitor.visit_i64(value)),
                _ => Err(self.wrong("an integer of 64 bits")),
            },
            Value::Text(text) => self.placed(visitor.visit_str(text)),
            Value::Seq(_) => self.deserialize_seq(visitor),
            Value::Map(_) => self.deserialize_map(visitor),
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

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let Value::Seq(items) = &self.node.value else {
            return Err(self.wrong("a sequence"));
        };
        self.placed(visitor.visit_seq(Items {
            items: items.iter(),
            faults: self.faults,
        }))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let entries = self.entries()?;
        let entries = Entries {
            entries: entries.iter(),
            value: None,
            known: None,
            faults: self.faults,
        };
        self.placed(visitor.visit_map(entries))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        if name == AT {
            return self.placed(visitor.visit_map(Located {
                decoder: self,
                part: 0,
            }));
        }
        let entries = self.entries()?;
        let entries = Entries {
            entries: entries.iter(),
            value: None,
            known: Some(fields),
            faults: self.faults,
        };
        self.placed(visitor.visit_map(entries))
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
        i8 i16 i32 i64 i128 u16 u128 f32 f64 char bytes byte_buf unit unit_struct tuple
        tuple_struct ignored_any
    }
}

struct Items<'a> {
    items: std::slice::Iter<'a, Node>,
    faults: &'a RefCell<Vec<Diagnostic>>,
}

impl<'de> de::SeqAccess<'de> for Items<'_> {
    type Error = Fault;

    fn next_element_seed<T>(&mut self, seed: T) -> Result<Option<T::Value>, Fault>
    where
        T: DeserializeSeed<'de>,
    {
        let Some(node) = self.items.next() else {
            return Ok(None);
        };
        Decoder {
            node,
            faults: self.faults,
        }
        .entry(seed)
        .map(Some)
    }
}

struct Entries<'a> {
    entries: std::slice::Iter<'a, (Key, Node)>,
    value: Option<&'a Node>,
    known: Option<&'static [&'static str]>,
    faults: &'a RefCell<Vec<Diagnostic>>,
}

impl<'de> de::MapAccess<'de> for Entries<'_> {
    type Error = Fault;

    fn next_key_seed<K>(&mut self, seed: K) -> Result<Option<K::Value>, Fault>
    where
        K: DeserializeSeed<'de>,
    {
        for (key, value) in self.entries.by_ref() {
            if let Some(known) = self
                .known
                .filter(|known| !known.contains(&key.text.as_str()))
            {
                let message = format!("unknown key `{}`", key.text);
                let fault = Diagnostic::error(key.place, message)
                    .label(format!("expected one of: {}", known.join(", ")));
                self.faults.borrow_mut().push(fault);
                continue;
            }
            self.value = Some(value);
            let key = Node {
                value: Value::Text(key.text.clone()),
                place: key.place,
            };
            return seed
                .deserialize(Decoder {
                    node: &key,
                    faults: self.faults,
                })
                .map(Some);
        }
        Ok(None)
    }

    fn next_value_seed<V>(&mut self, seed: V) -> Result<V::Value, Fault>
    where
        V: DeserializeSeed<'de>,
    {
        let node = self
            .value
            .take()
            .ok_or_else(|| de::Error::custom("a value without a key"))?;
        Decoder {
            node,
            faults: self.faults,
        }
        .entry(seed)
    }
}

/// The parts of an [`At`](super::At): file, start, end, value.
struct Located<'a> {
    decoder: Decoder<'a>,
    part: usize,
}

impl<'de> de::MapAccess<'de> for Located<'_> {
    type Error = Fault;

    fn next_key_seed<K>(&mut self, seed: K) -> Result<Option<K::Value>, Fault>
    where
        K: DeserializeSeed<'de>,
    {
        let Some(name) = super::at::AT_FIELDS.get(self.part) else {
            return Ok(None);
        };
        seed.deserialize(de::value::BorrowedStrDeserializer::new(name))
            .map(Some)
    }

    fn next_value_seed<V>(&mut self, seed: V) -> Result<V::Value, Fault>
    where
        V: DeserializeSeed<'de>,
    {
        let place = self.decoder.node.place;
        let part = self.part;
        self.part += 1;
        let number = match part {
            0 => place.file.0,
            1 => place.start,
            2 => place.end,
            _ => return seed.deserialize(self.decoder),
        };
        let number: U32Deserializer<Fault> = number.into_deserializer();
        seed.deserialize(number)
    }
}

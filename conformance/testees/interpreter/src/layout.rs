//! The layout, parsed from JSON: records with fields, and the fields' offsets and types.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// All records in all wire versions.
#[derive(Debug)]
pub struct Layout {
    records: BTreeMap<(String, u64), Record>,
    /// The kinds of index events.
    pub kinds: Vec<u64>,
}

/// One record in one wire version.
#[derive(Debug, Default)]
pub struct Record {
    /// The record's size in bytes.
    pub size: usize,
    /// The fields, ordered by offset.
    pub fields: Vec<Field>,
}

/// One field.
#[derive(Debug)]
pub struct Field {
    /// The field's name, as in the reference.
    pub name: String,
    /// The offset in bytes from the start of the record.
    pub offset: usize,
    /// The size of an element in bytes.
    pub width: usize,
    /// The number of elements, if it is an array.
    pub count: Option<usize>,
    /// The value that means "none".
    pub none: Option<u64>,
    /// The only valid value, if there is only one.
    pub constant: Option<Vec<u8>>,
}

impl Layout {
    /// Parses the JSON.
    ///
    /// # Errors
    ///
    /// Returns a message that describes what is missing or invalid.
    pub fn parse(text: &str) -> Result<Self, String> {
        let json: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let mut records = BTreeMap::new();
        for record in list(&json, "records")? {
            let name = text_of(record, "name")?;
            let size = number_of(record, "size")?;
            for layout in list(record, "layouts")? {
                let fields = list(layout, "fields")?.iter().map(Field::parse);
                let fields = fields.collect::<Result<_, _>>()?;
                let wire = number_of(layout, "wire")?;
                let record = Record {
                    size: usize::try_from(size).map_err(|error| error.to_string())?,
                    fields,
                };
                records.insert((name.to_owned(), wire), record);
            }
        }
        let mut kinds = Vec::new();
        for each in list(&json, "enums")? {
            if text_of(each, "name")? == "event_kind" {
                let members = list(each, "members")?.iter();
                kinds = members
                    .map(|member| number_of(member, "value"))
                    .collect::<Result<_, _>>()?;
            }
        }
        Ok(Self { records, kinds })
    }

    /// Returns a record in a wire version, or a record without fields if the name is unknown.
    #[must_use]
    pub fn record(&self, name: &str, wire: u64) -> &Record {
        static EMPTY: Record = Record {
            size: 0,
            fields: Vec::new(),
        };
        self.records.get(&(name.to_owned(), wire)).unwrap_or(&EMPTY)
    }
}

impl Record {
    /// Returns the field with this name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// Returns the record at an offset, if the bytes contain all of it.
    #[must_use]
    pub fn at<'a>(&'a self, bytes: &'a [u8], offset: u64) -> Option<View<'a>> {
        let start = usize::try_from(offset).ok()?;
        let bytes = bytes.get(start..start.checked_add(self.size)?)?;
        Some(View {
            record: self,
            bytes,
        })
    }

    /// Returns whether the bytes begin with the record's magic, even if they do not contain the
    /// whole record.
    #[must_use]
    pub fn has_magic(&self, bytes: &[u8]) -> bool {
        let magic = self
            .field("magic")
            .and_then(|field| field.constant.as_ref());
        magic.is_some_and(|magic| bytes.starts_with(magic))
    }

    /// Returns whether the bytes begin with the record's magic, or are the beginning of it.
    #[must_use]
    pub fn begins_magic(&self, bytes: &[u8]) -> bool {
        let magic = self
            .field("magic")
            .and_then(|field| field.constant.as_ref());
        magic.is_some_and(|magic| bytes.iter().zip(magic).all(|(byte, magic)| byte == magic))
    }
}

impl Field {
    fn parse(json: &Value) -> Result<Self, String> {
        let type_ = text_of(json, "type")?;
        let (scalar, count) = match type_.split_once('[') {
            None => (type_, None),
            Some((scalar, rest)) => (scalar, rest.trim_end_matches(']').parse().ok()),
        };
        let bits: Option<usize> = scalar.strip_prefix('u').and_then(|bits| bits.parse().ok());
        let width = bits
            .and_then(|bits| bits.checked_div(8))
            .ok_or(format!("type {type_}"))?;
        let constant = json.get("value").and_then(|value| match value {
            Value::String(text) => Some(text.as_bytes().to_vec()),
            value => Some(value.as_u64()?.to_le_bytes().get(..width)?.to_vec()),
        });
        let offset = number_of(json, "offset")?;
        Ok(Self {
            name: text_of(json, "name")?.to_owned(),
            offset: usize::try_from(offset).map_err(|error| error.to_string())?,
            width,
            count,
            none: json.get("none").and_then(Value::as_u64),
            constant,
        })
    }

    /// Returns the field's size in bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        self.width.saturating_mul(self.count.unwrap_or(1))
    }

    /// Returns whether documents show the field. Fields named `flags` are shown even if they are
    /// reserved.
    fn is_shown(&self) -> bool {
        self.name != "magic" && !self.name.trim_start_matches('_').starts_with("reserved")
    }

    /// Returns whether the field is a position in the other file. Documents show positions as
    /// strings in all wire versions.
    fn is_link(&self) -> bool {
        self.name.ends_with("_seq")
    }

    fn document(&self, bytes: &[u8]) -> Value {
        let number = |bytes: &[u8]| match number(bytes) {
            number if self.none == Some(number) => Value::Null,
            number if self.width == 8 || self.is_link() => number.to_string().into(),
            number => number.into(),
        };
        match self.count {
            None => number(bytes),
            Some(_) => bytes.chunks(self.width).map(number).collect(),
        }
    }
}

/// A record and its bytes.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    record: &'a Record,
    /// The record's bytes.
    pub bytes: &'a [u8],
}

impl View<'_> {
    fn bytes_of(&self, field: &Field) -> &[u8] {
        let end = field.offset.saturating_add(field.size());
        self.bytes.get(field.offset..end).unwrap_or_default()
    }

    /// Returns a field's number, or 0 if there is no such field.
    #[must_use]
    pub fn number(&self, name: &str) -> u64 {
        let field = self.record.field(name);
        field.map_or(0, |field| number(self.bytes_of(field)))
    }

    /// Returns a field's number, or `None` if the number means "none".
    #[must_use]
    pub fn link(&self, name: &str) -> Option<u64> {
        let none = self.record.field(name).and_then(|field| field.none);
        Some(self.number(name)).filter(|number| none != Some(*number))
    }

    /// Returns whether all of these fields are 0.
    #[must_use]
    pub fn are_zero(&self, names: &[&str]) -> bool {
        names.iter().all(|name| self.number(name) == 0)
    }

    /// Returns whether a field's bytes are all 0.
    #[must_use]
    pub fn is_zero(&self, name: &str) -> bool {
        let field = self.record.field(name);
        field.is_some_and(|field| is_zero(self.bytes_of(field)))
    }

    /// Returns whether every field with a constant value has that value.
    #[must_use]
    pub fn has_constants(&self) -> bool {
        self.record
            .fields
            .iter()
            .all(|field| self.has_constant(field))
    }

    /// Returns whether a field has its constant value. Returns `true` for fields without one.
    #[must_use]
    pub fn has_constant(&self, field: &Field) -> bool {
        let constant = field.constant.as_deref();
        constant.is_none_or(|constant| self.bytes_of(field) == constant)
    }

    /// Returns the fields as a document shows them.
    #[must_use]
    pub fn document(&self) -> Map<String, Value> {
        let shown = self.record.fields.iter().filter(|field| field.is_shown());
        shown
            .map(|field| (field.name.clone(), field.document(self.bytes_of(field))))
            .collect()
    }
}

/// Decodes a little-endian number. Returns 0 for more than 8 bytes.
fn number(bytes: &[u8]) -> u64 {
    let mut whole = [0; 8];
    match whole.get_mut(..bytes.len()) {
        Some(part) => part.copy_from_slice(bytes),
        None => return 0,
    }
    u64::from_le_bytes(whole)
}

pub(crate) fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == 0)
}

fn list<'a>(json: &'a Value, key: &str) -> Result<&'a Vec<Value>, String> {
    json.get(key)
        .and_then(Value::as_array)
        .ok_or(format!("no list {key}"))
}

fn text_of<'a>(json: &'a Value, key: &str) -> Result<&'a str, String> {
    json.get(key)
        .and_then(Value::as_str)
        .ok_or(format!("no text {key}"))
}

fn number_of(json: &Value, key: &str) -> Result<u64, String> {
    json.get(key)
        .and_then(Value::as_u64)
        .ok_or(format!("no number {key}"))
}

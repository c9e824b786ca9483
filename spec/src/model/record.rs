//! `records/*.yaml`: the layout of one record in both wire versions.

use schemars::JsonSchema;
use serde::Deserialize;

use super::Decision;
use crate::layout::{Type, Value, Wire};
use crate::yaml::{At, List, Pairs};

/// A record.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordSpec {
    /// Its name: the file's name without `.yaml`.
    pub record: At<String>,
    /// Its name in C, as the sources spell it.
    pub c_name: At<String>,
    /// Its name in prose.
    pub title: String,
    /// Its file.
    pub file: At<String>,
    /// Its description, one paragraph.
    pub means: String,
    /// Its size in bytes, the same in every wire version.
    pub size: At<u32>,
    /// Variable-size data that follows it.
    pub followed_by: Option<String>,
    /// Its fields, each listed once, with an offset for each wire version.
    pub fields: List<FieldSpec>,
    /// Decisions on the record's size.
    #[serde(default)]
    pub decisions: List<Decision>,
}

/// A field.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FieldSpec {
    /// Its name, as the sources spell it.
    pub name: At<String>,
    /// Bytes from the start of the record, if it is the same in every wire version.
    pub offset: Option<At<u32>>,
    /// Its type, if it is the same in every wire version.
    #[serde(rename = "type")]
    #[schemars(with = "Option<String>")]
    pub ty: Option<At<Type>>,
    /// Its offset and type in each wire version that has it, given instead of `offset` and `type`.
    /// Alongside those keys, its value in a wire version.
    #[serde(default)]
    pub wire: Pairs<PlaceSpec>,
    /// Its meaning in both wire versions.
    pub means: String,
    /// The unit of its value.
    pub units: Option<String>,
    /// Constraints on its value, one sentence each.
    #[serde(default)]
    pub constraints: Vec<String>,
    /// Whether it has no meaning: written as 0 and ignored when read.
    #[serde(default)]
    pub reserved: bool,
    /// The enumeration or flags of its value.
    #[serde(rename = "enum")]
    pub enumeration: Option<At<String>>,
    /// Its only valid value, in every wire version.
    #[schemars(with = "Option<crate::schema::NumberOrText>")]
    pub value: Option<At<Value>>,
    /// Its maximum value, if less than the type's maximum.
    pub max: Option<At<u64>>,
    /// The sources that make claims about it.
    pub claims: List<At<String>>,
    /// Decisions on it.
    #[serde(default)]
    pub decisions: List<Decision>,
}

/// A field in one wire version.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlaceSpec {
    /// Its name in this wire version, if different.
    pub name: Option<At<String>>,
    /// Bytes from the start of the record.
    pub offset: Option<At<u32>>,
    /// Its type.
    #[serde(rename = "type")]
    #[schemars(with = "Option<String>")]
    pub ty: Option<At<Type>>,
    /// Its only valid value.
    #[schemars(with = "Option<crate::schema::NumberOrText>")]
    pub value: Option<At<Value>>,
    /// The value that means "none".
    pub none: Option<At<u64>>,
}

impl RecordSpec {
    /// Returns the field with this name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&FieldSpec> {
        self.fields.iter().find(|field| field.name.value == name)
    }

    /// Returns the fields of a wire version with their offsets and types, by ascending offset.
    #[must_use]
    pub fn fields_in(&self, wire: Wire) -> Vec<(&FieldSpec, At<u32>, At<Type>)> {
        let place =
            |field| FieldSpec::place_in(field, wire).map(|(offset, ty)| (field, offset, ty));
        let mut fields: Vec<_> = self.fields.iter().filter_map(place).collect();
        fields.sort_by_key(|(_, offset, _)| offset.value);
        fields
    }
}

impl FieldSpec {
    /// Returns the field's offset and type in a wire version. Returns `None` if that version has no
    /// such field, or if the spec does not state the offset and type.
    #[must_use]
    pub fn place_in(&self, wire: Wire) -> Option<(At<u32>, At<Type>)> {
        let own = self.own(wire);
        let offset = own.and_then(|own| own.offset).or(self.offset);
        let ty = own.and_then(|own| own.ty).or(self.ty);
        Some((offset?, ty?))
    }

    /// Returns the field's name in a wire version.
    #[must_use]
    pub fn name_in(&self, wire: Wire) -> &str {
        let own = self.own(wire).and_then(|own| own.name.as_ref());
        own.unwrap_or(&self.name).as_str()
    }

    /// Returns the field's only valid value in a wire version.
    #[must_use]
    pub fn value_in(&self, wire: Wire) -> Option<&At<Value>> {
        let own = self.own(wire).and_then(|own| own.value.as_ref());
        own.or(self.value.as_ref())
    }

    /// Returns the value that means "none" in a wire version.
    #[must_use]
    pub fn none_in(&self, wire: Wire) -> Option<At<u64>> {
        self.own(wire)?.none
    }

    /// Returns what differs in a wire version.
    fn own(&self, wire: Wire) -> Option<&PlaceSpec> {
        self.wire.get(&wire.to_string())
    }
}

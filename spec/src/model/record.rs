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
    /// What it is called in prose.
    pub title: String,
    /// The file in which it stands.
    pub file: At<String>,
    /// What it is, one paragraph.
    pub means: String,
    /// Its size in bytes, the same in every wire version.
    pub size: At<u32>,
    /// What follows it without a fixed size.
    pub followed_by: Option<String>,
    /// Its fields, each once, with its place in each wire version.
    pub fields: List<FieldSpec>,
    /// How disagreements on the record's size were settled.
    #[serde(default)]
    pub decisions: List<Decision>,
}

/// A field.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FieldSpec {
    /// Its name, as the sources spell it.
    pub name: At<String>,
    /// Bytes from the start of the record, where every wire version has it there.
    pub offset: Option<At<u32>>,
    /// Its type, where it is the same in every wire version.
    #[serde(rename = "type")]
    #[schemars(with = "Option<String>")]
    pub ty: Option<At<Type>>,
    /// Its place in each wire version that has it, instead of `offset` and `type`; or, beside
    /// them, the value that a wire version gives it.
    #[serde(default)]
    pub wire: Pairs<PlaceSpec>,
    /// What it means, said once for both wire versions.
    pub means: String,
    /// The unit of its value.
    pub units: Option<String>,
    /// What its value must fulfil, one sentence each.
    #[serde(default)]
    pub constraints: Vec<String>,
    /// Whether it has no meaning: written 0, ignored when read.
    #[serde(default)]
    pub reserved: bool,
    /// The enumeration or the flags that its value belongs to.
    #[serde(rename = "enum")]
    pub enumeration: Option<At<String>>,
    /// The one value that it may have, in every wire version.
    #[schemars(with = "Option<crate::schema::NumberOrText>")]
    pub value: Option<At<Value>>,
    /// The greatest value that it may have, where that is less than its type's.
    pub max: Option<At<u64>>,
    /// The sources whose claims it rests on.
    pub claims: List<At<String>>,
    /// How disagreements on it were settled.
    #[serde(default)]
    pub decisions: List<Decision>,
}

/// What a wire version says of a field.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlaceSpec {
    /// Bytes from the start of the record.
    pub offset: Option<At<u32>>,
    /// Its type.
    #[serde(rename = "type")]
    #[schemars(with = "Option<String>")]
    pub ty: Option<At<Type>>,
    /// The one value that it may have.
    #[schemars(with = "Option<crate::schema::NumberOrText>")]
    pub value: Option<At<Value>>,
    /// The value that means "none".
    pub none: Option<At<u64>>,
}

impl RecordSpec {
    /// The fields that a wire version has, by ascending offset, with offset and type.
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
    /// Where the field stands in a wire version, and its type; `None` if that version lacks it or
    /// the spec does not say.
    #[must_use]
    pub fn place_in(&self, wire: Wire) -> Option<(At<u32>, At<Type>)> {
        let own = self.wire.get(&wire.to_string());
        let offset = own.and_then(|own| own.offset).or(self.offset);
        let ty = own.and_then(|own| own.ty).or(self.ty);
        Some((offset?, ty?))
    }

    /// The one value that the field may have in a wire version.
    #[must_use]
    pub fn value_in(&self, wire: Wire) -> Option<&At<Value>> {
        let own = self.wire.get(&wire.to_string());
        own.and_then(|own| own.value.as_ref())
            .or(self.value.as_ref())
    }

    /// The value that means "none" in a wire version.
    #[must_use]
    pub fn none_in(&self, wire: Wire) -> Option<At<u64>> {
        self.wire.get(&wire.to_string())?.none
    }
}

//! The names in the C headers. The C emitter writes them, and the compiler checks that each one has
//! one meaning.

use serde::Serialize;

use crate::layout::{Constant, Field, Layout, Record, Value, Wire};

/// The naming scheme for records and everything else that depends on the wire version.
#[derive(Debug, Clone, Copy)]
pub enum Names {
    /// The names from the sources, such as `AtfIndexHeader` and `ATF_NO_DETAIL_SEQ`, for a single
    /// wire version.
    OfTheSources,
    /// Names that include the wire version, such as `AtfV1IndexHeader` and `ATF_V1_NO_DETAIL_SEQ`.
    WithTheWire(Wire),
}

/// The names that a header can define for a field.
#[derive(Debug, Clone, Serialize)]
pub struct FieldNames {
    /// The macro for its fixed value.
    pub value: String,
    /// The macro that initialises an array with its fixed value.
    pub init: String,
    /// The macro for its maximum.
    pub max: String,
    /// The function that reads it.
    pub get: String,
    /// The function that writes it.
    pub set: String,
}

/// The part of the layout that a name in a header belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner<'a> {
    /// A part of every header.
    Header,
    /// A named constant.
    Constant(&'a str),
    /// A member of an enumeration.
    Member(&'a str, &'a str),
    /// A record.
    Record(&'a str),
    /// A field of a record, by its name in the spec.
    Field(&'a str, &'a str),
}

/// The names that every header defines, apart from include guards, and the names of the accessors'
/// parameters.
const OF_EVERY_HEADER: [&str; 17] = [
    "ATF_CAST",
    "ATF_LAYOUT_ASSERT",
    "ATF_LAYOUT_FIELD",
    "ATF_LAYOUT_PACKED",
    "ATF_LAYOUT_RECORD",
    "ATF_LAYOUT_SIZEOF",
    "ATF_SHARED_DEFINITIONS",
    "atf_crc32c",
    "atf_load_u16",
    "atf_load_u32",
    "atf_load_u64",
    "atf_store_u16",
    "atf_store_u32",
    "atf_store_u64",
    "i",
    "record",
    "value",
];

/// The include guard of the header for all wire versions.
pub const GUARD_OF_EVERY_WIRE: &str = "ATF_WIRE_H";

/// Returns the include guard of the header for one wire version.
#[must_use]
pub fn guard(wire: Wire) -> String {
    format!("ATF_V{wire}_H")
}

impl Names {
    /// Returns a record's type.
    #[must_use]
    pub fn record(self, record: &Record) -> String {
        match self {
            Self::OfTheSources => record.c_name.clone(),
            Self::WithTheWire(wire) => format!("AtfV{wire}{}", record.rust_name()),
        }
    }

    /// Returns the macro for a record's size.
    #[must_use]
    pub fn size(self, record: &Record) -> String {
        self.macro_of(record, "SIZE")
    }

    /// Returns the name of a constant that depends on the wire version.
    #[must_use]
    pub fn constant(self, name: &str) -> String {
        let name = name.strip_prefix("ATF_").unwrap_or(name);
        self.prefix().to_ascii_uppercase() + name
    }

    /// Returns a field's names. They omit its leading `_`, because C++ reserves a double `_`.
    #[must_use]
    pub fn field(self, record: &Record, field: &Field) -> FieldNames {
        let stem = field.name.trim_start_matches('_');
        let value = self.macro_of(record, stem);
        let accessor = |verb| format!("{}{}_{verb}_{stem}", self.prefix(), record.name);
        FieldNames {
            init: format!("{value}_INIT"),
            max: format!("{value}_MAX"),
            value,
            get: accessor("get"),
            set: accessor("set"),
        }
    }

    /// Returns the prefix of a record's name, such as `atf_` or `atf_v1_`.
    #[must_use]
    pub fn prefix(self) -> String {
        match self {
            Self::OfTheSources => "atf_".to_owned(),
            Self::WithTheWire(wire) => format!("atf_v{wire}_"),
        }
    }

    fn macro_of(self, record: &Record, name: &str) -> String {
        self.constant(&format!("{}_{name}", record.name).to_ascii_uppercase())
    }
}

/// Returns whether a constant has the same type and value in every wire version, so that its name
/// does not include the version.
#[must_use]
pub fn is_shared(layout: &Layout, constant: &Constant) -> bool {
    let mut pairs = constant.values.iter().zip(constant.values.iter().skip(1));
    let same = pairs.all(|(one, other)| (one.scalar, one.value) == (other.scalar, other.value));
    same && constant.values.len() == layout.wires.len()
}

/// Returns every name that the header for one wire version and the header for all of them define
/// or use, each with its owner. A file can include both.
#[must_use]
pub fn of_headers(layout: &Layout, wire: Wire) -> Vec<(String, Owner<'_>)> {
    let guards = layout.wires.iter().map(|&wire| guard(wire));
    let guards = guards.chain([GUARD_OF_EVERY_WIRE.to_owned()]);
    let fixed = OF_EVERY_HEADER.iter().map(|&name| name.to_owned());
    let fixed = fixed.chain(guards);
    let mut all: Vec<_> = fixed.map(|name| (name, Owner::Header)).collect();
    let constants = layout.constants.iter();
    let shared = constants.filter(|constant| is_shared(layout, constant));
    all.extend(shared.map(|it| (it.name.clone(), Owner::Constant(&it.name))));
    for enumeration in &layout.enums {
        let members = enumeration.members.iter();
        all.extend(members.map(|member| {
            let owner = Owner::Member(&enumeration.name, &member.name);
            (enumeration.c_name(member), owner)
        }));
    }
    add_version(layout, wire, Names::OfTheSources, &mut all);
    for &wire in &layout.wires {
        add_version(layout, wire, Names::WithTheWire(wire), &mut all);
    }
    all
}

/// Adds the names of one wire version.
fn add_version<'a>(
    layout: &'a Layout,
    wire: Wire,
    names: Names,
    all: &mut Vec<(String, Owner<'a>)>,
) {
    for constant in &layout.constants {
        let has_value = constant.values.iter().any(|value| value.wire == wire);
        if has_value && !is_shared(layout, constant) {
            all.push((
                names.constant(&constant.name),
                Owner::Constant(&constant.name),
            ));
        }
    }
    for record in &layout.records {
        let Some(fields) = record.layout(wire) else {
            continue;
        };
        let owner = Owner::Record(&record.name);
        all.push((names.record(record), owner));
        all.push((names.size(record), owner));
        for field in &fields.fields {
            let owner = Owner::Field(&record.name, field.key());
            let defined = defined_for(field, names.field(record, field));
            all.extend(defined.into_iter().map(|name| (name, owner)));
        }
    }
}

/// Returns the names that a header defines for a field.
fn defined_for(field: &Field, names: FieldNames) -> Vec<String> {
    let mut defined = Vec::new();
    if field.ty.scalar.size() > 1 {
        defined.extend([names.get, names.set]);
    }
    if field.value.is_some() {
        defined.push(names.value);
    }
    if matches!(field.value, Some(Value::Text(_))) {
        defined.push(names.init);
    }
    if field.max.is_some() {
        defined.push(names.max);
    }
    defined
}

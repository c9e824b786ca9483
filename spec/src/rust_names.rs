//! The names in the Rust library that do not come from the spec. A name in the spec that clashed with
//! one of them would not compile.

/// The records that the library decodes. It reads the other records in place.
pub const DECODED: [&str; 6] = [
    "index_header",
    "index_event",
    "index_footer",
    "detail_header",
    "detail_event_header",
    "detail_footer",
];

/// The members of the decoded records: generated ones, then hand-written ones. Each field of these
/// records has a setter with the same name.
pub const METHODS: &[&str] = &[
    "blank",
    "bytes",
    "check_fits",
    "clone",
    "from_bytes",
    "wire",
    "check_kind_fits",
    "check_layout",
    "decode",
    "encode",
    "encode_to",
    "has_detail_file",
    "is_zero",
    "is_placeholder",
    "problems",
    "start_time_weight",
    "stated_end",
    "wrong_count",
];

/// The constants of a record's struct, apart from those of its fields.
pub const OF_RECORDS: &[&str] = &["C_DEFINITION", "RECORD", "SIZE", "WIRE"];

/// The constants of an enumeration, apart from its members.
pub const OF_ENUMS: &[&str] = &["MEMBERS"];

/// Rust names that generated code uses.
pub const PRELUDE: &[&str] = &[
    "Default", "Err", "From", "Into", "None", "Ok", "Option", "Result", "Some", "String",
    "TryFrom", "Vec",
];

/// The other types in the module of the enumerations.
pub const BESIDE_ENUMS: &[&str] = &[
    "CallEffect",
    "Field",
    "OutOfRange",
    "Record",
    "U16",
    "U32",
    "U64",
    "Wire",
];

/// The other types in the module of the manifest's objects.
pub const BESIDE_OBJECTS: &[&str] = &[
    "Error",
    "ManifestThread",
    "Place",
    "RawValue",
    "Reader",
    "Serialize",
    "SerializeMap",
    "Serializer",
    "TimingAnchorObject",
];

/// The variables of the functions that read the manifest's objects.
pub const IN_READERS: &[&str] = &["object", "place", "reader"];

/// The members of the manifest's objects that are not keys, each with its object.
pub const BESIDE_KEYS: &[(&str, &str)] = &[
    ("manifest", "problem_count"),
    ("manifest", "problems"),
    ("symbol", "position"),
    ("thread", "position"),
];

//! The grammar of the files: how a reader finds the events and the footer of a file, and refuses a
//! file that it cannot read, as expressions over the file's bytes.
//!
//! Expressions have two types, numbers and truth values. A number is from 0 to 2^63 - 1; the
//! largest is [`NOWHERE`], an offset that no file has. Greater sums and products, differences below
//! 0, and greater numbers in a file count as nowhere. Bytes after the end of the file read as 0.
//! Loops follow increasing offsets, and no function calls itself, directly or through others, so
//! every evaluation ends.

use serde::{Deserialize, Serialize};

/// The largest number, an offset that no file has.
pub const NOWHERE: u64 = (1 << 63) - 1;

/// The grammar of a kind of file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "compiler", derive(schemars::JsonSchema))]
pub struct Grammar {
    /// The name in the spec: `index` or `detail`.
    pub name: String,
    /// The file's name, such as `index.atf`.
    pub file: String,
    /// The description, one paragraph.
    pub doc: String,
    /// The records of the file by their roles: `header`, `event`, `footer` and others.
    pub records: Vec<Role>,
    /// The steps of reading a file, in order. Each may use the values before it.
    pub reading: Vec<Step>,
    /// The functions, each after those that it calls.
    pub functions: Vec<Function>,
    /// The fields that state something about the events, which a writer sets when it finalizes the
    /// file. The header of a file that was never finalized has the values for no events.
    #[serde(default)]
    pub derived: Vec<Derived>,
}

/// A field that states something about the events of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "compiler", derive(schemars::JsonSchema))]
pub struct Derived {
    /// The role of the record with the field.
    pub role: String,
    /// The field.
    pub field: String,
    /// The statement.
    pub is: Derivation,
}

/// A statement of a field about the events of a file. Without events, all but `start` and `end` are 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "compiler", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Derivation {
    /// The CRC-32C of the events' bytes.
    Checksum,
    /// The number of events.
    Count,
    /// The offset after the last event.
    End,
    /// The position of the first event's link in the other file.
    FirstLink,
    /// The timestamp of the first event.
    FirstTime,
    /// The position of the last event's link in the other file.
    LastLink,
    /// The timestamp of the last event.
    LastTime,
    /// The size of the events in bytes.
    Length,
    /// The offset of the first event.
    Start,
}

/// A record's role in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "compiler", derive(schemars::JsonSchema))]
pub struct Role {
    /// The role, such as `header`.
    pub role: String,
    /// The record's name, such as `index_header`.
    pub record: String,
}

/// A step of reading a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "compiler", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Step {
    /// A requirement. A reader refuses a file that does not meet it.
    Requires(Requirement),
    /// A value that is computed once.
    Value(Named),
}

/// A requirement on a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "compiler", derive(schemars::JsonSchema))]
pub struct Requirement {
    /// The condition, a truth value.
    pub requires: Expression,
    /// The only wire version with this requirement. Omitted if all have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wire: Option<u8>,
    /// The offset of the invalid record. Omitted for the header, which is at 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Expression>,
    /// The role of the invalid record.
    pub role: String,
    /// The invalid field.
    pub field: String,
    /// What was expected there.
    pub expected: String,
    /// The rule that a file breaks otherwise.
    pub rule: String,
}

/// A named value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "compiler", derive(schemars::JsonSchema))]
pub struct Named {
    /// The name.
    pub value: String,
    /// The meaning.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub doc: String,
    /// The type.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// The value.
    pub is: Expression,
}

/// A function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "compiler", derive(schemars::JsonSchema))]
pub struct Function {
    /// The name.
    pub name: String,
    /// The meaning of the result.
    pub doc: String,
    /// The parameters.
    pub takes: Vec<Parameter>,
    /// The type of the result.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// Values with a name, in order, each of which may use those before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lets: Vec<Named>,
    /// The result.
    pub is: Expression,
}

/// A parameter of a function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "compiler", derive(schemars::JsonSchema))]
pub struct Parameter {
    /// The name.
    pub name: String,
    /// The type.
    #[serde(rename = "type")]
    pub kind: Kind,
}

/// The type of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "compiler", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A number from 0 to [`NOWHERE`].
    Number,
    /// A truth value.
    Bool,
}

/// An expression. In JSON, `op` names its kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "compiler", derive(schemars::JsonSchema))]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Expression {
    /// A literal number.
    Number {
        /// The number.
        value: u64,
    },
    /// `true` or `false`.
    Bool {
        /// The truth value.
        value: bool,
    },
    /// The number [`NOWHERE`].
    Nowhere,
    /// The size of the file in bytes.
    Size,
    /// A parameter, a `let`, or the variable of a loop.
    Local {
        /// Its name.
        name: String,
    },
    /// A value of an earlier step of reading.
    Value {
        /// Its name.
        name: String,
    },
    /// A record's size in bytes.
    RecordSize {
        /// The record's role.
        role: String,
    },
    /// A field's offset in its record.
    Offset {
        /// The record's role.
        role: String,
        /// The field.
        field: String,
    },
    /// A field's only valid value, as a little-endian number.
    Constant {
        /// The record's role.
        role: String,
        /// The field.
        field: String,
    },
    /// A field of the record at an offset, as a little-endian number.
    Field {
        /// The record's role.
        role: String,
        /// The field.
        field: String,
        /// The record's offset. Omitted for the header, which is at 0.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<Box<Expression>>,
    },
    /// Whether a number is a member of an enumeration.
    IsMember {
        /// The enumeration.
        of: String,
        /// The number.
        number: Box<Expression>,
    },
    /// `add`, `sub`, `mul`, `div`, `rem`, `min` or `max` of two numbers.
    Arithmetic {
        /// The operation.
        name: String,
        /// The numbers.
        args: Vec<Expression>,
    },
    /// `==`, `!=`, `<`, `<=`, `>` or `>=` between two numbers.
    Compare {
        /// The comparison.
        sign: String,
        /// The numbers.
        args: Vec<Expression>,
    },
    /// Whether all are true. Evaluation stops at the first that is false.
    And {
        /// The truth values.
        args: Vec<Expression>,
    },
    /// Whether any is true. Evaluation stops at the first that is true.
    Or {
        /// The truth values.
        args: Vec<Expression>,
    },
    /// The negation of a truth value.
    Not {
        /// The truth value.
        arg: Box<Expression>,
    },
    /// One of two expressions. Only that one is evaluated.
    If {
        /// The condition.
        condition: Box<Expression>,
        /// The result if it is true.
        then: Box<Expression>,
        /// The result otherwise.
        otherwise: Box<Expression>,
    },
    /// A call of a function of the grammar.
    Call {
        /// The function.
        name: String,
        /// Its arguments.
        args: Vec<Expression>,
    },
    /// A call of a function that all grammars have; see [`BUILT_IN`].
    BuiltIn {
        /// The function.
        name: String,
        /// Its arguments.
        args: Vec<Expression>,
    },
    /// `first`, `last` or `count` over a series of offsets from a start, each followed by the next.
    ///
    /// `first` is the first offset that meets a condition, or nowhere. `last` is the last offset
    /// before nowhere. `count` is the number of steps to it. A next offset that is not greater than
    /// the one before counts as nowhere.
    Loop {
        /// The kind of loop.
        name: String,
        /// The first offset.
        from: Box<Expression>,
        /// The loop's variable.
        variable: String,
        /// The next offset, or nowhere.
        next: Box<Expression>,
        /// The condition of `first`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Box<Expression>>,
    },
}

/// The functions that all grammars have: each with the types of its parameters and of its result.
///
/// - `is_zero(from, to)`: whether the bytes from one offset up to another are all 0;
/// - `begins(from, to, number, width)`: whether the bytes are the beginning of a little-endian
///   number of `width` bytes, or begin with it;
/// - `same(one, other, width)`: whether `width` bytes at two offsets are the same;
/// - `data_end(end)`: the offset after the last byte before `end` that is not 0;
/// - `crc32c(from, to)`: the CRC-32C of the bytes;
/// - `how_many(…)`: how many of any number of truth values are true.
pub const BUILT_IN: &[(&str, &[Kind], Kind)] = {
    use Kind::{Bool, Number};
    &[
        ("is_zero", &[Number, Number], Bool),
        ("begins", &[Number, Number, Number, Number], Bool),
        ("same", &[Number, Number, Number], Bool),
        ("data_end", &[Number], Number),
        ("crc32c", &[Number, Number], Number),
        ("how_many", &[Bool], Number),
    ]
};

//! `enums.yaml` and `constants.yaml`: open enumerations, flags, named constants.

use schemars::JsonSchema;
use serde::Deserialize;

use super::Decision;
use crate::layout::CallEffect;
use crate::yaml::{At, List};

/// `enums.yaml`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EnumsFile {
    /// The enumerations and sets of flags. All are open: other values may occur, and readers keep
    /// them.
    pub enums: List<EnumSpec>,
}

/// An enumeration or a set of flags.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EnumSpec {
    /// Its name.
    #[serde(rename = "enum")]
    pub name: At<String>,
    /// The prefix of its members' names in C.
    pub c_prefix: At<String>,
    /// Its meaning, one sentence.
    pub means: String,
    /// Whether each member is one bit.
    #[serde(default)]
    pub flags: bool,
    /// The members, ascending.
    pub members: List<MemberSpec>,
    /// Decisions on its members; each lists them in `settles`.
    #[serde(default)]
    pub decisions: List<Decision>,
}

impl EnumSpec {
    /// Returns the member with this name.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<&MemberSpec> {
        self.members.iter().find(|member| member.name.value == name)
    }
}

/// A member of an enumeration.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemberSpec {
    /// Its name, lower case.
    pub name: At<String>,
    /// Its value; for flags, the mask.
    pub value: At<u64>,
    /// For a kind of event: its effect on the thread's open calls, from which the library's code is
    /// generated; none if omitted.
    #[serde(default)]
    pub effect: Option<CallEffect>,
    /// Its meaning, one sentence.
    pub means: String,
    /// The sources that list it.
    pub claims: List<At<String>>,
}

/// `constants.yaml`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConstantsFile {
    /// The constants that are not members of an enumeration.
    pub constants: List<ConstantSpec>,
}

/// A named constant: another name for a value of a record.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConstantSpec {
    /// Its name in C.
    pub constant: At<String>,
    /// The value that the constant names: `RECORD.FIELD.none` or `RECORD.FIELD.value`.
    pub is: At<String>,
    /// Its meaning, one sentence.
    pub means: String,
}

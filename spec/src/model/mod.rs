//! The types that the YAML files are parsed into.

mod enums;
mod format;
mod grammar;
mod record;
mod rule;
mod session;
mod source;
mod text;
mod topic;

pub use enums::{ConstantSpec, ConstantsFile, EnumSpec, EnumsFile, MemberSpec};
pub use format::{EditionSpec, EditionsFile, FormatFile};
pub use grammar::{FunctionSpec, GrammarFile, StepSpec};
pub use record::{FieldSpec, PlaceSpec, RecordSpec};
pub use rule::{Binds, Exclusion, ReaderDoes, RuleSpec, RulesFile, Severity, Verdict, When};
pub use session::{EntrySpec, JsonType, ManifestField, ManifestFile, ManifestObject, SessionFile};
pub use source::{
    ConstantClaim, FieldClaim, FileClaim, Form, RecordClaim, SectionClaim, SourceFile, Statement,
};
pub use text::{Citation, DigestsFile, DocumentText, Lines, Reason, Silent};
pub use topic::{Confidence, Decision, DecisionKind, DecisionsFile, Silence, Topic, TopicsFile};

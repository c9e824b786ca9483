//! The types that the YAML files are parsed into.

mod decision;
mod edition;
mod enums;
mod format;
mod record;
mod rule;
mod session;
mod source;
mod text;
mod topic;

pub use decision::{Confidence, Decision, DecisionKind};
pub use edition::{EditionSpec, EditionsFile};
pub use enums::{ConstantSpec, ConstantsFile, EnumSpec, EnumsFile, MemberSpec};
pub use format::FormatFile;
pub use record::{FieldSpec, PlaceSpec, RecordSpec};
pub use rule::{Binds, ReaderDoes, RuleSpec, RulesFile, Severity, Verdict};
pub use session::{EntrySpec, JsonType, ManifestField, ManifestFile, ManifestObject, SessionFile};
pub use source::{
    ConstantClaim, FieldClaim, FileClaim, Form, RecordClaim, SectionClaim, SourceFile, Statement,
};
pub use text::{DigestsFile, DocumentText, Lines, Reason, Silent};
pub use topic::{DecisionsFile, Silence, Topic, TopicsFile};

#[cfg(test)]
mod tests {
    use super::{Confidence, DecisionKind, ReaderDoes, Severity};

    /// Parses a word of the YAML files.
    fn read<T: serde::de::DeserializeOwned>(word: &str) -> T {
        serde_json::from_value(word.into()).expect("a word of the YAML files")
    }

    #[test]
    fn names_are_the_words_that_are_read() {
        let words = ["conflict", "split"];
        assert_eq!(words.map(|word| read::<DecisionKind>(word).name()), words);
        let words = ["certain", "high", "medium"];
        assert_eq!(words.map(|word| read::<Confidence>(word).name()), words);
        let words = ["advice", "should", "must"];
        assert_eq!(words.map(|word| read::<Severity>(word).name()), words);
        let words = ["ignore", "warn", "recover", "reject"];
        assert_eq!(words.map(|word| read::<ReaderDoes>(word).name()), words);
    }
}

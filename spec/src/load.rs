//! Reads the spec's files.

use std::path::Path;

use serde::de::DeserializeOwned;

use crate::diagnostic::Diagnostic;
use crate::files::Files;
use crate::layout::Wire;
use crate::model::{
    Citation, ConstantSpec, ConstantsFile, DecisionsFile, DigestsFile, EditionsFile, EnumSpec,
    EnumsFile, FieldSpec, FormatFile, GrammarFile, ManifestFile, RecordSpec, RuleSpec, RulesFile,
    SessionFile, Silence, SourceFile, Topic, TopicsFile,
};
use crate::origin::Origin;
use crate::yaml::{Node, Place, decode, lay};

/// The spec as read from its files.
#[derive(Debug, Clone, Default)]
pub struct Spec {
    /// The format's name, wire versions and order of records.
    pub format: FormatFile,
    /// The sources, by id.
    pub sources: Vec<SourceFile>,
    /// The digests of the sources' lines.
    pub digests: DigestsFile,
    /// The records, in the format's order.
    pub records: Vec<RecordSpec>,
    /// The enumerations.
    pub enums: EnumsFile,
    /// The named constants.
    pub constants: ConstantsFile,
    /// The topics in all files of `behaviour/`.
    pub topics: Vec<Topic>,
    /// Questions that no source answers.
    pub decisions: DecisionsFile,
    /// The grammars of the kinds of files, in the order of their records.
    pub grammars: Vec<GrammarFile>,
    /// The files of rules.
    pub rules: Vec<RulesFile>,
    /// The session's folders.
    pub session: SessionFile,
    /// The manifest.
    pub manifest: ManifestFile,
    /// The versions of spec, rules and corpus.
    pub editions: EditionsFile,
}

/// Reads all files of the spec and merges the overlay's files into them. Reports each unreadable or
/// malformed file, and still reads the others. Also returns the files, for locating diagnostics.
pub fn load(origin: &Origin, overlay: Option<&Path>) -> (Files, Result<Spec, Vec<Diagnostic>>) {
    let mut loader = Loader {
        origin,
        overlay: overlay.map(|folder| Origin::Folder(folder.to_owned())),
        files: Files::default(),
        faults: Vec::new(),
    };
    let mut spec = Spec {
        format: loader.file("format.yaml").unwrap_or_default(),
        sources: loader.folder("sources"),
        digests: loader.file("digests.yaml").unwrap_or_default(),
        records: loader.folder("records"),
        enums: loader.file("enums.yaml").unwrap_or_default(),
        constants: loader.file("constants.yaml").unwrap_or_default(),
        topics: Vec::new(),
        decisions: loader.file("decisions.yaml").unwrap_or_default(),
        grammars: loader.folder("grammar"),
        rules: loader.folder("rules"),
        session: loader.file("session.yaml").unwrap_or_default(),
        manifest: loader.file("manifest.yaml").unwrap_or_default(),
        editions: loader.file("editions.yaml").unwrap_or_default(),
    };
    for TopicsFile { topics } in loader.folder("behaviour") {
        spec.topics.extend(topics.0);
    }
    let sources = &spec.format.sources;
    let cited = |id: &str| sources.iter().position(|known| known.value == id);
    spec.sources
        .sort_by_key(|source| cited(&source.source).unwrap_or(usize::MAX));
    let records = &spec.format.records;
    let order = |name: &str| records.iter().position(|known| known.value == name);
    spec.records
        .sort_by_key(|record| order(&record.record).unwrap_or(usize::MAX));
    loader.refuse_unread();
    let Loader { files, faults, .. } = loader;
    let is_well_formed = faults.is_empty();
    (files, is_well_formed.then_some(spec).ok_or(faults))
}

impl Spec {
    /// Returns the wire versions, ascending.
    pub fn wires(&self) -> impl Iterator<Item = Wire> {
        let wires = self.format.wires.iter();
        wires.filter_map(|(wire, _)| wire.parse().ok())
    }

    /// Returns the wire versions that a rule applies to, ascending.
    #[must_use]
    pub fn wires_of(&self, rule: &RuleSpec) -> Vec<Wire> {
        let named = |wire: &Wire| rule.wire.iter().any(|named| named.value == *wire);
        let mut wires: Vec<Wire> = self.wires().collect();
        wires.retain(|wire| rule.wire.is_empty() || named(wire));
        wires
    }

    /// Returns the record with this name.
    #[must_use]
    pub fn record(&self, name: &str) -> Option<&RecordSpec> {
        self.records.iter().find(|it| it.record.value == name)
    }

    /// Returns the field with a name of the form `RECORD.FIELD`.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&FieldSpec> {
        let (record, field) = name.split_once('.')?;
        self.record(record)?.field(field)
    }

    /// Returns the enumeration with this name.
    #[must_use]
    pub fn enumeration(&self, name: &str) -> Option<&EnumSpec> {
        self.enums.enums.iter().find(|it| it.name.value == name)
    }

    /// Returns the field and the property, `none` or `value`, that a constant names.
    #[must_use]
    pub fn named_by<'a>(&'a self, constant: &'a ConstantSpec) -> Option<(&'a FieldSpec, &'a str)> {
        // The value is `RECORD.FIELD.PROPERTY`.
        let (field, property) = constant.is.value.rsplit_once('.')?;
        Some((self.field(field)?, property))
    }

    /// Returns the topic with this name.
    #[must_use]
    pub fn topic(&self, name: &str) -> Option<&Topic> {
        self.topics.iter().find(|it| it.topic.value == name)
    }

    /// Returns the silence with this name.
    #[must_use]
    pub fn silence(&self, name: &str) -> Option<&Silence> {
        let mut silences = self.decisions.silences.iter();
        silences.find(|it| it.silence.value == name)
    }

    /// Returns the rule with this id.
    #[must_use]
    pub fn rule(&self, id: &str) -> Option<&RuleSpec> {
        self.all_rules().find(|rule| rule.id.value == id)
    }

    /// Returns the rules that cite a topic or a silence.
    pub fn rules_citing<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a RuleSpec> {
        let cites = move |rule: &&RuleSpec| rule.settled_by.iter().any(|it| it.value == name);
        self.all_rules().filter(cites)
    }

    /// Returns the source with this id.
    #[must_use]
    pub fn source(&self, id: &str) -> Option<&SourceFile> {
        self.sources.iter().find(|source| source.source.value == id)
    }

    /// Returns a source's statement, in our words, if it is about a topic that the rule cites.
    #[must_use]
    pub fn sentence(&self, rule: &RuleSpec, cited: &Citation) -> Option<&str> {
        let source = self.source(&cited.source)?;
        let cites = |topic: &str| rule.settled_by.iter().any(|own| own.value == topic);
        let mut statements = source.statements.iter();
        let said = statements.find(|said| {
            let lines = said.lines.as_ref().map(|lines| lines.value);
            lines == Some(cited.lines) && cites(&said.topic.value)
        })?;
        Some(&said.says)
    }

    /// Returns all rules.
    pub fn all_rules(&self) -> impl Iterator<Item = &RuleSpec> {
        self.rules.iter().flat_map(|file| &file.rules)
    }
}

struct Loader<'a> {
    origin: &'a Origin,
    overlay: Option<Origin>,
    files: Files,
    faults: Vec<Diagnostic>,
}

impl Loader<'_> {
    /// Reads all `.yaml` files in a folder, in order of name.
    fn folder<T: DeserializeOwned>(&mut self, name: &str) -> Vec<T> {
        let mut names = match self.origin.names(name) {
            Ok(names) => names,
            Err(why) => {
                self.unreadable(name, &why);
                return Vec::new();
            }
        };
        let added = self.overlay.as_ref().map(|overlay| overlay.names(name));
        names.extend(added.and_then(Result::ok).into_iter().flatten());
        names.sort();
        names.dedup();
        for other in names.iter().filter(|file| file.ends_with(".yml")) {
            let path = format!("{name}/{other}");
            self.unreadable(&path, "not read: names of spec files must end in .yaml");
        }
        names.retain(|file| file.ends_with(".yaml"));
        if names.is_empty() {
            self.unreadable(name, "the folder has no .yaml file");
        }
        names
            .iter()
            .filter_map(|file| self.file(&format!("{name}/{file}")))
            .collect()
    }

    fn file<T: DeserializeOwned>(&mut self, path: &str) -> Option<T> {
        let over = self.overlay.as_ref().filter(|over| over.has(path));
        let over = over.map(|over| over.read(path));
        let mut added = Vec::new();
        let root = match over {
            None => self.tree(self.origin.read(path), path)?,
            Some(over) => {
                let changes = self.tree(over, &format!("overlay/{path}"))?;
                if self.origin.has(path) {
                    let mut root = self.tree(self.origin.read(path), path)?;
                    added = lay(&mut root, changes);
                    root
                } else {
                    changes
                }
            }
        };
        match decode(&root) {
            Ok(value) => Some(value),
            Err(mut faults) => {
                for fault in &mut faults {
                    let item = added.iter().find(|item| item.place == fault.place);
                    fault.help = fault.help.take().or(item.map(|item| item.help.clone()));
                }
                self.faults.extend(faults);
                None
            }
        }
    }

    /// Parses one file, which diagnostics call `label`.
    fn tree(&mut self, read: Result<Vec<u8>, String>, label: &str) -> Option<Node> {
        let bytes = match read {
            Ok(bytes) => bytes,
            Err(why) => {
                self.unreadable(label, &why);
                return None;
            }
        };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let id = self.files.add(label, text);
        match Node::parse(id, &bytes) {
            Ok(root) => {
                self.files.set_root(id, root.clone());
                Some(root)
            }
            Err(fault) => {
                self.faults.push(fault);
                None
            }
        }
    }

    /// Rejects overlay files that do not match a file of the spec. Otherwise, a file with a
    /// misspelled name would be silently ignored.
    fn refuse_unread(&mut self) {
        let Some(overlay) = &self.overlay else {
            return;
        };
        let mut paths = Vec::new();
        for name in overlay.names("").into_iter().flatten() {
            let below = overlay.names(&name).into_iter().flatten();
            paths.extend(below.map(|file| format!("{name}/{file}")));
            paths.push(name);
        }
        paths.retain(|path| path.ends_with(".yaml") || path.ends_with(".yml"));
        paths.sort();
        for path in paths {
            let label = format!("overlay/{path}");
            if !self.files.iter().any(|file| file.path == label) {
                self.unreadable(&label, "the spec has no such file or folder");
            }
        }
    }

    fn unreadable(&mut self, path: &str, why: &str) {
        let file = self.files.add(path, String::new());
        let place = Place {
            file,
            ..Place::default()
        };
        self.faults.push(Diagnostic::error(place, why));
    }
}

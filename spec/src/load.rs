//! Reads the spec's folder.

use std::io;
use std::path::Path;

use serde::de::DeserializeOwned;

use crate::diagnostic::Diagnostic;
use crate::files::{File, Files};
use crate::layout::Wire;
use crate::model::{
    Citation, ConstantsFile, DecisionsFile, DigestsFile, EditionsFile, EnumsFile, FormatFile,
    GrammarFile, ManifestFile, RecordSpec, RuleSpec, RulesFile, SessionFile, SourceFile, Topic,
    TopicsFile,
};
use crate::yaml::{FileId, Node, Place, Tree, decode, lay};

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

/// The result of loading: the files, for locating diagnostics, and the spec or its faults.
#[derive(Debug)]
pub struct Loaded {
    /// The files.
    pub files: Files,
    /// The spec, or the format faults that were found.
    pub spec: Result<Spec, Vec<Diagnostic>>,
}

/// The maximum size of a YAML file in bytes. Our largest file is about 20 KiB.
const MAX_FILE_SIZE: u64 = 4 << 20;

/// Reads all files in the spec's folder and merges the overlay's files into them. Reports each
/// unreadable or malformed file, and still reads the others.
#[must_use]
pub fn load(folder: &Path, overlay: Option<&Path>) -> Loaded {
    let mut loader = Loader {
        folder,
        overlay,
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
    let order = |name: &str| {
        spec.format
            .records
            .iter()
            .position(|known| known.value == name)
    };
    spec.records
        .sort_by_key(|record| order(&record.record).unwrap_or(usize::MAX));
    loader.refuse_unread();
    let Loader { files, faults, .. } = loader;
    Loaded {
        files,
        spec: if faults.is_empty() {
            Ok(spec)
        } else {
            Err(faults)
        },
    }
}

impl Spec {
    /// Returns the wire versions, ascending.
    pub fn wires(&self) -> impl Iterator<Item = Wire> {
        self.format
            .wires
            .iter()
            .filter_map(|(wire, _)| wire.parse().ok())
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
        self.records
            .iter()
            .find(|record| record.record.value == name)
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

    /// Returns all rules, each with its file.
    pub fn all_rules(&self) -> impl Iterator<Item = (&RulesFile, &RuleSpec)> {
        self.rules
            .iter()
            .flat_map(|file| file.rules.iter().map(move |rule| (file, rule)))
    }
}

struct Loader<'a> {
    folder: &'a Path,
    overlay: Option<&'a Path>,
    files: Files,
    faults: Vec<Diagnostic>,
}

impl Loader<'_> {
    /// Reads all `.yaml` files in a folder, in order of name.
    fn folder<T: DeserializeOwned>(&mut self, name: &str) -> Vec<T> {
        let entries = match std::fs::read_dir(self.folder.join(name)) {
            Ok(entries) => entries,
            Err(error) => {
                self.unreadable(name, &why(&error));
                return Vec::new();
            }
        };
        let added = self.overlay.map(|overlay| overlay.join(name));
        let added = added.and_then(|folder| std::fs::read_dir(folder).ok());
        let mut names: Vec<String> = entries
            .chain(added.into_iter().flatten())
            .filter_map(Result::ok)
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
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
        let over = self.overlay.map(|overlay| overlay.join(path));
        let over = over.filter(|over| over.exists());
        let base = self.folder.join(path);
        let mut added = Vec::new();
        let root = match over {
            None => self.tree(&base, path)?,
            Some(over) => {
                let label = format!("overlay/{path}");
                let changes = self.tree(&over, &label)?;
                if base.exists() {
                    let mut root = self.tree(&base, path)?;
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

    /// Reads one file; diagnostics call it `label`.
    fn tree(&mut self, path: &Path, label: &str) -> Option<Node> {
        let bytes = match read(path) {
            Ok(bytes) => bytes,
            Err(why) => {
                self.unreadable(label, &why);
                return None;
            }
        };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let id = self.files.add(File {
            path: label.to_owned(),
            text,
            tree: None,
        });
        match Tree::parse(id, &bytes) {
            Ok(tree) => {
                let root = tree.root.clone();
                self.files.set_tree(id, tree);
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
        let Some(overlay) = self.overlay else {
            return;
        };
        let names = |folder: &Path| {
            let entries = std::fs::read_dir(folder).into_iter().flatten();
            let entries = entries.filter_map(Result::ok);
            entries
                .filter_map(|entry| entry.file_name().into_string().ok())
                .collect::<Vec<_>>()
        };
        let mut paths = Vec::new();
        for name in names(overlay) {
            let below = names(&overlay.join(&name)).into_iter();
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
        let file = File {
            path: path.to_owned(),
            text: String::new(),
            tree: None,
        };
        let file: FileId = self.files.add(file);
        let place = Place {
            file,
            ..Place::default()
        };
        self.faults.push(Diagnostic::error(place, why));
    }
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    let meta = std::fs::metadata(path).map_err(|error| why(&error))?;
    if !meta.is_file() {
        return Err("not a file".to_owned());
    }
    if meta.len() > MAX_FILE_SIZE {
        return Err(format!(
            "{} bytes; the limit for a spec file is {MAX_FILE_SIZE}",
            meta.len()
        ));
    }
    std::fs::read(path).map_err(|error| why(&error))
}

/// Describes a read error in the same words on every system.
fn why(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file or folder".to_owned(),
        io::ErrorKind::NotADirectory => "not a folder".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind};

    use super::why;

    /// Tests only the error messages, because a test that runs as root is never denied access.
    #[test]
    fn read_errors_have_the_same_text_on_every_system() {
        let said = |kind| why(&Error::from(kind));
        assert_eq!(said(ErrorKind::PermissionDenied), "permission denied");
        assert_eq!(said(ErrorKind::NotFound), "no such file or folder");
        assert_eq!(said(ErrorKind::NotADirectory), "not a folder");
        assert_eq!(why(&Error::other("the disk is gone")), "the disk is gone");
    }
}

//! Lists the files of the corpus, without duplicates.

use std::collections::{BTreeMap, BTreeSet};

use atf::FileKind;
use atf::thread::{DETAIL_FILE, INDEX_FILE};
use atf_conformance::corpus::{self, Case, Subject};

/// An index or detail file of the corpus.
#[derive(Debug, Clone)]
pub struct File {
    /// A case that contains the file, followed by the path within the case, such as
    /// `v1/clean-session/thread_7/index.atf`.
    pub name: String,
    /// The kind of file.
    pub kind: FileKind,
    /// The wire version of the case.
    pub wire: u8,
    /// The file's content.
    pub bytes: Vec<u8>,
    /// The other file of the thread, for attacks that need both. It comes from the case or, if the
    /// case has none, from the clean session.
    pub beside: Vec<u8>,
    /// Truncations of this file to at most this size are the same as those of another file.
    pub shared: usize,
    /// The field names by offset, if the case consists only of this file.
    pub fields: BTreeMap<usize, String>,
}

/// Returns all distinct files, sorted by kind and content. In this order, no earlier file shares a
/// longer prefix with a file than its direct predecessor.
#[must_use]
pub fn files() -> Vec<File> {
    let cases = corpus::cases();
    let clean = |wire: u8, name: &str| {
        let case = cases
            .iter()
            .find(|case| case.name == format!("v{wire}/clean-session"));
        let file = case.and_then(|case| case.files.get(&format!("thread_7/{name}")));
        file.cloned().unwrap_or_default()
    };
    let mut seen = BTreeSet::new();
    let mut files = Vec::new();
    // Cases with a single file come first, because their dumps contain the field names.
    let is_lone = |case: &&Case| case.subject != Subject::Session;
    let lone = cases.iter().filter(is_lone);
    for case in lone.chain(cases.iter().filter(|case| !is_lone(case))) {
        for (path, bytes) in &case.files {
            let (kind, other) = match path.rsplit('/').next() {
                Some(INDEX_FILE) => (FileKind::Index, DETAIL_FILE),
                Some(DETAIL_FILE) => (FileKind::Detail, INDEX_FILE),
                _ => continue,
            };
            if !seen.insert((kind == FileKind::Index, bytes.clone())) {
                continue;
            }
            let folder = path
                .rsplit_once('/')
                .map_or(String::new(), |(folder, _)| format!("{folder}/"));
            let beside = case.files.get(&format!("{folder}{other}")).cloned();
            files.push(File {
                name: format!("{}/{path}", case.name),
                kind,
                wire: case.wire,
                bytes: bytes.clone(),
                beside: beside.unwrap_or_else(|| clean(case.wire, other)),
                shared: 0,
                fields: if is_lone(&case) {
                    fields(&case.dump())
                } else {
                    BTreeMap::new()
                },
            });
        }
    }
    files.sort_by(|one, other| {
        let key = |file: &File| file.kind == FileKind::Index;
        (key(one), &one.bytes).cmp(&(key(other), &other.bytes))
    });
    // All headers of a kind and version have the same fields at the same offsets.
    for at in 0..files.len() {
        let File { kind, wire, .. } = files[at];
        let is_clean = |file: &&File| {
            file.kind == kind && file.wire == wire && super::CLEAN.contains(&file.name.as_str())
        };
        if files[at].fields.is_empty()
            && let Some(clean) = files.iter().find(is_clean)
        {
            let header = clean.fields.range(..64);
            files[at].fields = header.map(|(at, name)| (*at, name.clone())).collect();
        }
    }
    for at in 1..files.len() {
        let (before, file) = (&files[at - 1], &files[at]);
        if before.kind == file.kind {
            let pairs = before.bytes.iter().zip(&file.bytes);
            files[at].shared = pairs.take_while(|(left, right)| left == right).count();
        }
    }
    files
}

/// Parses the field names by offset from lines such as `00000008  01000000  header.flags  1`.
fn fields(dump: &str) -> BTreeMap<usize, String> {
    let field = |line: &str| {
        let offset = usize::from_str_radix(line.split_whitespace().next()?, 16).ok()?;
        let parts = line.split("  ").map(str::trim);
        let name = parts.filter(|part| !part.is_empty()).nth(2)?;
        Some((offset, name.to_owned()))
    };
    dump.lines().filter_map(field).collect()
}

impl File {
    /// Returns the name of the field that contains a byte, with `[]` in place of indices.
    #[must_use]
    pub fn field(&self, offset: usize) -> String {
        let name = self.fields.range(..=offset).next_back();
        let name = name.map_or(format!("byte {offset}"), |(_, name)| name.clone());
        match (name.split_once('['), name.split_once(']')) {
            (Some((front, _)), Some((_, back))) => format!("{front}[]{back}"),
            _ => name,
        }
    }
}

//! `TESTEE.toml`, which describes how to start an implementation under test and what it supports.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;

use crate::corpus::Subject;
use crate::lacks::Lack;
use crate::named::named;
use crate::protocol::text::read_text;
use crate::results::Role;

/// The version of the protocol.
pub const PROTOCOL: u32 = 1;

/// An implementation under test, as described by its manifest.
#[derive(Debug, Clone)]
pub struct Manifest {
    /// The folder that its program paths are relative to.
    pub folder: PathBuf,
    /// The implementation's name in reports.
    pub name: String,
    /// The implementation's version.
    pub version: String,
    /// The implementation's home page.
    pub url: Option<String>,
    /// The wire versions that it supports, in ascending order.
    pub wire: Vec<u8>,
    /// The features that it supports.
    pub features: Vec<Feature>,
    /// The capabilities that it declares it lacks. They are not graded.
    pub lacks: Vec<Lack>,
    /// The implementation's failure list.
    pub failures: Option<PathBuf>,
    /// The program of each role, with its arguments.
    commands: Commands,
    /// The programs that answer many requests.
    serve: Commands,
}

/// Programs with their arguments, by role.
type Commands = BTreeMap<Role, Vec<String>>;

named! {
    /// A feature that an implementation can support.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
    pub enum Feature {
        /// A single `index.atf`.
        Index = "index",
        /// A single `detail.atf`, and writers' `detail` operation.
        Detail = "detail",
        /// Session folders.
        Session = "session",
        /// Decoding function payloads.
        Function = "function",
        /// Writers' `flush` and `kill` operations.
        Kill = "kill",
        /// Writers' `close` operation.
        Close = "close",
        /// Writers' `space` operation.
        Space = "space",
        /// Operations on a thread that writers have finalized.
        Late = "late",
    }
}

impl From<Subject> for Feature {
    fn from(subject: Subject) -> Self {
        match subject {
            Subject::Index => Self::Index,
            Subject::Detail => Self::Detail,
            Subject::Session => Self::Session,
        }
    }
}

/// An error in a manifest, with its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestError {
    /// The manifest.
    pub path: PathBuf,
    /// The line and column, if known. Both start at 1.
    pub place: Option<(usize, usize)>,
    /// The error.
    pub message: String,
}

impl fmt::Display for ManifestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.path.display())?;
        if let Some((line, column)) = self.place {
            write!(f, "{line}:{column}:")?;
        }
        write!(f, " {}", self.message)
    }
}

impl std::error::Error for ManifestError {}

/// The manifest's values and their positions.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    protocol: Spanned<u32>,
    name: Spanned<String>,
    version: String,
    write: Option<Spanned<Vec<String>>>,
    read: Option<Spanned<Vec<String>>>,
    #[serde(default)]
    lacks: Vec<Lack>,
    validate: Option<Spanned<Vec<String>>>,
    query: Option<Spanned<Vec<String>>>,
    #[serde(default)]
    serve: RawServe,
    wire: Spanned<Vec<u8>>,
    features: Spanned<Vec<Feature>>,
    failures: Option<PathBuf>,
    url: Option<String>,
}

/// The values of the table `serve`.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawServe {
    write: Option<Spanned<Vec<String>>>,
    read: Option<Spanned<Vec<String>>>,
    validate: Option<Spanned<Vec<String>>>,
    query: Option<Spanned<Vec<String>>>,
}

impl Manifest {
    /// Reads a manifest and finds its programs.
    ///
    /// # Errors
    ///
    /// Returns an error, with line and column if known, if the manifest is unreadable or has an
    /// unknown key or an invalid value, or if a program is missing.
    pub fn open(path: &Path) -> Result<Self, ManifestError> {
        let error = |place, message| ManifestError {
            path: path.to_owned(),
            place,
            message,
        };
        let text = read_text(path).map_err(|e| error(None, e.to_string()))?;
        let at = |span: Option<Range<usize>>, message: String| {
            error(span.and_then(|span| position(&text, span.start)), message)
        };
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let folder = std::path::absolute(folder).map_err(|e| error(None, e.to_string()))?;
        let raw: Raw = toml::from_str(&text).map_err(|e| at(e.span(), reworded(e.message())))?;
        raw.checked(folder)
            .map_err(|(span, message)| at(Some(span), message))
    }

    /// Returns the manifest of the reference implementation, which is part of the program `kit`.
    #[must_use]
    pub fn reference(kit: &Path) -> Self {
        let program = kit.to_string_lossy();
        let command = |role: &Role| {
            let words = [&*program, "testee", role.name()].into_iter();
            let words = words.chain(placeholders(*role).iter().copied());
            let words: Vec<_> = words.map(str::to_owned).collect();
            (*role, words)
        };
        Self {
            folder: PathBuf::from("."),
            name: "atf".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            url: None,
            wire: atf::Wire::VERSIONS.to_vec(),
            features: Feature::ALL.to_vec(),
            lacks: Vec::new(),
            failures: None,
            commands: Role::ALL.iter().map(command).collect(),
            serve: BTreeMap::new(),
        }
    }

    /// Returns the roles that the manifest has a program for.
    #[must_use]
    pub fn roles(&self) -> Vec<Role> {
        self.commands.keys().copied().collect()
    }

    /// Returns a role's program and arguments, with placeholders.
    #[must_use]
    pub fn command(&self, role: Role) -> Option<&[String]> {
        self.commands.get(&role).map(Vec::as_slice)
    }

    /// Returns the program and arguments of a role's persistent process, if the implementation
    /// offers one.
    #[must_use]
    pub fn serve(&self, role: Role) -> Option<&[String]> {
        self.serve.get(&role).map(Vec::as_slice)
    }

    /// Returns the names of the features that the implementation supports.
    #[must_use]
    pub fn feature_names(&self) -> Vec<String> {
        let names = self.features.iter().map(|feature| feature.name());
        names.map(str::to_owned).collect()
    }

    /// Returns whether the implementation supports a feature.
    #[must_use]
    pub fn has(&self, feature: Feature) -> bool {
        self.features.contains(&feature)
    }
}

impl Raw {
    fn checked(self, folder: PathBuf) -> Result<Manifest, (Range<usize>, String)> {
        if *self.protocol.get_ref() != PROTOCOL {
            let found = self.protocol.get_ref();
            let message = format!("protocol is {found}, expected {PROTOCOL}");
            return Err((self.protocol.span(), message));
        }
        if self.name.get_ref().trim().is_empty() {
            return Err((self.name.span(), "name is empty".to_owned()));
        }
        let wire = self.wire.get_ref();
        if wire.is_empty() || wire.iter().any(|wire| !atf::Wire::VERSIONS.contains(wire)) {
            let known = atf::Wire::VERSIONS.iter().map(u8::to_string);
            let known = known.collect::<Vec<_>>().join(", ");
            let message = format!("wire must list one or more of {known}");
            return Err((self.wire.span(), message));
        }
        let features = self.features.get_ref();
        let is_part =
            |feature| matches!(feature, Feature::Index | Feature::Detail | Feature::Session);
        if !features.iter().copied().any(is_part) {
            let message = "nothing to grade: expected index, detail or session".to_owned();
            return Err((self.features.span(), message));
        }
        if features.contains(&Feature::Space) && !features.contains(&Feature::Kill) {
            let message = "feature space needs feature kill".to_owned();
            return Err((self.features.span(), message));
        }
        let command = |command: Option<Spanned<Vec<String>>>, placeholders: &[&str]| {
            let Some(command) = command else {
                return Ok(None);
            };
            let span = command.span();
            let resolved = resolve(command.into_inner(), placeholders, &folder);
            resolved.map(Some).map_err(|message| (span, message))
        };
        let (mut commands, mut serve) = (BTreeMap::new(), BTreeMap::new());
        for (role, own, served) in [
            (Role::Write, self.write, self.serve.write),
            (Role::Read, self.read, self.serve.read),
            (Role::Validate, self.validate, self.serve.validate),
            (Role::Query, self.query, self.serve.query),
        ] {
            commands.extend(command(own, placeholders(role))?.map(|own| (role, own)));
            let span = served.as_ref().map(Spanned::span).unwrap_or_default();
            if let Some(served) = command(served, &[])? {
                if !commands.contains_key(&role) {
                    let role = role.name();
                    return Err((span, format!("serve.{role} needs the key {role}")));
                }
                serve.insert(role, served);
            }
        }
        if commands.is_empty() {
            let message = "nothing to grade: expected write, read, validate or query".to_owned();
            return Err((0..0, message));
        }
        let mut wire = self.wire.into_inner();
        wire.sort_unstable();
        wire.dedup();
        let mut lacks = self.lacks;
        lacks.sort_unstable();
        lacks.dedup();
        let failures = self.failures.map(|path| folder.join(path));
        Ok(Manifest {
            folder,
            name: self.name.into_inner(),
            version: self.version,
            url: self.url,
            wire,
            features: self.features.into_inner(),
            lacks,
            failures,
            commands,
            serve,
        })
    }
}

/// Returns the placeholders that the arguments of a role's program must contain.
const fn placeholders(role: Role) -> &'static [&'static str] {
    match role {
        Role::Write => &["{script}", "{out}"],
        Role::Read | Role::Validate => &["{path}"],
        Role::Query => &["{query}", "{path}"],
    }
}

/// Rewords a parser's message in terms of the manifest's keys and values.
fn reworded(message: &str) -> String {
    if let Some(key) = message.strip_prefix("missing field ") {
        return format!("the key {key} is missing");
    }
    let message = message.replacen("unknown field ", "unknown key ", 1);
    message.replacen("unknown variant ", "unknown value ", 1)
}

/// Resolves a command's program to a full path and checks its placeholders.
fn resolve(
    command: Vec<String>,
    placeholders: &[&str],
    folder: &Path,
) -> Result<Vec<String>, String> {
    let mut command = command.into_iter();
    let Some(program) = command.next().filter(|program| !program.is_empty()) else {
        return Err("no program".to_owned());
    };
    let arguments: Vec<String> = command.collect();
    for placeholder in placeholders {
        if !arguments.iter().any(|it| it.contains(placeholder)) {
            return Err(format!("no argument contains {placeholder}"));
        }
    }
    let program = if program.contains('/') {
        in_folder(folder, &program)?
    } else {
        on_path(&program)?
    };
    let program = program
        .to_str()
        .ok_or_else(|| format!("{}: not UTF-8", program.display()))?;
    Ok([program.to_owned()].into_iter().chain(arguments).collect())
}

fn in_folder(folder: &Path, program: &str) -> Result<PathBuf, String> {
    let path: PathBuf = folder.join(program).components().collect();
    match fs::metadata(&path) {
        Err(error) => Err(format!("{program}: {error}")),
        Ok(meta) if !meta.is_file() => Err(format!("{program}: not a file")),
        Ok(meta) if !is_executable(&meta) => Err(format!("{program}: not executable")),
        Ok(_) => Ok(path),
    }
}

fn on_path(program: &str) -> Result<PathBuf, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|path| fs::metadata(path).is_ok_and(|meta| meta.is_file() && is_executable(&meta)));
    let found = found.ok_or_else(|| format!("{program}: not found on PATH"))?;
    // The program runs in another folder.
    std::path::absolute(found).map_err(|error| format!("{program}: {error}"))
}

/// Returns whether a file is executable, which is always true on systems without execute
/// permissions.
fn is_executable(meta: &fs::Metadata) -> bool {
    #[cfg(unix)]
    return std::os::unix::fs::PermissionsExt::mode(&meta.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    return meta.is_file();
}

/// Returns the line and column of a byte. Both start at 1.
fn position(text: &str, offset: usize) -> Option<(usize, usize)> {
    let before = text.get(..offset)?;
    let line = before.matches('\n').count().saturating_add(1);
    let start = before.rfind('\n').map_or(0, |at| at.saturating_add(1));
    let column = before.get(start..)?.chars().count().saturating_add(1);
    Some((line, column))
}

//! The implementations, and the folders where their mutants are built.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, io};

use atf_conformance::protocol::Manifest;
use serde::Deserialize;

use crate::Fault;

/// A row of `implementations.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Implementation {
    pub(crate) name: String,
    pub(crate) folder: String,
    #[serde(default)]
    copies: Vec<String>,
    /// The name of the language in universalmutator.
    pub(crate) language: String,
    /// The files with mutants.
    pub(crate) files: Vec<String>,
    /// The line of a file from which on nothing is mutated.
    pub(crate) until: Option<String>,
    prepare: Option<String>,
    build: String,
    identity: String,
}

/// A copy of an implementation in which its mutants are built.
pub(crate) struct Workshop<'a> {
    of: &'a Implementation,
    folder: PathBuf,
    identity: String,
}

impl<'a> Workshop<'a> {
    /// Copies and builds the implementation.
    pub(crate) fn open(of: &'a Implementation, root: &Path, copy: &Path) -> Result<Self, Fault> {
        for path in of.copies.iter().chain([&of.folder]) {
            let to = copy.join(path);
            fs::create_dir_all(to.parent().unwrap_or(copy))?;
            let from = root.join(path);
            let from = if from.is_dir() { from.join(".") } else { from };
            if !copies(&from, &to)? {
                return Err(format!("cannot copy {path}").into());
            }
        }
        if let Some(prepare) = &of.prepare
            && !shell(prepare, copy).status()?.success()
        {
            return Err(format!("cannot prepare {}", of.name).into());
        }
        let mut own = Self {
            of,
            folder: copy.join(&of.folder),
            identity: String::new(),
        };
        own.identity = own
            .compiled()?
            .ok_or_else(|| format!("cannot build {}", of.name))?;
        Ok(own)
    }

    pub(crate) fn manifest(&self) -> Result<Manifest, Fault> {
        manifest_in(&self.folder)
    }

    /// Builds the program with another text of a file, calls `then` if the program differs, and
    /// restores the file. Returns whether the program compiles.
    pub(crate) fn with(
        &self,
        file: &str,
        text: &str,
        then: impl FnOnce() -> Result<(), Fault>,
    ) -> Result<bool, Fault> {
        let path = self.folder.join(file);
        let original = fs::read(&path)?;
        fs::write(&path, text)?;
        let compiles = match self.compiled() {
            Ok(None) => Ok(false),
            Ok(Some(identity)) if identity == self.identity => Ok(true),
            Ok(Some(_)) => then().map(|()| true),
            Err(error) => Err(error.into()),
        };
        fs::write(&path, original)?;
        compiles
    }

    /// Copies the built original, so that its answers can be compared with a mutant's.
    pub(crate) fn original(&self, to: &Path) -> Result<Manifest, Fault> {
        self.compiled()?;
        let from = self.folder.join(".");
        fs::create_dir_all(to)?;
        if !copies(&from, to)? {
            return Err(format!("cannot copy {}", from.display()).into());
        }
        manifest_in(to)
    }

    /// Returns the identity of the program, or `None` if it does not compile.
    fn compiled(&self) -> io::Result<Option<String>> {
        let built = shell(&self.of.build, &self.folder).output()?;
        if !built.status.success() {
            return Ok(None);
        }
        let output = shell(&self.of.identity, &self.folder).output()?;
        Ok(Some(String::from_utf8_lossy(&output.stdout).into_owned()))
    }
}

fn copies(from: &Path, to: &Path) -> io::Result<bool> {
    let copied = Command::new("cp").arg("-r").args([from, to]).status()?;
    Ok(copied.success())
}

fn manifest_in(folder: &Path) -> Result<Manifest, Fault> {
    Manifest::open(&folder.join("TESTEE.toml")).map_err(|error| error.to_string().into())
}

fn shell(command: &str, folder: &Path) -> Command {
    let mut shell = Command::new("sh");
    shell
        .args(["-c", command])
        .current_dir(folder)
        .stdin(Stdio::null());
    shell
}

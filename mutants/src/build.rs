//! The changed copy of the workspace: made, built without what cannot be built, and its test programs.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::combine::combine;
use crate::kept::Kept;
use crate::list::Mutant;
use crate::run::Program;
use crate::{Error, switch};

/// A copy of the workspace that has mutants with switches in it.
pub(crate) struct Tree {
    /// The workspace.
    pub(crate) root: PathBuf,
    /// The copy.
    pub(crate) copy: PathBuf,
    /// Package names and folders, of those with mutants.
    pub(crate) packages: BTreeMap<String, PathBuf>,
    /// The same of those whose tests run as well.
    pub(crate) tests: BTreeMap<String, PathBuf>,
    /// Where to build.
    pub(crate) target: PathBuf,
}

/// What became of the mutants before any test.
#[derive(Default)]
pub(crate) struct Built {
    /// In the copy, by number.
    pub(crate) placed: BTreeSet<usize>,
    /// Changed code that does not compile.
    pub(crate) unviable: BTreeSet<usize>,
}

impl Tree {
    /// Copies what git knows of the workspace, but for the files that are changed.
    ///
    /// # Errors
    /// If a file cannot be copied.
    pub(crate) fn copy(&self, mutants: &[Mutant]) -> Result<(), Error> {
        let mut changed: BTreeSet<PathBuf> = mutants
            .iter()
            .map(|mutant| PathBuf::from(&mutant.file))
            .collect();
        changed.extend(
            self.packages
                .values()
                .map(|folder| folder.join("src/lib.rs")),
        );
        let output = Command::new("git")
            .args([
                "ls-files",
                "-z",
                "--cached",
                "--others",
                "--exclude-standard",
            ])
            .current_dir(&self.root)
            .output()?;
        for path in output
            .stdout
            .split(|byte| *byte == 0)
            .filter(|path| !path.is_empty())
        {
            let path = Path::new(std::str::from_utf8(path).map_err(|_| Error::Name)?);
            let (from, to) = (self.root.join(path), self.copy.join(path));
            let Ok(metadata) = fs::symlink_metadata(&from) else {
                continue;
            };
            if let Some(folder) = to.parent() {
                fs::create_dir_all(folder)?;
            }
            if metadata.is_symlink() {
                let _ = fs::remove_file(&to);
                std::os::unix::fs::symlink(fs::read_link(&from)?, &to)?;
            } else if changed.contains(path) {
                // Written below; a file that is the same keeps its time, and cargo what it built.
            } else if fs::read(&to).ok() != Some(fs::read(&from)?) {
                fs::copy(&from, &to)?;
            }
        }
        Ok(())
    }

    /// Writes the changed files, and builds until nothing is left that cannot be built.
    ///
    /// # Errors
    /// If the build fails for another reason than a mutant.
    pub(crate) fn place(&self, mutants: &[Mutant]) -> Result<Built, Error> {
        let notes = self.target.with_file_name("refused.tsv");
        let mut kept = Kept::read(&notes, &self.root, mutants);
        loop {
            let (mut texts, mut built) = self.texts(mutants, &kept)?;
            for folder in self.packages.values() {
                let root = folder.join("src/lib.rs");
                let text = match texts.remove(&root) {
                    Some(text) => text,
                    None => fs::read_to_string(self.root.join(&root))?,
                };
                texts.insert(root, text + &switch::module(mutants.len()));
            }
            for (file, text) in &texts {
                let path = self.copy.join(file);
                // A file that is the same keeps its time, and cargo what it built.
                if fs::read_to_string(&path).ok().as_deref() != Some(text) {
                    fs::write(path, text)?;
                }
            }
            let (bad, named) = self.check(&texts)?;
            if bad.is_empty() && named.is_empty() {
                kept.write(&notes, &self.root, mutants)?;
                // What could not be placed anyway is not for the compiler to refuse.
                let constant = kept.constant.clone();
                let (_, placeable) = self.texts(
                    mutants,
                    &Kept {
                        constant,
                        ..Kept::default()
                    },
                )?;
                let refused = kept.refused.intersection(&placeable.placed);
                built.unviable.extend(refused);
                return Ok(built);
            }
            eprintln!(
                "{} mutants cannot be built, {} functions are asked for constants",
                bad.len(),
                named.len()
            );
            kept.refused.extend(bad);
            kept.constant.extend(named);
        }
    }

    /// The changed texts by file, which mutants are in them, and which cannot be in any.
    fn texts(
        &self,
        mutants: &[Mutant],
        kept: &Kept,
    ) -> Result<(BTreeMap<PathBuf, String>, Built), Error> {
        let mut of_files: BTreeMap<&str, Vec<(usize, &Mutant)>> = BTreeMap::new();
        for (number, mutant) in mutants.iter().enumerate() {
            let of_file = of_files.entry(&mutant.file).or_default();
            if !kept.refused.contains(&number) {
                of_file.push((number, mutant));
            }
        }
        let (mut texts, mut built) = (BTreeMap::new(), Built::default());
        for (file, of_file) in of_files {
            let source = fs::read_to_string(self.root.join(file))?;
            // A program's own modules see the library by its name.
            let package = self
                .packages
                .iter()
                .find(|(_, folder)| Path::new(file).starts_with(folder));
            let switches = match package {
                Some((package, folder))
                    if self.root.join(folder).join("src/main.rs").exists()
                        && (file.ends_with("src/main.rs") || file.contains("/src/cli/")) =>
                {
                    package.replace('-', "_")
                }
                _ => "crate".to_owned(),
            };
            let combined = combine(
                &source,
                &of_file,
                &format!("{switches}::mutant_switch::on"),
                &kept.constant,
            )
            .map_err(|error| Error::Source {
                file: file.to_owned(),
                error,
            })?;
            built.placed.extend(combined.placed);
            built.unviable.extend(combined.impossible);
            texts.insert(PathBuf::from(file), combined.text);
        }
        Ok((texts, built))
    }

    fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("cargo");
        command
            .args(arguments)
            .args(["--locked", "--message-format=json"])
            .current_dir(&self.copy);
        for (name, value) in self.settings() {
            command.env(name, value);
        }
        command.stderr(Stdio::null());
        command
    }

    /// What cargo is told, here and where a test calls it.
    fn settings(&self) -> Vec<(&'static str, OsString)> {
        // Lines of a panic are of no use here, and links are quick without them. Tests run thousands of times.
        vec![
            ("CARGO_TARGET_DIR", self.target.clone().into()),
            ("CARGO_PROFILE_DEV_DEBUG", "0".into()),
            ("CARGO_PROFILE_TEST_DEBUG", "0".into()),
            ("CARGO_PROFILE_DEV_OPT_LEVEL", "1".into()),
            ("CARGO_PROFILE_TEST_OPT_LEVEL", "1".into()),
        ]
    }

    /// Which mutants the compiler refuses, and which functions it wants to be constant.
    fn check(
        &self,
        texts: &BTreeMap<PathBuf, String>,
    ) -> Result<(BTreeSet<usize>, BTreeSet<String>), Error> {
        let mut command = self.cargo(&["check", "--keep-going"]);
        for package in self.packages.keys() {
            command.args(["-p", package]);
        }
        let output = command.output()?;
        let (mut bad, mut named) = (BTreeSet::new(), BTreeSet::new());
        if output.status.success() {
            return Ok((bad, named));
        }
        for message in
            messages(&output.stdout).filter(|message| message["message"]["level"] == "error")
        {
            let mut is_ours = false;
            // E0015: cannot call non-const function `path::name` in constants
            if message["message"]["code"]["code"] == "E0015" {
                let path = message["message"]["message"]
                    .as_str()
                    .unwrap_or_default()
                    .split('`')
                    .nth(1)
                    .unwrap_or_default();
                let path = path
                    .split('<')
                    .next()
                    .filter(|start| !start.is_empty())
                    .unwrap_or(path);
                let name = path
                    .trim_end_matches("::")
                    .rsplit("::")
                    .next()
                    .unwrap_or_default();
                named.insert(name.to_owned());
                continue;
            }
            let mut spans: Vec<&Value> = message["message"]["spans"]
                .as_array()
                .into_iter()
                .flatten()
                .collect();
            spans.sort_by_key(|span| span["is_primary"] != true);
            let found = |span: &Value, find: fn(&str, usize) -> Option<usize>| {
                let file = Path::new(span["file_name"].as_str()?);
                let text = texts.get(file.strip_prefix(&self.copy).unwrap_or(file))?;
                find(text, usize::try_from(span["byte_start"].as_u64()?).ok()?)
            };
            // E0004: non-exhaustive patterns. The switched arms are not in the place, but above the advice.
            if message["message"]["code"]["code"] == "E0004" {
                let advice = message["message"]["children"].as_array();
                let mut spans = advice
                    .into_iter()
                    .flatten()
                    .flat_map(|advice| advice["spans"].as_array().into_iter().flatten());
                if let Some(number) = spans.find_map(|span| found(span, arm_above)) {
                    bad.insert(number);
                    continue;
                }
            }
            for span in spans {
                if let Some(number) = found(span, around) {
                    bad.insert(number);
                    is_ours = true;
                    break;
                }
            }
            if !is_ours
                && message["message"]["spans"]
                    .as_array()
                    .is_some_and(|spans| !spans.is_empty())
            {
                eprintln!(
                    "{}",
                    message["message"]["rendered"].as_str().unwrap_or_default()
                );
            }
        }
        if bad.is_empty() && named.is_empty() {
            Err(Error::Build)
        } else {
            Ok((bad, named))
        }
    }

    /// Builds the test programs.
    ///
    /// # Errors
    /// If that fails.
    pub(crate) fn programs(&self) -> Result<Vec<Program>, Error> {
        let mut command = self.cargo(&["test", "--no-run"]);
        for package in self.packages.keys().chain(self.tests.keys()) {
            command.args(["-p", package]);
        }
        let output = command.output()?;
        if !output.status.success() {
            return Err(Error::Build);
        }
        let mut programs = Vec::new();
        for message in messages(&output.stdout).filter(|message| message["profile"]["test"] == true)
        {
            let Some(path) = message["executable"].as_str() else {
                continue;
            };
            let manifest = Path::new(message["manifest_path"].as_str().unwrap_or_default());
            let folder = manifest.parent().unwrap_or(Path::new("")).to_owned();
            let relative = folder.strip_prefix(&self.copy).unwrap_or(&folder);
            let Some((package, _)) = self
                .packages
                .iter()
                .chain(&self.tests)
                .find(|(_, folder)| *folder == relative)
            else {
                continue;
            };
            let name = message["target"]["name"]
                .as_str()
                .unwrap_or_default()
                .to_owned();
            programs.push(Program {
                package: package.clone(),
                folder,
                name,
                path: PathBuf::from(path),
                settings: self.settings(),
            });
        }
        Ok(programs)
    }
}

fn messages(output: &[u8]) -> impl Iterator<Item = Value> {
    output
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
}

/// The innermost mutant whose marks stand around a byte.
fn around(text: &str, at: usize) -> Option<usize> {
    let mut open: Vec<usize> = Vec::new();
    let mut rest = text.get(..at)?;
    while let Some(start) = rest.find("/*") {
        let mark = &rest[start + 2..];
        let digits = mark.get(1..).unwrap_or_default();
        let number = digits
            .split("*/")
            .next()
            .and_then(|digits| digits.parse::<usize>().ok());
        match (mark.as_bytes().first(), number) {
            (Some(b'+'), Some(number)) => open.push(number),
            (Some(b'-'), Some(_)) => drop(open.pop()),
            _ => {}
        }
        rest = mark;
    }
    open.pop()
}

/// The mutant that deletes the last such arm above a byte.
fn arm_above(text: &str, at: usize) -> Option<usize> {
    let above = text.get(..at)?;
    let mut marks = above.rmatch_indices("*/!").map(|(end, _)| {
        let (_, digits) = above.get(..end)?.rsplit_once("/*+")?;
        digits.parse().ok()
    });
    marks.find_map(|number| number)
}

//! The readers that are generated for other languages, each in a folder of `readers` with a
//! Makefile: its line `TOOLS =` lists what builds and runs it, its target `testee` builds it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::tools::has;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../readers")
}

/// Returns the languages, sorted.
///
/// # Errors
///
/// Returns an error if the folder cannot be listed.
pub fn languages() -> io::Result<Vec<String>> {
    let mut languages = Vec::new();
    for entry in fs::read_dir(folder())? {
        let entry = entry?;
        // Descriptions for other tools have no program.
        if entry.path().join("Makefile").is_file() {
            languages.extend(entry.file_name().into_string());
        }
    }
    languages.sort();
    Ok(languages)
}

/// Returns whether the testee in a folder also writes.
///
/// # Errors
///
/// Returns an error if its `TESTEE.toml` cannot be read.
pub fn is_writer(folder: &Path) -> io::Result<bool> {
    let manifest = fs::read_to_string(folder.join("TESTEE.toml"))?;
    Ok(manifest.lines().any(|line| line.starts_with("write ")))
}

/// Builds a language's reader in a copy of its folder, which has a `TESTEE.toml`. Returns `false`
/// if a tool is missing; see [`has`].
///
/// # Errors
///
/// Returns an error if a file cannot be copied, or if the reader cannot be built.
pub fn build(language: &str, into: &Path) -> io::Result<bool> {
    let from = folder().join(language);
    let makefile = fs::read_to_string(from.join("Makefile"))?;
    let tools = makefile
        .lines()
        .find_map(|line| line.strip_prefix("TOOLS ="));
    let tools = tools.ok_or_else(|| failed(language, "no line `TOOLS =` in its Makefile"))?;
    // `has` reports each missing tool.
    let missing = ["make"].into_iter().chain(tools.split_whitespace());
    if missing.filter(|tool| !has(tool)).count() > 0 {
        return Ok(false);
    }
    for path in crate::tree(&from)?.into_keys() {
        let to = into.join(&path);
        fs::create_dir_all(to.parent().unwrap_or(into))?;
        fs::copy(from.join(path), to)?;
    }
    let output = Command::new("make")
        .arg("testee")
        // Optimizing in C++ takes longer than the tests of its result.
        .env("CXXFLAGS", "-O0")
        .current_dir(into)
        .output()?;
    if output.status.success() {
        return Ok(true);
    }
    Err(failed(language, &String::from_utf8_lossy(&output.stderr)))
}

fn failed(language: &str, why: &str) -> io::Error {
    io::Error::other(format!("the reader in {language}: {why}"))
}

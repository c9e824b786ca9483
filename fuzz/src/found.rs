//! Keeps bugs found by fuzzing as test cases. `found/TARGET/NAME` contains the minimized `input`
//! and a `case.json` with the checker's findings.

use std::collections::BTreeSet;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::{fs, io};

use atf::session::MANIFEST_FILE;
use atf_conformance::{Checked, check::check};
use serde_json::{Value, json};

use crate::scratch::{put, put_detected, scratch};
use crate::{Target, mutate, packed, session};

/// The name of the file that contains a case's input.
pub const INPUT: &str = "input";
/// The name of the file that describes a case.
pub const ABOUT: &str = "case.json";

/// Describes an input: its files, the verdict on each file, the broken rules with their places, and
/// whether the checker panics on it.
#[must_use]
pub fn about(target: Target, name: &str, input: &[u8]) -> Value {
    let scratch = scratch();
    // Findings contain the folder's name, so it must always be the same.
    let folder = scratch.path().join("found");
    let made = std::fs::create_dir(&folder).is_ok();
    let has_files = made && write(target, input, &folder);
    // After a panic, the reports made before it are kept.
    let mut seen = Checked::default();
    let look = AssertUnwindSafe(|| check(&folder, &mut seen));
    let checked = if has_files {
        panic::catch_unwind(look)
    } else {
        Ok(())
    };
    let rules = seen.findings().map(|(_, finding)| finding.rule.id);
    let rules: BTreeSet<_> = rules.collect();
    let file = |path: &Path| {
        path.file_name()
            .map(|name| name.to_string_lossy().into_owned())
    };
    let reports = seen.reports.iter();
    let files = reports.map(|it| json!({"file": file(&it.path), "verdict": it.verdict().name()}));
    let unreadable = seen.unreadable.iter();
    let unreadable =
        unreadable.map(|(path, _)| json!({"file": file(path), "verdict": "unreadable"}));
    let broken = seen.findings().map(|(report, finding)| {
        let (file, rule, place) = (file(&report.path), finding.rule.id, &finding.place);
        json!({"file": file, "rule": rule, "field": place.field, "offset": place.offset})
    });
    json!({
        "name": name,
        "target": target.name,
        "rules": rules,
        "checker": match (has_files, checked) {
            (false, _) => "no files: the input is a sequence of operations",
            (true, Err(_)) => "panics",
            (true, Ok(())) => "done",
        },
        "files": files.chain(unreadable).collect::<Vec<_>>(),
        "broken": broken.collect::<Vec<_>>(),
    })
}

/// Turns an input into a case: minimizes the input, describes it, and writes both files below
/// `folder`.
///
/// # Errors
///
/// Returns an error if the target does not panic on the input, if the name is taken or invalid, or
/// if the file system fails.
pub fn propose(folder: &Path, target: Target, name: &str, input: &[u8]) -> io::Result<Value> {
    let is_name = name
        .bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    if !is_name || name.is_empty() {
        return Err(io::Error::other(format!(
            "invalid name {name}: expected words of a-z and 0-9, joined by -"
        )));
    }
    if panic::catch_unwind(|| (target.body)(input)).is_ok() {
        return Err(io::Error::other(format!(
            "{} does not panic on the input",
            target.name
        )));
    }
    let least = mutate::minimize(target, input);
    let about = about(target, name, &least);
    let folder = folder.join(target.name).join(name);
    fs::create_dir_all(folder.parent().expect("it was just joined"))?;
    fs::create_dir(&folder)?;
    fs::write(folder.join(INPUT), least)?;
    fs::write(folder.join(ABOUT), format!("{about:#}\n"))?;
    Ok(about)
}

/// Writes the files that an input describes. Returns `false` if it describes no files.
fn write(target: Target, input: &[u8], folder: &Path) -> bool {
    match target.name {
        "index" | "detail" | "differential" | "capi" => {
            put_detected(folder, input);
            true
        }
        "manifest" => {
            put(&folder.join(MANIFEST_FILE), input);
            true
        }
        "recover" | "checker" | "session" => session::write(input, folder),
        "ring" => packed::unpack(input, folder),
        _ => false,
    }
}

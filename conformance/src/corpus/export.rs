//! Writes the bare corpus, for use without this program: files and session folders, named after
//! their cases and correct verdicts, and a list.
//!
//! ```text
//! index.csv                what to read, and how to grade it
//! v1/ar_CASE/…             the files, symlinks and folders of a case
//! v1/ar_CASE.json          the document that a reader must return
//! v1/ar_CASE.or1.json another correct document, if there is one
//! ```

use std::path::Path;
use std::{fs, io};

use serde_json::Value;

use super::json::text;
use super::{Case, FileVerdicts, at};
use crate::Verdict;

/// The columns of `index.csv`.
const COLUMNS: &str = "path,documents,case,wire,kind,verdicts,events,rules,note";

/// Writes cases and their list into a folder, which must be new or empty.
///
/// # Errors
///
/// Returns the file system's error, with the path.
pub fn export(folder: &Path, cases: &[Case]) -> io::Result<()> {
    let is_empty = fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
    if !is_empty {
        fs::create_dir(folder).map_err(at(folder))?;
    }
    let mut list = format!("{COLUMNS}\n");
    for case in cases {
        let name = name(case);
        let own = folder.join(&name);
        fs::create_dir_all(&own).map_err(at(&own))?;
        case.write(&own)?;
        let mut documents = Vec::new();
        for (seq, document) in right(case).enumerate() {
            let path = match seq {
                0 => format!("{name}.json"),
                other => format!("{name}.or{other}.json"),
            };
            let file = folder.join(&path);
            fs::write(&file, text(document)).map_err(at(&file))?;
            documents.push(path);
        }
        let path = match case.path.as_str() {
            "" => name,
            path => format!("{name}/{path}"),
        };
        list += &line(&[
            path,
            documents.join(" "),
            case.name.clone(),
            case.wire.to_string(),
            case.subject.name().to_owned(),
            letters(&case.verdicts),
            events(case).unwrap_or_default(),
            case.rules.join(" "),
            case.note.clone(),
        ]);
    }
    let file = folder.join("index.csv");
    fs::write(&file, list).map_err(at(&file))
}

/// Returns a case's name with its correct verdicts, such as `v1/ar_iftr-004-one-bit-off`.
fn name(case: &Case) -> String {
    let (wire, name) = case.name.split_once('/').unwrap_or(("", &case.name));
    format!("{wire}/{}_{name}", letters(&case.verdicts))
}

fn letters(verdicts: &[Verdict]) -> String {
    let letter = |verdict: &Verdict| match verdict {
        Verdict::Accept => 'a',
        Verdict::Recover => 'r',
        Verdict::Reject => 'n',
    };
    verdicts.iter().map(letter).collect()
}

/// Returns the correct documents.
fn right(case: &Case) -> impl Iterator<Item = &Value> {
    [&case.expected].into_iter().chain(&case.alternatives)
}

/// Returns the number of events that a reader finds, unless it depends on the reader's choices or
/// the case must be rejected.
fn events(case: &Case) -> Option<String> {
    let is_choice =
        |file: &FileVerdicts| file.verdicts.len() > 1 && file.verdicts.contains(&Verdict::Reject);
    if case.file_verdicts.iter().any(is_choice) || !case.optional.is_empty() {
        return None;
    }
    let count = |document: &Value| {
        let count = document["derived"]["event_count"].as_str();
        count.map(str::to_owned)
    };
    let own = count(&case.expected);
    own.filter(|own| right(case).all(|it| count(it).as_ref() == Some(own)))
}

/// Formats a line of CSV.
fn line(cells: &[String]) -> String {
    let quoted = cells.iter().map(|cell| match cell {
        cell if cell.contains(['"', ',', '\n']) => format!("\"{}\"", cell.replace('"', "\"\"")),
        cell => cell.clone(),
    });
    let cells: Vec<_> = quoted.collect();
    format!("{}\n", cells.join(","))
}

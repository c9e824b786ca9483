//! The cases for readers and the scripts for writers, as shown on their pages.

use atf::check::Verdict;
use atf_conformance::corpus::{self, Case, Content, FLAGS, Part, edition};
use atf_conformance::scripts::{self, Scripted};
use serde_json::{Value, json};

/// A case or a script.
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) note: String,
    pub(crate) rules: Vec<&'static str>,
    /// The rest of its page.
    pub(crate) page: Value,
}

/// Returns the cases and scripts.
pub(crate) fn all() -> Vec<Entry> {
    let cases = corpus::cases();
    let mut entries: Vec<Entry> = cases.iter().map(of_case).collect();
    entries.extend(scripts::all().iter().map(of_script));
    entries
}

fn of_case(case: &Case) -> Entry {
    let verdicts = [Verdict::Accept, Verdict::Recover, Verdict::Reject].map(|verdict| {
        let reasons = case.because.get(&verdict).into_iter().flatten();
        let reasons: Vec<String> = reasons.map(ToString::to_string).collect();
        let is_right = case.verdicts.contains(&verdict);
        json!({"name": verdict.name(), "is_right": is_right, "because": reasons})
    });
    let broken = case.broken.iter().enumerate().map(|(seq, (file, rule))| {
        let place = case.place.as_ref().filter(|_| seq == 0);
        let place = place.map(|it| json!({"field": it.field, "offset": it.offset}));
        json!({"file": file, "rule": rule, "place": place})
    });
    let flags = FLAGS.iter().filter(|flag| case.flags.contains(&flag.name));
    let contents = case.contents().into_iter();
    let files: Vec<Value> = contents.map(|it| of_file(case, it)).collect();
    let parts = files.iter().filter_map(|file| file["parts"].as_array());
    let has_place = parts.flatten().any(|part| part[4] == true);
    let right: Vec<&str> = case.verdicts.iter().map(|it| it.name()).collect();
    let documents = [&case.expected].into_iter().chain(&case.alternatives);
    let page = json!({
        "right": right.join(" or "),
        "class": case.class.name(),
        "path": case.path,
        "verdicts": verdicts,
        "file_verdicts": case.file_verdicts,
        "broken": broken.collect::<Vec<_>>(),
        "flags": flags.map(|flag| [flag.name, flag.note]).collect::<Vec<_>>(),
        "sources": case.sources,
        "symlinks": case.symlinks,
        "folders": case.folders,
        "documents": documents.map(edition::text).collect::<Vec<_>>(),
        "files": files,
        "has_place": has_place,
        "script": null,
    });
    Entry {
        name: case.name.clone(),
        note: case.note.clone(),
        rules: case.rules.clone(),
        page,
    }
}

fn of_file(case: &Case, (path, content): (&str, Content<'_>)) -> Value {
    let parts = match content {
        Content::AsIn(name) => return json!({"path": path, "as_in": name}),
        Content::Text(text) => return json!({"path": path, "text": text}),
        Content::Parts(parts) => parts,
    };
    let is_broken = case.broken.first().is_some_and(|(file, _)| file == path);
    let place = case.place.as_ref().filter(|_| is_broken);
    let is_here = |part: &Part| {
        place.is_some_and(|it| match it.offset {
            Some(offset) => offset == part.offset as u64,
            None => !part.name.is_empty() && it.field == part.name,
        })
    };
    let rows = parts.iter().map(|part| {
        let offset = format!("{:08x}", part.offset);
        json!([offset, part.bytes, part.name, part.value, is_here(part)])
    });
    json!({"path": path, "parts": rows.collect::<Vec<_>>()})
}

fn of_script(scripted: &Scripted) -> Entry {
    // The longest scripts have several megabytes.
    const LINES: usize = 200;
    const LETTERS: usize = 200;
    let script = scripted.to_string();
    let lines = script.lines().take(LINES);
    let lines = lines.map(|line| match line.get(..LETTERS) {
        Some(start) => format!("{start}…"),
        None => line.to_owned(),
    });
    let page = json!({
        "right": "for writers",
        "class": "script",
        "script": lines.collect::<Vec<_>>().join("\n"),
        "left_out": script.lines().count().saturating_sub(LINES),
    });
    Entry {
        name: scripted.name.clone(),
        note: scripted.note.to_owned(),
        rules: scripted.rules.clone(),
        page,
    }
}

//! Compares claims with the text of the documents. The repository contains only a digest of each
//! span of lines, not the text, so a claim cannot silently diverge from its lines.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::diagnostic::Diagnostic;
use crate::load::Spec;
use crate::model::{Form, Lines, Reason, RecordClaim, SourceFile};
use crate::yaml::{At, Place};

/// Lines of a document that make the same claims, or make none for the same reason.
#[derive(Debug, Clone, Copy)]
pub struct Span<'a> {
    /// The lines.
    pub lines: Lines,
    /// The place of the first entry with these lines in the spec.
    pub place: Place,
    /// Why the lines claim nothing; `None` if they make a claim.
    pub silent: Option<Reason>,
    /// The record whose fields the lines list, if any.
    pub record: Option<&'a RecordClaim>,
}

impl Span<'_> {
    /// Returns whether the lines need a digest because their text does not prove that they claim
    /// nothing.
    #[must_use]
    pub fn needs_digest(&self) -> bool {
        self.silent.is_none_or(|reason| reason.proves("").is_none())
    }
}

/// Returns the lines, the place and, if it is about one, the record of each of a source's claims,
/// grouped by form.
fn claims(
    source: &SourceFile,
) -> impl Iterator<Item = (Option<&At<Lines>>, Place, Option<&RecordClaim>)> {
    let records = source.records.iter();
    let records = records.map(|it| (it.lines.as_ref(), it.record.place, Some(it)));
    let files = source.files.iter();
    let files = files.map(|it| (it.lines.as_ref(), it.file.place, None));
    let constants = source.constants.iter();
    let constants = constants.map(|it| (it.lines.as_ref(), it.constant.place, None));
    let statements = source.statements.iter();
    let statements = statements.map(|it| (it.lines.as_ref(), it.topic.place, None));
    records.chain(files).chain(constants).chain(statements)
}

/// Returns a source's spans in document order; claims from the same lines share a span.
#[must_use]
pub fn spans(source: &SourceFile) -> Vec<Span<'_>> {
    let mut spans: Vec<Span<'_>> = Vec::new();
    for (lines, _, record) in claims(source) {
        let Some(lines) = lines else {
            continue;
        };
        let known = spans.iter_mut().find(|span| span.lines == lines.value);
        match known {
            Some(span) => span.record = span.record.or(record),
            None => spans.push(Span {
                lines: lines.value,
                place: lines.place,
                silent: None,
                record,
            }),
        }
    }
    let silent = source.text.iter().flat_map(|text| text.silent.all());
    spans.extend(silent.flat_map(|(reason, all)| {
        all.iter().map(move |lines| Span {
            lines: lines.value,
            place: lines.place,
            silent: Some(reason),
            record: None,
        })
    }));
    spans.sort_by_key(|span| span.lines);
    spans
}

/// Reads the lines of a source's document in a folder. Returns `None` if the source is not a
/// document, or after reporting that its file cannot be read.
fn read(source: &SourceFile, folder: &Path, faults: &mut Vec<Diagnostic>) -> Option<Vec<String>> {
    let text = source.text.as_ref()?;
    let path = folder.join(&text.file.value);
    match fs::read_to_string(&path) {
        Ok(text) => Some(text.lines().map(str::to_owned).collect()),
        Err(error) => {
            faults.push(text.file.fault(format!("{}: {error}", path.display())));
            None
        }
    }
}

/// Returns the lines of a span that exist in the document.
fn span(document: &[String], lines: Lines) -> &[String] {
    let count = document.len();
    let at = |line: u32| usize::try_from(line).map_or(count, |line| line.min(count));
    &document[at(lines.first - 1)..at(lines.last)]
}

fn digest(document: &[String], lines: Lines) -> String {
    let sum = Sha256::digest(span(document, lines).join("\n").as_bytes());
    sum[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Compares the claims of all sources with the documents in a folder.
///
/// Reports spans whose digest differs, lines whose text contradicts their reason for claiming
/// nothing, lines of a struct or table that mention none of the claimed fields, and lists or tables
/// whose entries all share one claim.
#[must_use]
pub fn compare(spec: &Spec, folder: &Path) -> Vec<Diagnostic> {
    let mut faults = Vec::new();
    for source in &spec.sources {
        if let Some(document) = read(source, folder, &mut faults) {
            source_faults(spec, source, &document, &mut faults);
        }
    }
    faults
}

fn source_faults(
    spec: &Spec,
    source: &SourceFile,
    document: &[String],
    faults: &mut Vec<Diagnostic>,
) {
    let id = source.source.as_str();
    if let Some(text) = &source.text
        && u32::try_from(document.len()) != Ok(text.lines.value)
    {
        let count = document.len();
        let why = format!("{id} has {count} lines, not {}", text.lines);
        faults.push(text.lines.fault(why));
    }
    let digests = spec.digests.sources.get(id);
    for span in spans(source) {
        let lines = span.lines;
        let digest = digests.and_then(|digests| digests.get(&lines.to_string()));
        let is_same = || digest.is_some_and(|digest| digest.value == self::digest(document, lines));
        if span.needs_digest() && !is_same() {
            let words = lines.words();
            let why = format!("{id}, {words}: the text does not match the claim's digest");
            let help = "read the line and correct the claim, then update the digest with --bless";
            faults.push(Diagnostic::error(span.place, why).help(help));
            continue;
        }
        for (line, text) in (lines.first..).zip(self::span(document, lines)) {
            if let Some(why) = wrong(&span, line, text, document) {
                let why = format!("{id}, line {line}: {why}");
                faults.push(Diagnostic::error(span.place, why));
            }
        }
    }
}

/// Describes the problem with a line of a span, if any.
fn wrong(span: &Span<'_>, line: u32, text: &str, document: &[String]) -> Option<String> {
    if let Some(reason) = span.silent {
        let is_wrong = reason.proves(text) == Some(false);
        return is_wrong.then(|| format!("not a {}", reason.words()));
    }
    let next = usize::try_from(line).ok().and_then(|at| document.get(at));
    let is_head = next.is_some_and(|next| Reason::Rule.proves(next) == Some(true));
    let is_row = text.starts_with('|') && Reason::Rule.proves(text) == Some(false) && !is_head;
    let is_entry =
        line > span.lines.first && (text.starts_with("- ") || is_row || is_numbered(text));
    if let Some(record) = span.record {
        let declares = is_entry || record.form == Form::Struct && text.contains(';');
        let names = record.fields.iter().map(|field| field.field.as_str());
        let mut known = names.chain(record.name.as_deref());
        return (declares && !known.any(|name| has_word(text, name)))
            .then(|| format!("no field of {} is claimed from this line", record.record));
    }
    (line > span.lines.first && is_entry).then(|| {
        "this entry of a list or table is part of a longer claim; give it its own `lines`"
            .to_owned()
    })
}

fn is_numbered(text: &str) -> bool {
    let digits = text.trim_start_matches(|c: char| c.is_ascii_digit());
    digits.len() < text.len() && digits.starts_with(". ")
}

/// Returns whether the text contains a name as a whole word.
fn has_word(text: &str, name: &str) -> bool {
    let is_part = |c: char| c == '_' || c.is_ascii_alphanumeric();
    text.match_indices(name).any(|(start, _)| {
        let (before, after) = (&text[..start], &text[start + name.len()..]);
        !before.ends_with(is_part) && !after.starts_with(is_part)
    })
}

/// Finds gaps, overlaps, and claims without lines.
pub(crate) fn tiling(source: &SourceFile, faults: &mut Vec<Diagnostic>) {
    let Some(text) = &source.text else {
        for lines in claims(source).filter_map(|(lines, ..)| lines) {
            let why = format!("source {} is not a document with lines", source.source);
            let fault = lines.fault(why);
            faults.push(fault.help("add `text` with the document's file name and number of lines"));
        }
        return;
    };
    for (_, place, _) in claims(source).filter(|(lines, ..)| lines.is_none()) {
        let id = &source.source;
        let why = format!("`lines` is missing: name the lines of {id} that make this claim");
        faults.push(Diagnostic::error(place, why));
    }
    let mut last: Option<Span<'_>> = None;
    for span in spans(source) {
        let before = last.map_or(0, |last| last.lines.last);
        if let Some(last) = last.filter(|last| span.lines.first <= last.lines.last) {
            let why = format!("{} and {} overlap", last.lines.words(), span.lines.words());
            let fault = Diagnostic::error(span.place, why).related(last.place, "these lines");
            faults.push(fault.help("claims from the same text must have the same `lines`"));
        } else if span.lines.first > before + 1 {
            let (first, last) = (before + 1, span.lines.first - 1);
            faults.push(gap(source, Lines { first, last }, span.place));
        }
        if span.lines.last > text.lines.value {
            let (id, count, last) = (&source.source, text.lines, span.lines.last);
            let fault =
                Diagnostic::error(span.place, format!("{id} has {count} lines, not {last}"));
            faults.push(fault.related(text.lines.place, "the line count"));
        }
        last = last
            .filter(|last| last.lines.last > span.lines.last)
            .or(Some(span));
    }
    let first = last.map_or(0, |last| last.lines.last) + 1;
    let last = text.lines.value;
    if first <= last {
        faults.push(gap(source, Lines { first, last }, text.lines.place));
    }
}

fn gap(source: &SourceFile, lines: Lines, place: Place) -> Diagnostic {
    let why = format!("no claim covers {} of {}", lines.words(), source.source);
    let help = "add a claim with these `lines`, or list them in `silent` with the reason";
    let fault = Diagnostic::error(place, why).label("the lines before this one");
    fault.help(help)
}

/// Returns a new `digests.yaml` for the documents in a folder, ignoring existing digests.
///
/// # Errors
///
/// Returns the faults in the claims' lines, and an error for each unreadable document.
pub fn digests(spec: &Spec, folder: &Path) -> Result<String, Vec<Diagnostic>> {
    let mut faults = Vec::new();
    let mut yaml = String::from("# yaml-language-server: $schema=schema/digests.schema.json\n");
    yaml.push_str(
        "# Written by `atf-codegen spec check --sources DIR --bless`; do not edit.\nsources:\n",
    );
    for source in &spec.sources {
        tiling(source, &mut faults);
        if let Some(document) = read(source, folder, &mut faults) {
            let _ = writeln!(yaml, "  {}:", source.source);
            for span in spans(source).iter().filter(|span| span.needs_digest()) {
                let digest = digest(&document, span.lines);
                let _ = writeln!(yaml, "    \"{}\": \"{digest}\"", span.lines);
            }
        }
    }
    if faults.is_empty() {
        Ok(yaml)
    } else {
        Err(faults)
    }
}

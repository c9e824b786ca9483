//! Checks that each line of the documents either belongs to exactly one claim or has a reason for
//! claiming nothing.

use crate::diagnostic::Diagnostic;
use crate::load::Spec;
use crate::model::SourceFile;
use crate::text::{Span, claims, spans};
use crate::yaml::At;

/// Finds gaps, overlaps, and claims without lines.
pub(crate) fn tiling(source: &SourceFile, faults: &mut Vec<Diagnostic>) {
    let Some(text) = &source.text else {
        for lines in claims(source).filter_map(|claim| claim.lines) {
            let why = format!("source {} is not a document with lines", source.source);
            let fault = Diagnostic::error(lines.place, why);
            faults.push(fault.help("add `text` with the document's file name and number of lines"));
        }
        return;
    };
    for claim in claims(source).filter(|claim| claim.lines.is_none()) {
        let why = format!(
            "`lines` is missing: name the lines of {} that make this claim",
            source.source
        );
        faults.push(Diagnostic::error(claim.place, why));
    }
    let mut last: Option<Span<'_>> = None;
    for span in spans(source) {
        let before = last.map_or(0, |last| last.lines.last);
        if let Some(last) = last.filter(|last| span.lines.first <= last.lines.last) {
            let why = format!("{} and {} overlap", last.lines.words(), span.lines.words());
            let fault = Diagnostic::error(span.place, why).related(last.place, "these lines");
            faults.push(fault.help("claims from the same text must have the same `lines`"));
        } else if span.lines.first > before + 1 {
            gap(
                source,
                before + 1,
                span.lines.first - 1,
                &At {
                    value: (),
                    place: span.place,
                },
                faults,
            );
        }
        if span.lines.last > text.lines.value {
            let why = format!(
                "{} has {} lines, not {}",
                source.source, text.lines, span.lines.last
            );
            faults.push(
                Diagnostic::error(span.place, why).related(text.lines.place, "the line count"),
            );
        }
        last = last
            .filter(|last| last.lines.last > span.lines.last)
            .or(Some(span));
    }
    let end = last.map_or(0, |last| last.lines.last);
    if end < text.lines.value {
        let place = At {
            value: (),
            place: text.lines.place,
        };
        gap(source, end + 1, text.lines.value, &place, faults);
    }
}

fn gap(source: &SourceFile, first: u32, last: u32, at: &At<()>, faults: &mut Vec<Diagnostic>) {
    let lines = crate::model::Lines { first, last };
    let why = format!("no claim covers {} of {}", lines.words(), source.source);
    let help = "add a claim with these `lines`, or list them in `silent` with the reason";
    faults.push(
        Diagnostic::error(at.place, why)
            .label("the lines before this one")
            .help(help),
    );
}

/// Checks that each span has a digest if and only if its text alone does not prove its reason.
pub(super) fn check(spec: &Spec, faults: &mut Vec<Diagnostic>) {
    let before = faults.len();
    for source in &spec.sources {
        tiling(source, faults);
    }
    if faults.len() > before {
        return;
    }
    let help = "once the claims are correct, run `atf-codegen spec check --sources DIR --bless`";
    for source in &spec.sources {
        let digests = spec.digests.sources.get(&source.source);
        let digested: Vec<Span<'_>> = spans(source)
            .into_iter()
            .filter(Span::needs_digest)
            .collect();
        for span in &digested {
            let name = span.lines.to_string();
            if digests.and_then(|digests| digests.get(&name)).is_none() {
                let why = format!("{} has no digest for {}", source.source, span.lines.words());
                faults.push(Diagnostic::error(span.place, why).help(help));
            }
        }
        for (name, _) in digests.iter().flat_map(|digests| digests.iter()) {
            if !digested
                .iter()
                .any(|span| span.lines.to_string() == name.value)
            {
                let why = format!(
                    "{} has a digest for `{name}`, but no claim has these lines",
                    source.source
                );
                faults.push(Diagnostic::error(name.place, why).help(help));
            }
        }
    }
    let known = |id: &str| spec.source(id).is_some();
    for (id, _) in spec.digests.sources.iter().filter(|(id, _)| !known(id)) {
        faults.push(Diagnostic::error(
            id.place,
            format!("there is no source `{id}`"),
        ));
    }
}

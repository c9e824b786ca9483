//! Checks that each line of the documents either belongs to exactly one claim or has a reason for
//! claiming nothing.

use super::sources_exist;
use crate::diagnostic::Diagnostic;
use crate::load::Spec;
use crate::text::{Span, spans, tiling};

/// Checks that each span has a digest if and only if its text alone does not prove the reason.
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
        let digested = spans(source).into_iter().filter(Span::needs_digest);
        let digested: Vec<Span<'_>> = digested.collect();
        for span in &digested {
            let name = span.lines.to_string();
            if digests.and_then(|digests| digests.get(&name)).is_none() {
                let why = format!("{} has no digest for {}", source.source, span.lines.words());
                faults.push(Diagnostic::error(span.place, why).help(help));
            }
        }
        for (name, _) in digests.iter().flat_map(|digests| digests.iter()) {
            let is_claimed = |span: &Span<'_>| span.lines.to_string() == name.value;
            if !digested.iter().any(is_claimed) {
                let id = &source.source;
                let why = format!("{id} has a digest for `{name}`, but no claim has these lines");
                faults.push(name.fault(why).help(help));
            }
        }
    }
    sources_exist(spec, spec.digests.sources.iter().map(|(id, _)| id), faults);
}

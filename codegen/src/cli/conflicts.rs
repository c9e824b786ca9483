//! `spec conflicts`: lists all disagreements, grouped by the decision that settles them.

use std::fmt::Write as _;

use atf_spec::model::DecisionKind;
use atf_spec::reconcile::{Disagreement, How};

use super::{Context, paragraph};

pub(super) fn run(context: &Context<'_>) -> String {
    let groups = context.found.groups(context.spec);
    let mut out = String::new();
    for group in &groups {
        let decision = &group.settlement.decision;
        let (kind, at) = (group.kind().name(), &group.settlement.at);
        let _ = writeln!(out, "{kind} on {at}");
        paragraph(&mut out, 2, &decision.title);
        for found in &group.disagreements {
            paragraph(&mut out, 4, &format!("{}: {}", found.key, values(found)));
        }
        out.push('\n');
    }
    let count = |kind| groups.iter().filter(|group| group.kind() == kind).count();
    let _ = writeln!(
        out,
        "{} conflicts and {} splits settle {} disagreements, all found by the compiler. {} \
         questions that no source answers are in decisions.yaml.",
        count(DecisionKind::Conflict),
        count(DecisionKind::Split),
        context.found.disagreements.len(),
        context.spec.decisions.silences.len(),
    );
    out
}

/// Formats values and the sources that claim them: `28 bytes at 40 (S0, S1) · 24 bytes at 40 (S2)`.
fn values(found: &Disagreement) -> String {
    let values = found.values(|claim| match claim.how {
        How::States | How::Omits => claim.source.clone(),
        how => format!("{} {}", claim.source, how.verb()),
    });
    let texts = values.iter();
    let texts = texts.map(|(value, who)| format!("{value} ({})", who.join(", ")));
    texts.collect::<Vec<_>>().join(" · ")
}

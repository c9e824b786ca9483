//! `spec conflicts`: all disagreements that the compiler found, by the decision that settles them.

use std::fmt::Write as _;
use std::io;
use std::process::ExitCode;

use atf_spec::model::DecisionKind;
use atf_spec::reconcile::{Disagreement, Settlement};

use super::Context;
use super::text::{paragraph, print};

pub(super) fn run(context: &Context<'_>) -> io::Result<ExitCode> {
    let mut groups: Vec<(&Settlement, Vec<&Disagreement>)> = Vec::new();
    for found in &context.found.disagreements {
        let Some(settlement) = &found.settlement else {
            continue;
        };
        let same = |(known, _): &&mut (&Settlement, _)| {
            known.at == settlement.at && known.decision.title == settlement.decision.title
        };
        match groups.iter_mut().find(same) {
            Some((_, all)) => all.push(found),
            None => groups.push((settlement, vec![found])),
        }
    }
    groups.sort_by_key(|(settlement, _)| rank(context, &settlement.at));
    let mut out = String::new();
    for (settlement, disagreements) in &groups {
        let decision = &settlement.decision;
        let _ = writeln!(out, "{} at {}", decision.decision.name(), settlement.at);
        paragraph(&mut out, 2, &decision.title);
        for found in disagreements {
            paragraph(&mut out, 4, &format!("{}: {}", found.key, values(found)));
        }
        out.push('\n');
    }
    let count = |kind| {
        groups
            .iter()
            .filter(|(s, _)| s.decision.decision.value == kind)
            .count()
    };
    let _ = writeln!(
        out,
        "{} conflicts and {} splits settle {} disagreements; all were found by the compiler. {} \
         questions that no source answers stand in decisions.yaml.",
        count(DecisionKind::Conflict),
        count(DecisionKind::Split),
        context.found.disagreements.len(),
        context.spec.decisions.silences.len(),
    );
    print(io::stdout(), &out)?;
    Ok(ExitCode::SUCCESS)
}

/// Records in the format's order, then enumerations, then topics.
fn rank(context: &Context<'_>, at: &str) -> (usize, String) {
    let record = at.split('.').next().unwrap_or(at);
    let records = &context.spec.records;
    let enums = &context.spec.enums.enums;
    let rank = match records
        .iter()
        .position(|known| known.record.value == record)
    {
        Some(position) => position,
        None if enums.iter().any(|known| known.name.value == at) => records.len(),
        None => records.len() + 1,
    };
    (rank, at.to_owned())
}

/// Who claims what: `28 bytes at 40 (S0, S1) · 24 bytes at 40 (S2)`.
fn values(found: &Disagreement) -> String {
    let mut values: Vec<(&str, Vec<String>)> = Vec::new();
    for claim in &found.claims {
        let who = match claim.how {
            atf_spec::reconcile::How::States | atf_spec::reconcile::How::Omits => {
                claim.source.clone()
            }
            how => format!("{} {}", claim.source, how.verb()),
        };
        match values.iter_mut().find(|(value, _)| *value == claim.value) {
            Some((_, all)) if !all.contains(&who) => all.push(who),
            Some(_) => {}
            None => values.push((&claim.value, vec![who])),
        }
    }
    let text: Vec<String> = values
        .iter()
        .map(|(value, who)| format!("{value} ({})", who.join(", ")))
        .collect();
    text.join(" · ")
}

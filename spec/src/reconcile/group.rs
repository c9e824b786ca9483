//! Groups disagreements by the decision that settles them, in the spec's order.

use super::claim::Key;
use super::settle::{Disagreement, Reconciliation, Settlement};
use crate::load::Spec;
use crate::model::DecisionKind;

/// A decision and the disagreements that it settles.
#[derive(Debug)]
pub struct Group<'a> {
    /// The decision.
    pub settlement: &'a Settlement,
    /// The disagreements that it settles, in the order of its `settles` list. There is at least
    /// one.
    pub disagreements: Vec<&'a Disagreement>,
}

impl Group<'_> {
    /// Returns the kind of the decision.
    #[must_use]
    pub const fn kind(&self) -> DecisionKind {
        self.settlement.decision.decision.value
    }
}

impl Reconciliation {
    /// Returns all decisions on disagreements: first on records and their fields in the format's
    /// order, then on enumerations, and finally on topics.
    #[must_use]
    pub fn groups(&self, spec: &Spec) -> Vec<Group<'_>> {
        let mut groups: Vec<Group<'_>> = Vec::new();
        for found in &self.disagreements {
            let Some(settlement) = &found.settlement else {
                continue;
            };
            let same = |group: &&mut Group<'_>| {
                group.settlement.at == settlement.at
                    && group.settlement.decision.title == settlement.decision.title
            };
            match groups.iter_mut().find(same) {
                Some(group) => group.disagreements.push(found),
                None => groups.push(Group {
                    settlement,
                    disagreements: vec![found],
                }),
            }
        }
        groups.sort_by_key(|group| rank(spec, &group.settlement.at));
        for group in &mut groups {
            let Settlement { decision, at, .. } = group.settlement;
            let place = |found: &&Disagreement| {
                let mut settles = decision.settles.iter();
                settles.position(|settled| found.key == Key::settled(at, settled))
            };
            group.disagreements.sort_by_key(place);
        }
        groups
    }
}

/// Returns a key that sorts the subjects of decisions in the spec's order, with each record before
/// its fields.
fn rank(spec: &Spec, at: &str) -> (usize, Option<usize>) {
    let (record, field) = match at.split_once('.') {
        Some((record, field)) => (record, Some(field)),
        None => (at, None),
    };
    let mut records = spec.records.iter();
    if let Some(number) = records.position(|known| known.record.value == record) {
        let mut fields = spec.records[number].fields.iter();
        let field = field.and_then(|field| fields.position(|known| known.name.value == field));
        return (number, field);
    }
    let mut enums = spec.enums.enums.iter();
    if let Some(number) = enums.position(|known| known.name.value == at) {
        return (spec.records.len(), Some(number));
    }
    let topic = spec.topics.iter().position(|known| known.topic.value == at);
    (spec.records.len() + 1, topic)
}

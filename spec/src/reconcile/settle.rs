//! Disagreements among claims, and the decisions that settle them.

use std::collections::{BTreeMap, BTreeSet};

use super::claim::{ABSENT, Claim, Claims, Key, collect, layout_value};
use crate::diagnostic::Diagnostic;
use crate::layout::{Type, Wire};
use crate::load::Spec;
use crate::model::{Decision, DecisionKind, FieldSpec};
use crate::yaml::{At, Place};

/// Something on which claims differ.
#[derive(Debug, Clone)]
pub struct Disagreement {
    /// What it is about.
    pub key: Key,
    /// All claims on it, by source.
    pub claims: Vec<Claim>,
    /// Whether each wire version's sources agree among themselves, so that both could stand.
    pub could_split: bool,
    /// The decision that settles it.
    pub settlement: Option<Settlement>,
}

impl Disagreement {
    /// Whether arithmetic or an assert is among what contradicts.
    #[must_use]
    pub fn rests_on_arithmetic(&self) -> bool {
        use super::How::{Asserts, Sums};
        self.claims
            .iter()
            .any(|claim| matches!(claim.how, Sums | Asserts))
    }
}

/// A decision and where it stands.
#[derive(Debug, Clone)]
pub struct Settlement {
    /// What stands in the file.
    pub decision: Decision,
    /// The record, field, enumeration or topic that it stands at.
    pub at: String,
    /// The place of the entry that names this disagreement.
    pub place: Place,
}

/// What the sources claim and where they disagree.
#[derive(Debug, Clone)]
pub struct Reconciliation {
    /// All claims.
    pub claims: Claims,
    /// All disagreements, settled or not.
    pub disagreements: Vec<Disagreement>,
    /// Unsettled disagreements, stale decisions, departures from the sources.
    pub faults: Vec<Diagnostic>,
}

/// Holds all claims against one another, against arithmetic and against what the spec says.
#[must_use]
pub fn reconcile(spec: &Spec) -> Reconciliation {
    let claims = collect(spec);
    let mut faults = Vec::new();
    let mut settlements = settlements(spec, &mut faults);
    let mut disagreements = Vec::new();
    for (key, claims) in &claims {
        let Some(subject) = Subject::find(spec, key) else {
            faults.push(unknown(key, claims));
            continue;
        };
        let settlement = settlements.remove(key);
        let values: BTreeSet<&str> = claims.iter().map(|claim| claim.value.as_str()).collect();
        if values.len() < 2 {
            if let Some(settlement) = settlement {
                faults.push(stale(key, &settlement, claims));
            }
            faults.extend(subject.departs(key, claims));
            continue;
        }
        let could_split = by_wire(claims).values().all(|values| values.len() == 1);
        let disagreement = Disagreement {
            key: key.clone(),
            claims: claims.clone(),
            could_split,
            settlement,
        };
        faults.extend(subject.judge(&disagreement));
        disagreements.push(disagreement);
    }
    for (key, settlement) in settlements {
        faults.push(stale(&key, &settlement, &[]));
    }
    Reconciliation {
        claims,
        disagreements,
        faults,
    }
}

/// All decisions by what they settle.
fn settlements(spec: &Spec, faults: &mut Vec<Diagnostic>) -> BTreeMap<Key, Settlement> {
    let mut found = BTreeMap::new();
    let mut add = |at: &str, decision: &Decision, key: Key, place: Place| {
        let new = Settlement {
            decision: decision.clone(),
            at: at.to_owned(),
            place,
        };
        if let Some(old) = found.insert(key.clone(), new) {
            let fault = Diagnostic::error(place, format!("{key} is settled twice"));
            faults.push(fault.related(old.place, "settled here already"));
        }
    };
    for record in &spec.records {
        let name = record.record.as_str();
        for (decision, settled) in entries(&record.decisions) {
            add(
                name,
                decision,
                Key::new(name, settled.as_str()),
                settled.place,
            );
        }
        for field in &record.fields {
            let at = format!("{name}.{}", field.name);
            for (decision, settled) in entries(&field.decisions) {
                let key = match settled.split_once('.') {
                    Some((other, property)) => Key::new(format!("{name}.{other}"), property),
                    None => Key::new(&*at, settled.as_str()),
                };
                add(&at, decision, key, settled.place);
            }
        }
    }
    for enumeration in &spec.enums.enums {
        let at = enumeration.name.as_str();
        for (decision, settled) in entries(&enumeration.decisions) {
            add(at, decision, Key::new(at, settled.as_str()), settled.place);
        }
    }
    for topic in &spec.topics {
        let at = topic.topic.as_str();
        for (decision, settled) in entries(&topic.decisions) {
            add(at, decision, Key::new(at, settled.as_str()), settled.place);
        }
    }
    found
}

fn entries(decisions: &[Decision]) -> impl Iterator<Item = (&Decision, &At<String>)> {
    decisions
        .iter()
        .flat_map(|decision| decision.settles.iter().map(move |key| (decision, key)))
}

/// What the spec says of a claim's subject: where, and the value in each wire version.
struct Subject {
    place: Place,
    /// `None` where the spec says nothing of it that claims could be held against.
    values: Option<BTreeMap<Wire, String>>,
}

impl Subject {
    fn find(spec: &Spec, key: &Key) -> Option<Self> {
        if let Some((record, field)) = key.subject.split_once('.')
            && let Some(record) = spec.record(record)
        {
            let field = record
                .fields
                .iter()
                .find(|known| known.name.value == field)?;
            let values = spec
                .wires()
                .filter_map(|wire| Some((wire, field_value(field, wire, key)?)));
            return Some(Self {
                place: field.name.place,
                values: Some(values.collect()),
            });
        }
        if let Some(record) = spec.record(&key.subject) {
            let size = record.size.to_string();
            let values = spec.wires().map(|wire| (wire, size.clone())).collect();
            return Some(Self {
                place: record.size.place,
                values: Some(values),
            });
        }
        let mut enums = spec.enums.enums.iter();
        if let Some(known) = enums.find(|known| known.name.value == key.subject) {
            let member = known
                .members
                .iter()
                .find(|known| known.name.value == key.property)?;
            let values = spec
                .wires()
                .map(|wire| (wire, member.value.to_string()))
                .collect();
            return Some(Self {
                place: member.name.place,
                values: Some(values),
            });
        }
        let topic = spec
            .topics
            .iter()
            .find(|topic| topic.topic.value == key.subject)?;
        Some(Self {
            place: topic.topic.place,
            values: None,
        })
    }

    /// Where all claims agree, the spec must say what they say.
    fn departs(&self, key: &Key, claims: &[Claim]) -> Option<Diagnostic> {
        let values = self.values.as_ref()?;
        let wrong = |claim: &&Claim| {
            values
                .get(&claim.wire)
                .is_some_and(|value| *value != claim.value && comparable(key, value, claim))
        };
        let claim = claims.iter().find(wrong)?;
        let value = &values[&claim.wire];
        Some(with_claims(
            Diagnostic::error(
                self.place,
                format!(
                    "{key} is {value} in wire version {}, and no source says so",
                    claim.wire
                ),
            )
            .label(format!("the sources say {}", claim.value)),
            claims,
        ))
    }

    /// The faults of a disagreement: none, if a fitting decision settles it and the spec follows.
    fn judge(&self, disagreement: &Disagreement) -> Vec<Diagnostic> {
        let Disagreement {
            key,
            claims,
            could_split,
            settlement,
        } = disagreement;
        let Some(settlement) = settlement else {
            return vec![self.unsettled(disagreement)];
        };
        let kind = settlement.decision.decision;
        if kind.value == DecisionKind::Split && !could_split {
            let why =
                format!("{key} is no split: sources of one wire version contradict one another");
            return vec![with_claims(
                Diagnostic::error(settlement.place, why),
                claims,
            )];
        }
        let Some(values) = &self.values else {
            return choice(key, settlement).into_iter().collect();
        };
        match kind.value {
            DecisionKind::Split => {
                let wrong = |claim: &&Claim| values.get(&claim.wire) != Some(&claim.value);
                let departs = |claim: &Claim| {
                    let none = ABSENT.to_owned();
                    let value = values.get(&claim.wire).unwrap_or(&none);
                    let why = format!(
                        "{key} is {value} in wire version {}, and its sources say {}",
                        claim.wire, claim.value
                    );
                    Diagnostic::error(self.place, why).related(claim.place, claim.source.clone())
                };
                claims.iter().find(wrong).map(departs).into_iter().collect()
            }
            DecisionKind::Conflict => {
                let distinct: BTreeSet<&String> = values.values().collect();
                if distinct.len() < 2 {
                    return Vec::new();
                }
                let why = format!("{key} differs by wire version, but a conflict has one answer");
                vec![Diagnostic::error(self.place, why).related(settlement.place, "settled here")]
            }
        }
    }

    fn unsettled(&self, disagreement: &Disagreement) -> Diagnostic {
        let key = &disagreement.key;
        let kinds = if disagreement.could_split {
            "`split` if both wire versions stand, `conflict` if one answer holds for both"
        } else {
            "`conflict`, since sources of one wire version contradict one another"
        };
        let fault = Diagnostic::error(self.place, format!("unsettled: the claims on {key} differ"));
        with_claims(fault, &disagreement.claims).help(format!(
            "add a decision here that settles `{}`: {kinds}",
            key.property
        ))
    }
}

/// What the spec says of a field's property in a wire version.
fn field_value(field: &FieldSpec, wire: Wire, key: &Key) -> Option<String> {
    let place = field.place_in(wire);
    match key.property.as_str() {
        "layout" => Some(match &place {
            Some((offset, ty)) => layout_value(ty.size(), **offset),
            None => ABSENT.to_owned(),
        }),
        "type" => place.map(|(_, ty)| ty.to_string()),
        "value" => field.value_in(wire).map(std::string::ToString::to_string),
        "none" => field.none_in(wire).map(|none| none.to_string()),
        _ => None,
    }
}

/// A conflict at a topic names the term that holds.
fn choice(key: &Key, settlement: &Settlement) -> Option<Diagnostic> {
    let decision = &settlement.decision;
    let is_conflict = decision.decision.value == DecisionKind::Conflict;
    (is_conflict && decision.choice.is_none()).then(|| {
        let why = format!("the decision on {key} does not say which term holds");
        Diagnostic::error(settlement.place, why).help("add `choice: TERM`")
    })
}

/// Types of different size are the layout's business, and settled there.
fn comparable(key: &Key, value: &str, claim: &Claim) -> bool {
    let size = |ty: &str| ty.parse::<Type>().map(super::super::layout::Type::size);
    key.property != "type" || size(value) == size(&claim.value)
}

fn unknown(key: &Key, claims: &[Claim]) -> Diagnostic {
    let place = claims.first().map(|claim| claim.place).unwrap_or_default();
    Diagnostic::error(
        place,
        format!("a claim on `{key}`, which the spec does not have"),
    )
    .help("the subject is a record's field, an enumeration's member or a topic of behaviour/")
}

fn stale(key: &Key, settlement: &Settlement, claims: &[Claim]) -> Diagnostic {
    let why = if claims.is_empty() {
        format!("stale decision: no source claims anything on {key}")
    } else {
        format!("stale decision: all claims on {key} agree")
    };
    with_claims(Diagnostic::error(settlement.place, why), claims).help("delete the entry")
}

/// Shows the first claim for each value.
fn with_claims(mut fault: Diagnostic, claims: &[Claim]) -> Diagnostic {
    let mut seen = BTreeSet::new();
    for claim in claims {
        if seen.insert((&claim.value, claim.wire)) {
            let says = format!("{}: {} ({})", claim.source, claim.value, claim.how.verb());
            fault = fault.related(claim.place, says);
        }
    }
    fault
}

fn by_wire(claims: &[Claim]) -> BTreeMap<Wire, BTreeSet<&str>> {
    let mut wires: BTreeMap<Wire, BTreeSet<&str>> = BTreeMap::new();
    for claim in claims {
        wires.entry(claim.wire).or_default().insert(&claim.value);
    }
    wires
}

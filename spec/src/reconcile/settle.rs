//! Matches disagreements among claims with the decisions that settle them.

use std::collections::{BTreeMap, BTreeSet};

use super::claim::{ABSENT, Claim, Claims, Key, collect, layout_value};
use crate::diagnostic::Diagnostic;
use crate::layout::{Type, Wire};
use crate::load::Spec;
use crate::model::{Decision, DecisionKind, FieldSpec};
use crate::yaml::{At, Place};

/// A subject on which claims differ.
#[derive(Debug, Clone)]
pub struct Disagreement {
    /// The subject and property.
    pub key: Key,
    /// All claims about it, by source.
    pub claims: Vec<Claim>,
    /// Whether the sources of each wire version agree with each other. If so, each version could
    /// keep its own value.
    pub could_split: bool,
    /// The decision that settles it.
    pub settlement: Option<Settlement>,
}

impl Disagreement {
    /// Returns each claimed value with those who claim it, as `who` names them.
    #[must_use]
    pub fn values(&self, who: impl Fn(&Claim) -> String) -> Vec<(&str, Vec<String>)> {
        let mut values: Vec<(&str, Vec<String>)> = Vec::new();
        for claim in &self.claims {
            let who = who(claim);
            match values.iter_mut().find(|(value, _)| *value == claim.value) {
                Some((_, all)) if all.contains(&who) => {}
                Some((_, all)) => all.push(who),
                None => values.push((&claim.value, vec![who])),
            }
        }
        values
    }

    /// Returns the value that settles it in a wire version, formatted like a claim.
    #[must_use]
    pub fn outcome(&self, spec: &Spec, wire: Wire) -> Option<String> {
        let subject = Subject::find(spec, &self.key)?;
        if let Some(value) = subject.value(&self.key, wire) {
            // Only its layout can show that a field is absent: it has no type and no value.
            let is_shown = value != ABSENT || self.key.property == "layout";
            return is_shown.then_some(value);
        }
        let decision = &self.settlement.as_ref()?.decision;
        let term = match decision.decision.value {
            DecisionKind::Conflict => &decision.choice.as_ref()?.value,
            DecisionKind::Split => &self.claims.iter().find(|claim| claim.wire == wire)?.value,
        };
        Some(term.clone())
    }
}

/// A decision and its place.
#[derive(Debug, Clone)]
pub struct Settlement {
    /// The decision in the file.
    pub decision: Decision,
    /// The record, field, enumeration or topic that the decision belongs to.
    pub at: String,
    /// The place of this disagreement's entry.
    pub place: Place,
}

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

/// The sources' claims and disagreements.
#[derive(Debug, Clone)]
pub struct Reconciliation {
    /// All claims.
    pub claims: Claims,
    /// All disagreements, settled or not.
    pub disagreements: Vec<Disagreement>,
}

impl Reconciliation {
    /// Returns all decisions on disagreements: first on records and their fields in the format's
    /// order, then on enumerations, and finally on topics.
    #[must_use]
    pub fn groups(&self, spec: &Spec) -> Vec<Group<'_>> {
        // The place of an entry of `settles` identifies the disagreement that it settles.
        let settled = |entry: &At<String>| {
            let mut found = self.disagreements.iter();
            found.find(|it| it.settlement.as_ref().map(|it| it.place) == Some(entry.place))
        };
        let group = |decision: &Decision| {
            let disagreements: Vec<_> = decision.settles.iter().filter_map(settled).collect();
            let settlement = disagreements.first()?.settlement.as_ref()?;
            Some(Group {
                settlement,
                disagreements,
            })
        };
        let mut groups = Vec::new();
        for (_, decisions) in decisions(spec) {
            let mut own: Vec<_> = decisions.iter().filter_map(group).collect();
            own.sort_by_key(|group| group.disagreements.iter().map(|it| &it.key).min());
            groups.extend(own);
        }
        groups
    }
}

/// Compares all claims with each other, with arithmetic and with the spec. Also returns the faults:
/// unsettled disagreements, stale decisions, and deviations from the sources.
#[must_use]
pub fn reconcile(spec: &Spec) -> (Reconciliation, Vec<Diagnostic>) {
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
    let found = Reconciliation {
        claims,
        disagreements,
    };
    (found, faults)
}

/// Returns all decisions by the key they settle.
fn settlements(spec: &Spec, faults: &mut Vec<Diagnostic>) -> BTreeMap<Key, Settlement> {
    let mut found: BTreeMap<Key, Settlement> = BTreeMap::new();
    for (at, decisions) in decisions(spec) {
        for decision in decisions {
            for settled in &decision.settles {
                let key = Key::settled(&at, settled);
                let new = Settlement {
                    decision: decision.clone(),
                    at: at.clone(),
                    place: settled.place,
                };
                if let Some(old) = found.insert(key.clone(), new) {
                    let fault = settled.fault(format!("{key} is settled twice"));
                    faults.push(fault.related(old.place, "already settled here"));
                }
            }
        }
    }
    found
}

/// Returns all subjects that have decisions, with the decisions.
fn decisions(spec: &Spec) -> Vec<(String, &[Decision])> {
    let mut all: Vec<(String, &[Decision])> = Vec::new();
    for record in &spec.records {
        all.push((record.record.value.clone(), &record.decisions));
        for field in &record.fields {
            let name = format!("{}.{}", record.record, field.name);
            all.push((name, &field.decisions));
        }
    }
    for enumeration in &spec.enums.enums {
        all.push((enumeration.name.value.clone(), &enumeration.decisions));
    }
    for topic in &spec.topics {
        all.push((topic.topic.value.clone(), &topic.decisions));
    }
    all
}

/// The subject of a claim, as the spec describes it.
struct Subject<'a> {
    place: Place,
    says: Says<'a>,
}

/// The spec's own value, which claims are compared with.
enum Says<'a> {
    Field(&'a FieldSpec),
    /// A number, the same in every wire version.
    Number(At<u64>),
    /// The spec states no value, as for a topic, whose decision chooses the term.
    Nothing,
}

impl<'a> Subject<'a> {
    fn find(spec: &'a Spec, key: &Key) -> Option<Self> {
        let (place, says) = if let Some(field) = spec.field(&key.subject) {
            (field.name.place, Says::Field(field))
        } else if let Some(record) = spec.record(&key.subject) {
            let At { value, place } = record.size;
            let value = value.into();
            (place, Says::Number(At { value, place }))
        } else if let Some(known) = spec.enumeration(&key.subject) {
            let member = known.member(&key.property)?;
            (member.name.place, Says::Number(member.value))
        } else {
            (spec.topic(&key.subject)?.topic.place, Says::Nothing)
        };
        Some(Self { place, says })
    }

    /// Returns the spec's value in a wire version, in the form of a claim.
    fn value(&self, key: &Key, wire: Wire) -> Option<String> {
        match &self.says {
            Says::Field(field) => Some(field_value(field, key, wire)),
            Says::Number(number) => Some(number.to_string()),
            Says::Nothing => None,
        }
    }

    /// Returns the place in the spec that a claim contradicts.
    fn value_place(&self, key: &Key, claim: &Claim) -> Place {
        match &self.says {
            Says::Field(field) => field_place(field, key, claim).unwrap_or(self.place),
            Says::Number(number) => number.place,
            Says::Nothing => self.place,
        }
    }

    /// Returns a fault if the spec's value differs from a claim.
    fn departs(&self, key: &Key, claims: &[Claim]) -> Option<Diagnostic> {
        let departs = |claim: &&Claim| {
            let value = self.value(key, claim.wire);
            value.is_some_and(|value| value != claim.value && comparable(key, &value, claim))
        };
        let claim = claims.iter().find(departs)?;
        let value = self.value(key, claim.wire)?;
        let why = format!("{key} is {value} in wire version {}", claim.wire);
        let fault = Diagnostic::error(self.value_place(key, claim), why);
        let says = format!("the sources say {}", claim.value);
        let fault = with_claims(fault.label(says), claims);
        Some(fault.help("follow the sources, or add a source that claims your value"))
    }

    /// Returns the faults of a disagreement. There are none if a suitable decision settles it and
    /// the spec agrees.
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
        match settlement.decision.decision.value {
            DecisionKind::Split if !could_split => {
                let why = format!(
                    "{key} is not a split: sources of the same wire version contradict each other"
                );
                let fault = Diagnostic::error(settlement.place, why);
                vec![with_claims(fault, claims).help("settle it with a `conflict`")]
            }
            DecisionKind::Split => self.departs(key, claims).into_iter().collect(),
            DecisionKind::Conflict if matches!(self.says, Says::Nothing) => {
                choice(key, settlement).into_iter().collect()
            }
            DecisionKind::Conflict => self.judge_conflict(key, claims, settlement),
        }
    }

    /// Checks that the decision on a conflict chooses exactly one value and that a source claims
    /// this value.
    fn judge_conflict(
        &self,
        key: &Key,
        claims: &[Claim],
        settlement: &Settlement,
    ) -> Vec<Diagnostic> {
        let wires = by_wire(claims);
        let answers: BTreeSet<Option<String>> =
            wires.keys().map(|wire| self.value(key, *wire)).collect();
        if answers.len() > 1 {
            let why = format!("{key} differs by wire version, but a conflict has one answer");
            let fault = Diagnostic::error(self.place, why);
            return vec![fault.related(settlement.place, "settled here")];
        }
        let is_answer = |claim: &Claim| answers.contains(&Some(claim.value.clone()));
        if claims.iter().any(is_answer) {
            return Vec::new();
        }
        self.departs(key, claims).into_iter().collect()
    }

    fn unsettled(&self, disagreement: &Disagreement) -> Diagnostic {
        let key = &disagreement.key;
        let kinds = if disagreement.could_split {
            "`split` if each wire version keeps its own, `conflict` if one answer applies to both"
        } else {
            "`conflict`, since sources of the same wire version contradict each other"
        };
        let why = format!("unsettled: the claims about {key} differ");
        let fault = with_claims(Diagnostic::error(self.place, why), &disagreement.claims);
        let property = &key.property;
        fault.help(format!(
            "add a decision here that settles `{property}`: {kinds}"
        ))
    }
}

/// Returns the spec's value of a field's property in a wire version.
fn field_value(field: &FieldSpec, key: &Key, wire: Wire) -> String {
    let place = field.place_in(wire);
    let value = match key.property.as_str() {
        "layout" => place.map(|(offset, ty)| layout_value(ty.size(), *offset)),
        "type" => place.map(|(_, ty)| ty.to_string()),
        "value" => field.value_in(wire).map(std::string::ToString::to_string),
        _ => field.none_in(wire).map(|none| none.to_string()),
    };
    value.unwrap_or_else(|| ABSENT.to_owned())
}

/// Returns the place of the field's property that a claim contradicts.
fn field_place(field: &FieldSpec, key: &Key, claim: &Claim) -> Option<Place> {
    match key.property.as_str() {
        "value" => field.value_in(claim.wire).map(|value| value.place),
        "none" => field.none_in(claim.wire).map(|none| none.place),
        property => {
            let (offset, ty) = field.place_in(claim.wire)?;
            let is_elsewhere = layout_value(ty.size(), *offset) != claim.value
                && !claim.value.ends_with(&format!(" at {offset}"));
            let is_offset = property == "layout" && is_elsewhere;
            Some(if is_offset { offset.place } else { ty.place })
        }
    }
}

/// Checks that the decision on a topic's conflict contains the chosen term.
fn choice(key: &Key, settlement: &Settlement) -> Option<Diagnostic> {
    settlement.decision.choice.is_none().then(|| {
        let why = format!("the decision on {key} does not name the chosen term");
        Diagnostic::error(settlement.place, why).help("add `choice: TERM`")
    })
}

/// Returns whether a claim can be compared. Types of different sizes cannot, because their
/// disagreement is settled under `layout`.
fn comparable(key: &Key, value: &str, claim: &Claim) -> bool {
    let size = |ty: &str| ty.parse::<Type>().map(Type::size);
    key.property != "type" || size(value) == size(&claim.value)
}

fn unknown(key: &Key, claims: &[Claim]) -> Diagnostic {
    let place = claims.first().map(|claim| claim.place).unwrap_or_default();
    let why = format!("a claim about `{key}`, which the spec does not have");
    Diagnostic::error(place, why).help(
        "claims must be about a record's field, an enumeration's member or a topic of behaviour/",
    )
}

fn stale(key: &Key, settlement: &Settlement, claims: &[Claim]) -> Diagnostic {
    let (why, help) = if claims.is_empty() {
        (
            format!("stale decision: no source makes a claim about {key}"),
            "name a property that sources claim (layout, type, value, none; FIELD.layout for \
             another field; size; a member; term), or delete the entry",
        )
    } else {
        let why = format!("stale decision: all claims about {key} agree");
        (why, "delete the entry")
    };
    with_claims(Diagnostic::error(settlement.place, why), claims).help(help)
}

/// Adds the first claim of each value to a fault.
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

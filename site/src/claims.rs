//! The claims of the sources, by source and subject.

use std::collections::BTreeMap;
use std::iter;

use atf_spec::holds::{Held, Kind};
use atf_spec::load::Spec;
use atf_spec::model::{FieldClaim, Lines, SourceFile};
use atf_spec::reconcile::Reconciliation;
use atf_spec::yaml::At;
use serde_json::{Value, json};

use crate::markdown::Docs;

/// Everything that a source states about a subject: a record, a field, a file, a constant or a topic.
#[derive(Default)]
pub(crate) struct Claim {
    /// The lines, section and content of each statement.
    pub(crate) said: Vec<Said>,
    /// How the statements are verified, if they are on a topic: a description, and the rules.
    verified: Option<(&'static str, Vec<String>)>,
}

/// A statement.
pub(crate) struct Said {
    pub(crate) lines: Option<Lines>,
    section: String,
    pub(crate) says: String,
}

/// The claims, by subject and source.
pub(crate) type Claims = BTreeMap<(String, String), Claim>;

/// Collects the claims of all sources.
pub(crate) fn collect(spec: &Spec) -> Claims {
    let mut claims = Claims::new();
    for source in &spec.sources {
        let mut collector = Collector {
            spec,
            source,
            claims: &mut claims,
        };
        collector.collect();
    }
    claims
}

struct Collector<'a> {
    spec: &'a Spec,
    source: &'a SourceFile,
    claims: &'a mut Claims,
}

impl Collector<'_> {
    fn collect(&mut self) {
        for record in &self.source.records {
            let place = (record.lines.as_ref(), record.place.as_str());
            let names: Vec<&str> = record.fields.iter().map(|it| it.field.as_str()).collect();
            let sizes = [
                ("the title", &record.stated_size),
                ("an assertion", &record.asserted_size),
            ];
            let mut says = format!("{} fields: {}.", names.len(), names.join(", "));
            for (by, size) in sizes {
                if let Some(size) = size {
                    says += &format!(" {size} bytes by {by}.");
                }
            }
            self.add(&record.record, place, says);
            for field in &record.fields {
                let name = field.is.as_ref().unwrap_or(&field.field);
                let subject = format!("{}.{name}", record.record);
                self.add(&subject, place, described(field));
                for (topic, term) in field.facts.iter() {
                    let says = field.says.as_ref().unwrap_or(&field.field);
                    self.on_topic(topic, place, says, term);
                }
            }
        }
        for file in &self.source.files {
            let sections: Vec<&str> = file.sections.iter().map(|it| it.section.as_str()).collect();
            let place = (file.lines.as_ref(), file.place.as_str());
            let says = format!("The sections: {}.", sections.join(", "));
            self.add(&file.file, place, says);
        }
        for constant in &self.source.constants {
            let place = (constant.lines.as_ref(), constant.place.as_str());
            let says = format!("It is {}.", constant.value);
            self.add(&constant.constant, place, says);
        }
        for one in &self.source.statements {
            let place = (one.lines.as_ref(), one.place.as_str());
            let formula = one.formula.as_ref();
            let formula = formula.and_then(|it| atf_spec::reconcile::formula_base(it));
            let term = one.term.as_ref().map(|term| term.value.clone()).or(formula);
            self.on_topic(&one.topic, place, &one.says, &term.unwrap_or_default());
        }
    }

    fn add(&mut self, subject: &str, (lines, section): (Option<&At<Lines>>, &str), says: String) {
        let key = (subject.to_owned(), self.source.source.value.clone());
        let said = &mut self.claims.entry(key).or_default().said;
        said.push(Said {
            lines: lines.map(|lines| lines.value),
            section: section.to_owned(),
            says,
        });
    }

    fn on_topic(&mut self, topic: &str, place: (Option<&At<Lines>>, &str), says: &str, term: &str) {
        self.add(topic, place, says.to_owned());
        let known = self.spec.topics.iter().find(|it| it.topic.value == topic);
        let key = (topic.to_owned(), self.source.source.value.clone());
        if let (Some(known), Some(claim)) = (known, self.claims.get_mut(&key)) {
            let held = Held::new(self.spec, known, term);
            let rules = held.rules.iter().map(|rule| rule.id.value.clone());
            let words = held.kind().map_or("nothing", Kind::words);
            claim.verified = Some((words, rules.collect()));
        }
    }
}

/// Describes a field in the source's words. Its offset and type are separate values.
fn described(field: &FieldClaim) -> String {
    let members = field.members.iter();
    let members = members.map(|(name, value)| format!("{name} is {value}"));
    let mut parts: Vec<String> = members.chain(field.says.clone()).collect();
    if parts.is_empty() {
        parts.push(format!("Named {}.", field.field));
    }
    parts.join("; ")
}

/// Returns the data of a claim's page.
pub(crate) fn page(
    (subject, source): (&str, &str),
    claim: &Claim,
    (spec, found): (&Spec, &Reconciliation),
    docs: &Docs,
) -> Value {
    let title = spec.sources.iter().find(|it| it.source.value == source);
    let disagreements = found.disagreements.iter();
    let own = disagreements.filter(|it| it.key.subject == subject);
    let own = own.map(|it| it.key.to_string());
    let names = iter::once(subject.to_owned()).chain(own);
    let decisions = names.filter_map(|name| {
        let section = docs.sections.get(&name)?;
        Some(json!({"name": name, "title": section.title}))
    });
    let mut decisions: Vec<Value> = decisions.collect();
    // A topic and its disagreement share a section.
    decisions.dedup_by(|a, b| a["title"] == b["title"]);
    let values = found.claims.iter();
    let values = values.filter(|(key, _)| key.subject == subject);
    let values = values.flat_map(|(key, claims)| {
        let own = claims.iter().filter(|claim| claim.source == source);
        own.map(|claim| json!([key.property, claim.how.verb(), claim.value, claim.section]))
    });
    json!({
        "subject": subject,
        "source": source,
        "document": title.map(|it| &it.title),
        "said": claim.said.iter().map(|it| json!([it.lines.map(|it| it.to_string()), it.section, it.says])).collect::<Vec<_>>(),
        "values": values.collect::<Vec<_>>(),
        "decisions": decisions,
        "verified": claim.verified,
    })
}

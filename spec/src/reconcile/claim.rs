//! Claims in a uniform form: a value for a property of a subject. The sources' own statements have
//! several forms.

use std::collections::BTreeMap;
use std::fmt::Display;

use crate::layout::Wire;
use crate::load::Spec;
use crate::model::{FieldClaim, FileClaim, Form, RecordClaim, SourceFile, Statement};
use crate::yaml::{At, Place};

/// The subject and property of a claim.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// A record, `RECORD.FIELD`, an enumeration or a topic.
    pub subject: String,
    /// `size`, `layout`, `type`, `value`, `none`, `term`, or a member of the enumeration.
    pub property: String,
}

impl Key {
    pub(crate) fn new(subject: impl Into<String>, property: impl Into<String>) -> Self {
        Self {
            subject: subject.into(),
            property: property.into(),
        }
    }

    /// Returns the key that an entry of `settles` refers to: a property of the decision's own
    /// subject, or of another field of the same record.
    pub(crate) fn settled(at: &str, settled: &str) -> Self {
        match at.split_once('.').zip(settled.split_once('.')) {
            Some(((record, _), (field, property))) => {
                Self::new(format!("{record}.{field}"), property)
            }
            None => Self::new(at, settled),
        }
    }
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.subject, self.property)
    }
}

/// How a source makes a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum How {
    /// The source states the value.
    States,
    /// An assertion in the source's code checks the value.
    Asserts,
    /// Arithmetic derives the value from the source's other claims: sizes add up, and packing
    /// determines offsets.
    Sums,
    /// The source describes the whole subject and omits this part.
    Omits,
}

impl How {
    /// Returns the verb to use in messages.
    #[must_use]
    pub const fn verb(self) -> &'static str {
        match self {
            Self::States => "states",
            Self::Asserts => "asserts",
            Self::Sums => "adds up to",
            Self::Omits => "omits it",
        }
    }
}

/// A source's claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The source's id.
    pub source: String,
    /// The wire version that the source describes.
    pub wire: Wire,
    /// The claimed value as a string. Equal values yield equal strings.
    pub value: String,
    /// How the source claims it.
    pub how: How,
    /// The section of the source document.
    pub section: String,
    /// The source's statement, in our words.
    pub says: Option<String>,
    /// The claim's place in the spec's files.
    pub place: Place,
}

/// The claims of all sources by key.
pub type Claims = BTreeMap<Key, Vec<Claim>>;

/// The claimed value of a field that a source omits although it describes the whole record.
pub(super) const ABSENT: &str = "absent";

/// Returns the value of a `layout` claim: a field's size and offset.
pub(super) fn layout_value(size: u32, offset: u32) -> String {
    let unit = if size == 1 { "byte" } else { "bytes" };
    format!("{size} {unit} at {offset}")
}

/// Converts the claims of all sources to the uniform form.
pub(super) fn collect(spec: &Spec) -> Claims {
    let mut claims = Claims::new();
    for source in &spec.sources {
        let mut collector = Collector {
            spec,
            source,
            section: "",
            says: None,
            claims: &mut claims,
        };
        for record in &source.records {
            collector.section = &record.place;
            collector.record(record);
        }
        for file in &source.files {
            collector.section = &file.place;
            collector.file(file);
        }
        for constant in &source.constants {
            collector.section = &constant.place;
            if let Some(key) = constant_key(spec, &constant.constant) {
                collector.states(key, &constant.value);
            }
        }
        for statement in &source.statements {
            collector.section = &statement.place;
            collector.says = Some(&statement.says);
            collector.statement(statement);
        }
    }
    add_omissions(spec, &mut claims);
    let sources = &spec.sources;
    let cited = |id: &str| sources.iter().position(|it| it.source.value == id);
    for claims in claims.values_mut() {
        claims.sort_by_key(|claim| cited(&claim.source));
    }
    claims
}

/// Returns the key that a source's constant refers to: a member of an enumeration, or an entry of
/// `constants.yaml`.
#[must_use]
pub fn constant_key(spec: &Spec, constant: &str) -> Option<Key> {
    let mut named = spec.constants.constants.iter();
    let named = named.find(|named| named.constant.value == constant);
    if let Some((subject, property)) = named.and_then(|named| named.is.rsplit_once('.')) {
        return Some(Key::new(subject, property));
    }
    spec.enums.enums.iter().find_map(|enumeration| {
        let member = constant.strip_prefix(enumeration.c_prefix.as_str())?;
        let member = member.strip_prefix('_')?.to_ascii_lowercase();
        let known = enumeration.member(&member)?;
        Some(Key::new(enumeration.name.as_str(), known.name.as_str()))
    })
}

/// Returns the offset of event 0 in a formula such as `seq * 32` or `events_offset + seq * 32`.
#[must_use]
pub fn formula_base(formula: &str) -> Option<String> {
    let (base, product) = match formula.split_once('+') {
        Some((base, product)) => (base.trim(), product),
        None => ("0", formula),
    };
    let (seq, stride) = product.split_once('*')?;
    let is_seq = seq.trim() == "seq" && stride.trim().parse::<u32>().is_ok();
    (is_seq && !base.is_empty()).then(|| base.to_owned())
}

/// Returns the record that a section of a file contains: `index_header` for the header of
/// `index.atf`.
#[must_use]
pub fn section_record(file: &str, section: &str) -> String {
    format!("{}_{section}", file.trim_end_matches(".atf"))
}

struct Collector<'a> {
    spec: &'a Spec,
    source: &'a SourceFile,
    /// The section of the claims that are being collected.
    section: &'a str,
    /// The source's statement there, in our words.
    says: Option<&'a String>,
    claims: &'a mut Claims,
}

impl<'a> Collector<'a> {
    fn add(&mut self, key: Key, value: String, how: How, place: Place) {
        let claim = Claim {
            source: self.source.source.value.clone(),
            wire: *self.source.wire,
            value,
            how,
            section: self.section.to_owned(),
            says: self.says.cloned(),
            place,
        };
        self.claims.entry(key).or_default().push(claim);
    }

    /// Adds a claim that the source states as it is.
    fn states(&mut self, key: Key, value: &At<impl Display>) {
        self.add(key, value.to_string(), How::States, value.place);
    }

    fn record(&mut self, record: &'a RecordClaim) {
        let size = || Key::new(record.record.as_str(), "size");
        let sizes = [
            (record.stated_size, How::States),
            (record.asserted_size, How::Asserts),
        ];
        for (bytes, how) in sizes {
            if let Some(bytes) = bytes {
                self.add(size(), bytes.to_string(), how, bytes.place);
            }
        }
        let mut end = 0_u32;
        for field in &record.fields {
            let stated = field.offset.map(|offset| offset.value);
            let offset = match record.form {
                Form::Struct => Some(end),
                Form::Table => stated,
                Form::Definitions => stated.or_else(|| self.own_offset(record, field)),
            };
            self.field(record, field, offset);
            let bytes = claimed_size(field).unwrap_or(0);
            if let (Form::Table, Some(offset)) = (record.form, offset)
                && offset != end
            {
                let key = Key::new(subject(record, field), "layout");
                let packed = layout_value(bytes, end);
                self.add(key, packed, How::Sums, field.field.place);
                end = offset;
            }
            end = end.saturating_add(bytes);
        }
        if record.form != Form::Definitions {
            self.add(size(), end.to_string(), How::Sums, record.record.place);
        }
    }

    /// Returns the field's offset in the source's own struct, if the source's definitions state
    /// only the field's size.
    fn own_offset(&self, record: &RecordClaim, field: &FieldClaim) -> Option<u32> {
        let same = |other: &&RecordClaim| {
            other.record.value == record.record.value && other.form == Form::Struct
        };
        let fields = &self.source.records.iter().find(same)?.fields;
        let name = field.name().as_str();
        let at = fields.iter().position(|other| other.name().value == name)?;
        let sizes = fields[..at].iter().filter_map(claimed_size);
        Some(sizes.fold(0, u32::saturating_add))
    }

    fn field(&mut self, record: &RecordClaim, field: &'a FieldClaim, offset: Option<u32>) {
        let subject = subject(record, field);
        let key = |property| Key::new(subject.as_str(), property);
        self.says = field.says.as_ref();
        if let (Some(offset), Some(size)) = (offset, claimed_size(field)) {
            let layout = layout_value(size, offset);
            self.add(key("layout"), layout, How::States, field.field.place);
        }
        if let Some(ty) = &field.ty {
            self.states(key("type"), ty);
        }
        if let Some(value) = &field.value {
            self.states(key("value"), value);
        }
        if let Some(none) = &field.none {
            self.states(key("none"), none);
        }
        for (topic, term) in field.facts.iter() {
            self.states(Key::new(topic.as_str(), "term"), term);
        }
        // The description is about the field, not about single members.
        self.says = None;
        self.members(record, field);
    }

    fn members(&mut self, record: &RecordClaim, field: &FieldClaim) {
        let known = self.spec.field(&subject(record, field));
        let name = known.and_then(|known| known.enumeration.as_ref());
        let enumeration = name.and_then(|name| self.spec.enumeration(name));
        let Some(enumeration) = enumeration.filter(|_| !field.members.is_empty()) else {
            return;
        };
        let key = |member: &str| Key::new(enumeration.name.as_str(), member);
        for (member, value) in field.members.iter() {
            self.states(key(member), value);
        }
        let members = enumeration.members.iter().map(|member| &member.name);
        for name in members.filter(|name| !field.open && field.members.get(name).is_none()) {
            let place = field.field.place;
            self.add(key(name), ABSENT.to_owned(), How::Omits, place);
        }
    }

    fn file(&mut self, file: &FileClaim) {
        let mut end = 0_u32;
        for section in &file.sections {
            if section.section.value == "events" {
                if file.file.value == "index.atf" {
                    let key = Key::new("event.place", "term");
                    self.add(key, end.to_string(), How::Sums, section.section.place);
                }
            } else if let Some(size) = &section.size {
                let key = Key::new(section_record(&file.file, &section.section), "size");
                self.states(key, size);
                end = end.saturating_add(size.value);
            }
        }
    }

    fn statement(&mut self, statement: &Statement) {
        let key = Key::new(statement.topic.as_str(), "term");
        if let Some(term) = &statement.term {
            self.states(key, term);
        } else if let Some(formula) = &statement.formula
            && let Some(base) = formula_base(formula)
        {
            self.add(key, base, How::Sums, formula.place);
        }
    }
}

/// Adds absence claims: a source that describes a whole record but omits a field of another source
/// claims that the field is absent.
fn add_omissions(spec: &Spec, claims: &mut Claims) {
    let fields = claims.keys().filter(|key| key.property == "layout");
    for key in fields.cloned().collect::<Vec<_>>() {
        let Some((record, _)) = key.subject.split_once('.') else {
            continue;
        };
        for source in &spec.sources {
            let mut known = claims[&key].iter();
            let has_it = known.any(|claim| claim.source == source.source.value);
            let in_full = |claim: &&RecordClaim| {
                claim.record.value == record && claim.form != Form::Definitions
            };
            let Some(whole) = source.records.iter().find(in_full).filter(|_| !has_it) else {
                continue;
            };
            let mut collector = Collector {
                spec,
                source,
                section: &whole.place,
                says: None,
                claims,
            };
            let place = whole.record.place;
            collector.add(key.clone(), ABSENT.to_owned(), How::Omits, place);
        }
    }
}

fn subject(record: &RecordClaim, field: &FieldClaim) -> String {
    format!("{}.{}", record.record, field.name())
}

fn claimed_size(field: &FieldClaim) -> Option<u32> {
    let stated = field.size.map(|size| size.value);
    stated.or_else(|| field.ty.map(|ty| ty.size()))
}

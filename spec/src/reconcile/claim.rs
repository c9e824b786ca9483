//! Claims in a uniform form: a value for a property of a subject. The sources' own statements have
//! several forms.

use std::collections::BTreeMap;

use crate::layout::Wire;
use crate::load::Spec;
use crate::model::{FieldClaim, FileClaim, Form, RecordClaim, SourceFile, Statement};
use crate::yaml::Place;

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
}

impl Key {
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
pub const ABSENT: &str = "absent";

/// Returns the value of a `layout` claim: a field's size and offset.
#[must_use]
pub fn layout_value(size: u32, offset: u32) -> String {
    let unit = if size == 1 { "byte" } else { "bytes" };
    format!("{size} {unit} at {offset}")
}

/// Converts the claims of all sources to the uniform form.
#[must_use]
pub fn collect(spec: &Spec) -> Claims {
    let mut claims = Claims::new();
    for source in &spec.sources {
        let mut collector = Collector {
            spec,
            source,
            claims: &mut claims,
        };
        for record in &source.records {
            collector.record(record);
        }
        for file in &source.files {
            collector.file(file);
        }
        for constant in &source.constants {
            if let Some(key) = constant_key(spec, &constant.constant) {
                let value = constant.value.to_string();
                collector.add(
                    key,
                    value,
                    How::States,
                    &constant.place,
                    None,
                    constant.value.place,
                );
            }
        }
        for statement in &source.statements {
            collector.statement(statement);
        }
    }
    add_omissions(spec, &mut claims);
    let cited = |id: &str| {
        spec.sources
            .iter()
            .position(|source| source.source.value == id)
    };
    for claims in claims.values_mut() {
        claims.sort_by_key(|claim| cited(&claim.source));
    }
    claims
}

/// Returns the key that a source's constant refers to: a member of an enumeration, or an entry of
/// `constants.yaml`.
#[must_use]
pub fn constant_key(spec: &Spec, constant: &str) -> Option<Key> {
    let named = spec
        .constants
        .constants
        .iter()
        .find(|named| named.constant.value == constant);
    if let Some((subject, property)) = named.and_then(|named| named.is.rsplit_once('.')) {
        return Some(Key::new(subject, property));
    }
    spec.enums.enums.iter().find_map(|enumeration| {
        let member = constant
            .strip_prefix(enumeration.c_prefix.as_str())?
            .strip_prefix('_')?;
        let member = member.to_ascii_lowercase();
        let known = enumeration
            .members
            .iter()
            .any(|known| known.name.value == member);
        known.then(|| Key::new(enumeration.name.as_str(), member))
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
    claims: &'a mut Claims,
}

impl Collector<'_> {
    fn add(
        &mut self,
        key: Key,
        value: String,
        how: How,
        section: &str,
        says: Option<&String>,
        place: Place,
    ) {
        let claim = Claim {
            source: self.source.source.value.clone(),
            wire: *self.source.wire,
            value,
            how,
            section: section.to_owned(),
            says: says.cloned(),
            place,
        };
        self.claims.entry(key).or_default().push(claim);
    }

    fn record(&mut self, record: &RecordClaim) {
        let size = |record: &RecordClaim| Key::new(record.record.as_str(), "size");
        let sizes = [
            (record.stated_size, How::States),
            (record.asserted_size, How::Asserts),
        ];
        for (bytes, how) in sizes {
            if let Some(bytes) = bytes {
                self.add(
                    size(record),
                    bytes.to_string(),
                    how,
                    &record.place,
                    None,
                    bytes.place,
                );
            }
        }
        let mut end = 0_u32;
        for field in &record.fields {
            let offset = match record.form {
                Form::Struct => Some(end),
                Form::Table => field.offset.map(|offset| offset.value),
                Form::Definitions => field
                    .offset
                    .map(|offset| offset.value)
                    .or_else(|| self.own_offset(record, field)),
            };
            self.field(record, field, offset);
            let bytes = claimed_size(field).unwrap_or(0);
            if let (Form::Table, Some(offset)) = (record.form, offset)
                && offset != end
            {
                let key = Key::new(subject(record, field), "layout");
                let packed = layout_value(bytes, end);
                self.add(
                    key,
                    packed,
                    How::Sums,
                    &record.place,
                    None,
                    field.field.place,
                );
                end = offset;
            }
            end = end.saturating_add(bytes);
        }
        if record.form != Form::Definitions {
            let place = record.record.place;
            self.add(
                size(record),
                end.to_string(),
                How::Sums,
                &record.place,
                None,
                place,
            );
        }
    }

    /// Returns the field's offset in the source's own struct, if the source's definitions state
    /// only the field's size.
    fn own_offset(&self, record: &RecordClaim, field: &FieldClaim) -> Option<u32> {
        let same = |other: &&RecordClaim| {
            other.record.value == record.record.value && other.form == Form::Struct
        };
        let fields = &self.source.records.iter().find(same)?.fields;
        let at = fields.iter().position(|other| name(other) == name(field))?;
        Some(
            fields[..at]
                .iter()
                .filter_map(claimed_size)
                .fold(0, u32::saturating_add),
        )
    }

    fn field(&mut self, record: &RecordClaim, field: &FieldClaim, offset: Option<u32>) {
        let subject = subject(record, field);
        let (section, says, place) = (&record.place, field.says.as_ref(), field.field.place);
        if let (Some(offset), Some(size)) = (offset, claimed_size(field)) {
            let key = Key::new(&*subject, "layout");
            self.add(
                key,
                layout_value(size, offset),
                How::States,
                section,
                says,
                place,
            );
        }
        if let Some(ty) = field.ty {
            let key = Key::new(&*subject, "type");
            self.add(key, ty.to_string(), How::States, section, says, ty.place);
        }
        if let Some(value) = &field.value {
            let key = Key::new(&*subject, "value");
            self.add(
                key,
                value.to_string(),
                How::States,
                section,
                says,
                value.place,
            );
        }
        if let Some(none) = field.none {
            let key = Key::new(&*subject, "none");
            self.add(
                key,
                none.to_string(),
                How::States,
                section,
                says,
                none.place,
            );
        }
        self.members(record, field);
        for (topic, term) in field.facts.iter() {
            let key = Key::new(topic.as_str(), "term");
            self.add(
                key,
                term.value.clone(),
                How::States,
                section,
                says,
                term.place,
            );
        }
    }

    fn members(&mut self, record: &RecordClaim, field: &FieldClaim) {
        let spec = self.spec;
        let known = spec.record(&record.record).and_then(|record| {
            let field = record
                .fields
                .iter()
                .find(|known| known.name.value == name(field))?;
            let name = field.enumeration.as_ref()?;
            spec.enums
                .enums
                .iter()
                .find(|known| known.name.value == name.value)
        });
        let Some(enumeration) = known.filter(|_| !field.members.is_empty()) else {
            return;
        };
        let section = &record.place;
        for (member, value) in field.members.iter() {
            let key = Key::new(enumeration.name.as_str(), member.as_str());
            self.add(
                key,
                value.to_string(),
                How::States,
                section,
                None,
                value.place,
            );
        }
        let omitted = |name: &&str| !field.open && field.members.get(name).is_none();
        for member in enumeration
            .members
            .iter()
            .map(|member| member.name.as_str())
            .filter(omitted)
        {
            let key = Key::new(enumeration.name.as_str(), member);
            self.add(
                key,
                ABSENT.to_owned(),
                How::Omits,
                section,
                None,
                field.field.place,
            );
        }
    }

    fn file(&mut self, file: &FileClaim) {
        let mut end = 0_u32;
        for section in &file.sections {
            if section.section.value == "events" && file.file.value == "index.atf" {
                let key = Key::new("event.place", "term");
                let place = section.section.place;
                self.add(key, end.to_string(), How::Sums, &file.place, None, place);
            }
            if let Some(size) = section.size
                && section.section.value != "events"
            {
                let key = Key::new(section_record(&file.file, &section.section), "size");
                self.add(
                    key,
                    size.to_string(),
                    How::States,
                    &file.place,
                    None,
                    size.place,
                );
                end = end.saturating_add(size.value);
            }
        }
    }

    fn statement(&mut self, statement: &Statement) {
        let key = Key::new(statement.topic.as_str(), "term");
        let says = Some(&statement.says);
        if let Some(term) = &statement.term {
            self.add(
                key,
                term.value.clone(),
                How::States,
                &statement.place,
                says,
                term.place,
            );
        } else if let Some(formula) = &statement.formula
            && let Some(base) = formula_base(formula)
        {
            self.add(key, base, How::Sums, &statement.place, says, formula.place);
        }
    }
}

/// Adds absence claims: a source that describes a whole record but omits a field of another source
/// claims that the field is absent.
fn add_omissions(spec: &Spec, claims: &mut Claims) {
    let layouts = |key: &Key| key.property == "layout";
    let fields: Vec<Key> = claims.keys().filter(|key| layouts(key)).cloned().collect();
    for key in fields {
        let Some((record, _)) = key.subject.split_once('.') else {
            continue;
        };
        for source in &spec.sources {
            let has_it = claims[&key]
                .iter()
                .any(|claim| claim.source == source.source.value);
            let in_full = |claim: &&RecordClaim| {
                claim.record.value == record && claim.form != Form::Definitions
            };
            let Some(whole) = source.records.iter().find(in_full).filter(|_| !has_it) else {
                continue;
            };
            let mut collector = Collector {
                spec,
                source,
                claims,
            };
            let (value, place) = (ABSENT.to_owned(), whole.record.place);
            collector.add(key.clone(), value, How::Omits, &whole.place, None, place);
        }
    }
}

fn name(field: &FieldClaim) -> &str {
    field.is.as_ref().unwrap_or(&field.field)
}

fn subject(record: &RecordClaim, field: &FieldClaim) -> String {
    format!("{}.{}", record.record, name(field))
}

fn claimed_size(field: &FieldClaim) -> Option<u32> {
    field
        .size
        .map(|size| size.value)
        .or_else(|| field.ty.map(|ty| ty.size()))
}

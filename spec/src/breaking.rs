//! Finds the changes between two editions, and the programs that each change breaks.
//!
//! An edition is a `layout.json`, compared as a tree. Any member that is not listed here counts as
//! part of the wire format, so a new one is never overlooked.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde::Serialize;
use serde_json::Value;

use crate::layout::Type;
use crate::named::named;

named! {
    /// The programs that a change breaks, from none to all.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    pub enum Category {
        /// Nothing: only texts, sources and reasons changed.
        Documents = "documents",
        /// No existing program: older readers skip additions.
        Additions = "additions",
        /// Programs that read or write manifest.json or a session's folders.
        Manifest = "manifest",
        /// The grade of an implementation: a rule or the grammar of files changed.
        Rules = "rules",
        /// Programs that are compiled with the Rust structs.
        Rust = "rust",
        /// Programs that are compiled against the C headers.
        C = "c",
        /// Everything: the meaning of files changed.
        Wire = "wire",
    }
}

/// A change to one subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The programs that it breaks.
    pub category: Category,
    /// The changed field, record, enumeration, constant, rule, or key of the manifest.
    pub subject: String,
    /// A description: `offset 8 → 12`.
    pub what: String,
    /// The wire versions in which it changed; empty if it is all of them.
    pub wires: BTreeSet<String>,
    /// Whether the subject is a rule.
    pub is_rule: bool,
}

type Breaks = &'static [Category];

const NOTHING: Breaks = &[];
const DOCUMENTS: Breaks = &[Category::Documents];
const ADDITION: Breaks = &[Category::Additions];
const MANIFEST: Breaks = &[Category::Manifest];
const RULES: Breaks = &[Category::Rules];
const RUST: Breaks = &[Category::Rust];
const C: Breaks = &[Category::C];
const SOURCE: Breaks = &[Category::C, Category::Rust];
const WIRE: Breaks = &[Category::Wire];
/// A struct has a new field, so Rust code that lists all of them does not compile.
const FIELD: Breaks = &[Category::Additions, Category::Rust];

/// Members of any object that appear only in documents.
const TEXTS: [&str; 14] = [
    "about",
    "claims",
    "constraints",
    "doc",
    "followed_by",
    "lines",
    "means",
    "note",
    "phantom",
    "rule",
    "settled_by",
    "sources",
    "title",
    "untestable",
];

/// The other members by path: what breaks if a member is changed, added or removed.
/// `records.layouts.reserved` stands for fields without a meaning.
const TABLE: &[(&str, Breaks, Breaks, Breaks)] = &[
    ("wires", WIRE, WIRE, WIRE),
    ("constants", C, ADDITION, C),
    ("constants.name", C, C, C),
    // A wire version's value is added and removed with that version, and is a field's value.
    ("constants.values", NOTHING, NOTHING, NOTHING),
    ("constants.values.type", C, C, C),
    ("constants.values.value", C, C, C),
    ("enums", WIRE, ADDITION, WIRE),
    ("enums.name", RUST, RUST, RUST),
    ("enums.c_prefix", C, C, C),
    ("enums.members", WIRE, ADDITION, WIRE),
    ("enums.members.name", SOURCE, SOURCE, SOURCE),
    ("records", WIRE, ADDITION, WIRE),
    ("records.name", RUST, RUST, RUST),
    ("records.c_name", C, C, C),
    ("records.layouts", NOTHING, NOTHING, NOTHING),
    ("records.layouts.fields", WIRE, FIELD, WIRE),
    ("records.layouts.fields.name", SOURCE, SOURCE, SOURCE),
    ("records.layouts.fields.known_as", RUST, RUST, RUST),
    ("records.layouts.fields.units", WIRE, DOCUMENTS, DOCUMENTS),
    ("records.layouts.fields.enum", WIRE, RUST, RUST),
    ("records.layouts.reserved", SOURCE, RUST, SOURCE),
    ("records.layouts.reserved.offset", NOTHING, NOTHING, NOTHING),
    ("records.layouts.reserved.type", RUST, RUST, RUST),
    ("grammars", RULES, ADDITION, RULES),
    ("grammars.derived", RULES, ADDITION, RULES),
    ("grammars.functions", RULES, ADDITION, RULES),
    ("rules", RULES, ADDITION, RULES),
    ("manifest", MANIFEST, MANIFEST, MANIFEST),
    ("manifest.objects", MANIFEST, ADDITION, MANIFEST),
    ("manifest.objects.fields", MANIFEST, ADDITION, MANIFEST),
    ("session", MANIFEST, MANIFEST, MANIFEST),
    ("session.entries", MANIFEST, ADDITION, MANIFEST),
];

/// Members of a layout that are not part of the format.
const IGNORED: [&str; 4] = ["@generated", "editions", "inputs", "version"];

/// Returns what a change to a member breaks. A member without a row breaks the same as a change to
/// the object that contains it.
fn breaks(path: &str, old: Option<&Value>, new: Option<&Value>) -> Breaks {
    if path.split('.').any(|key| TEXTS.contains(&key)) {
        return DOCUMENTS;
    }
    let mut known = path;
    loop {
        if let Some((_, changed, added, removed)) = TABLE.iter().find(|row| row.0 == known) {
            return match (old, new) {
                // A member added to an existing object changes that object.
                _ if known != path => changed,
                (None, _) => added,
                (_, None) => removed,
                _ => changed,
            };
        }
        match known.rsplit_once('.') {
            Some((above, _)) => known = above,
            None => return WIRE,
        }
    }
}

/// Returns the members of a `layout.json` that are part of the format.
pub fn members(edition: &Value) -> impl Iterator<Item = &str> {
    let members = edition.as_object().into_iter().flatten();
    let keys = members.map(|(key, _)| key.as_str());
    keys.filter(|key| !IGNORED.contains(key))
}

/// Returns the changes from one `layout.json` to another, the most severe first.
#[must_use]
pub fn changes(old: &Value, new: &Value) -> Vec<Change> {
    let mut found = Vec::new();
    let is_new = |subject: &str| has(new, subject) && !has(old, subject);
    // A member that exists in only one of them cannot be compared.
    for key in members(new).filter(|key| old.get(key).is_some()) {
        let path = key.to_owned();
        let place = Place {
            path,
            ..Place::default()
        };
        place.compare(&old[key], &new[key], &mut found);
    }
    for added in found
        .iter_mut()
        .filter(|it| it.is_rule && it.what == "added")
    {
        let rule = find(&new["rules"], &added.subject);
        let about = rule.and_then(|rule| rule["about"].as_array());
        let mut about = about.into_iter().flatten().filter_map(Value::as_str);
        // No existing program breaks a rule about something new.
        if about.next().is_some_and(is_new) && about.all(is_new) {
            added.category = Category::Additions;
        }
    }
    let mut merged: Vec<Change> = Vec::new();
    for change in found {
        let same = |it: &&mut Change| {
            (it.category, &it.subject, &it.what) == (change.category, &change.subject, &change.what)
        };
        match merged.iter_mut().find(same) {
            Some(known) => known.wires.extend(change.wires),
            None => merged.push(change),
        }
    }
    let all = new["wires"].as_array().map_or(0, Vec::len);
    for change in merged.iter_mut().filter(|change| change.wires.len() == all) {
        change.wires.clear();
    }
    merged.sort_by_key(|change| std::cmp::Reverse(change.category));
    merged
}

/// A place in both trees.
#[derive(Clone, Default)]
struct Place {
    /// The keys that lead to it: `records.layouts.fields`.
    path: String,
    /// The changed field, rule or key, if the place is within one.
    subject: String,
    /// The place within the subject: `members.ios`.
    within: String,
    /// The wire version, if the place belongs to one.
    wire: Option<String>,
}

impl Place {
    /// Returns the place of an item of this list.
    fn item(&self, item: &Value) -> Self {
        let name = name(item).unwrap_or_default();
        let mut place = self.clone();
        match self.path.as_str() {
            "constants.values" | "records.layouts" => place.wire = Some(name),
            "manifest.objects" => place.subject = format!("manifest.json: {name}"),
            "records.layouts.fields" | "manifest.objects.fields" => {
                place.subject = format!("{}.{name}", self.subject);
            }
            _ if self.subject.is_empty() => place.subject = name,
            path => {
                let list = path.rsplit('.').next().unwrap_or_default();
                place.within = format!("{list}.{name}");
            }
        }
        if is_reserved(item) {
            place.path = "records.layouts.reserved".to_owned();
        }
        place
    }

    fn member(&self, key: &str) -> Self {
        let mut member = self.clone();
        member.path = format!("{}.{key}", self.path);
        member
    }

    fn compare(&self, old: &Value, new: &Value, found: &mut Vec<Change>) {
        match (old, new) {
            // Expressions are compared as a whole.
            (Value::Object(olds), Value::Object(news)) if !olds.contains_key("op") => {
                let gone = olds.keys().filter(|key| !news.contains_key(*key));
                for key in news.keys().chain(gone) {
                    let member = self.member(key);
                    let none = Value::Array(Vec::new());
                    match (olds.get(key), news.get(key)) {
                        // An empty list may be omitted.
                        (None, Some(list @ Value::Array(_))) => member.compare(&none, list, found),
                        (Some(list @ Value::Array(_)), None) => member.compare(list, &none, found),
                        (Some(old), Some(new)) => member.compare(old, new, found),
                        (old, new) => member.report(old, new, found),
                    }
                }
            }
            (Value::Array(olds), Value::Array(news))
                if olds.iter().chain(news).all(|item| name(item).is_some()) =>
            {
                self.compare_items(olds, news, found);
            }
            _ if old != new => self.report(Some(old), Some(new), found),
            _ => {}
        }
    }

    /// Compares lists of items that have names.
    fn compare_items(&self, olds: &[Value], news: &[Value], found: &mut Vec<Change>) {
        let mut known = Vec::new();
        for new in news {
            let place = self.item(new);
            let is_renamed = |old: &&Value| self.is_renamed(old, new, olds, news);
            let old = olds.iter().find(|old| is_same(old, new));
            let old = old.or_else(|| olds.iter().find(is_renamed));
            match old {
                Some(old) => {
                    known.push(old);
                    self.item(old).compare(old, new, found);
                }
                // A field that loses its meaning is reported as removed.
                None if is_reserved(new) && has_name(olds, new) => {}
                None => place.report_as(place.addition(new, olds), None, Some(new), found),
            }
        }
        for old in olds.iter().filter(|old| !known.contains(old)) {
            // A reserved field that gains a meaning is reported as added.
            if !(is_reserved(old) && has_name(news, old)) {
                self.item(old).report(Some(old), None, found);
            }
        }
    }

    /// Returns whether an item is an old one with a new name.
    fn is_renamed(&self, old: &Value, new: &Value, olds: &[Value], news: &[Value]) -> bool {
        let keys: &[&str] = match self.path.as_str() {
            "constants" => &["values"],
            "enums" => &["c_prefix"],
            "enums.members" => &["value"],
            "records" => &["c_name"],
            "records.layouts.fields" => &["offset", "type"],
            _ => return false,
        };
        keys.iter().all(|key| old.get(key) == new.get(key))
            && is_reserved(old) == is_reserved(new)
            && !has_name(olds, new)
            && !has_name(news, old)
    }

    /// Returns what adding an item breaks.
    fn addition(&self, item: &Value, olds: &[Value]) -> Breaks {
        let is_harmless = match self.path.as_str() {
            "records.layouts.fields" => uses_reserved_bytes(item, olds),
            "rules" => item["severity"] != "must",
            _ => item["required"] != true,
        };
        if is_harmless {
            breaks(&self.path, None, Some(item))
        } else {
            breaks(&self.path, Some(item), Some(item))
        }
    }

    fn report(&self, old: Option<&Value>, new: Option<&Value>, found: &mut Vec<Change>) {
        self.report_as(breaks(&self.path, old, new), old, new, found);
    }

    fn report_as(
        &self,
        breaks: Breaks,
        old: Option<&Value>,
        new: Option<&Value>,
        found: &mut Vec<Change>,
    ) {
        let is_item = old.or(new).is_some_and(|value| name(value).is_some());
        let key = self.path.rsplit('.').next().filter(|_| !is_item);
        let key = key.unwrap_or_default();
        let what = match (old, new) {
            _ if breaks == DOCUMENTS && !is_item => key.to_owned(),
            (Some(Value::Object(_)), Some(_)) => format!("{key} changed"),
            (Some(old), Some(new)) => match (shown(old), shown(new)) {
                (old, new) if old.len().max(new.len()) > 60 => format!("{key} changed"),
                (old, new) => format!("{key} {old} → {new}"),
            },
            (None, Some(new)) => format!("{key} {} added", shown(new)),
            (Some(old), None) => format!("{key} {} removed", shown(old)),
            (None, None) => return,
        };
        let what = format!("{} {what}", self.within);
        found.extend(breaks.iter().map(|category| Change {
            category: *category,
            subject: match self.subject.as_str() {
                "" => "format".to_owned(),
                subject => subject.to_owned(),
            },
            what: what.split_whitespace().collect::<Vec<_>>().join(" "),
            wires: self.wire.iter().cloned().collect(),
            is_rule: self.path.starts_with("rules"),
        }));
    }
}

/// Returns the name of a list's item, which identifies it.
fn name(item: &Value) -> Option<String> {
    let keys = [
        "known_as", "name", "object", "id", "path", "wire", "verdict",
    ];
    let name = keys.iter().find_map(|key| item.get(key))?;
    let name = shown(name);
    // A rule may exclude a verdict twice.
    Some(match item.get("when") {
        Some(when) => format!("{name} {}", shown(when)),
        None => name,
    })
}

fn find<'a>(list: &'a Value, wanted: &str) -> Option<&'a Value> {
    let mut items = list.as_array().into_iter().flatten();
    items.find(|item| name(item).as_deref() == Some(wanted))
}

/// Returns whether an edition has a record, a field of a record or an enumeration.
fn has(edition: &Value, subject: &str) -> bool {
    let (record, field) = subject.split_once('.').unwrap_or((subject, ""));
    match find(&edition["records"], record) {
        Some(record) if !field.is_empty() => {
            let mut layouts = record["layouts"].as_array().into_iter().flatten();
            layouts.any(|layout| find(&layout["fields"], field).is_some())
        }
        Some(_) => true,
        None => find(&edition["enums"], subject).is_some(),
    }
}

fn has_name(items: &[Value], item: &Value) -> bool {
    items.iter().any(|other| name(other) == name(item))
}

fn is_reserved(field: &Value) -> bool {
    field["reserved"] == true
}

fn is_same(old: &Value, new: &Value) -> bool {
    name(old) == name(new) && is_reserved(old) == is_reserved(new)
}

fn bytes(field: &Value) -> Option<std::ops::Range<u64>> {
    let offset = field["offset"].as_u64()?;
    let ty: Type = field["type"].as_str()?.parse().ok()?;
    Some(offset..offset.checked_add(ty.size().into())?)
}

/// Returns whether a field uses only bytes that were reserved.
fn uses_reserved_bytes(field: &Value, olds: &[Value]) -> bool {
    let free = olds.iter().filter(|old| is_reserved(old));
    let free: Vec<_> = free.filter_map(bytes).collect();
    let is_free = |byte| free.iter().any(|free| free.contains(&byte));
    bytes(field).is_some_and(|mut own| own.all(is_free))
}

/// Returns a value on one line. A list item is shown as its identity and its encoding.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(_) => {
            let mut text = String::new();
            if let (Some(offset), Some(ty)) = (value.get("offset"), value["type"].as_str()) {
                let _ = write!(text, "{ty} at {offset}");
            } else if let Some(number) = value.get("value") {
                let _ = write!(text, "= {number}");
            }
            text
        }
        other => other.to_string(),
    }
}

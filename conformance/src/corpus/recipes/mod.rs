//! The recipes, in data files: one per record, and some for whole sessions.
//!
//! A data file is a list of cases. A case begins with the rule that it tests, and its name:
//!
//! - `follows = "RULE NAME"`: the edited session follows the rule. Without `edit`, the clean session does.
//! - `breaks = "RULE NAME"`: it breaks the rule, at `at`.
//! - `case = "NAME"`: a valid session that tests `rules`.
//!
//! [`Entry`] lists the other keys, and [`edit`](super::edit) the steps of an edit.

use std::sync::LazyLock;

use serde::Deserialize;
use toml::Spanned;

use super::FLAGS;
use super::edit::{Edit, path};
use super::flags::flag_of;
use super::recipe::{Found, Offset, Other, Recipe, file_of, subject_of};
use crate::{Verdict, rules};

macro_rules! files {
    ($($name:literal)*) => {
        &[$((concat!($name, ".toml"), include_str!(concat!($name, ".toml")))),*]
    };
}

/// The data files and their texts, in the order of the records in a session.
const FILES: &[(&str, &str)] = files!(
    "index_header" "index_event" "index_footer"
    "detail_header" "detail_event" "detail_function_payload" "detail_footer"
    "link" "manifest" "session" "ring"
    "known_file" "known_session" "outside" "page" "valid" "wide"
);

/// The recipes of traces that are too large for the tables.
const LARGE: &[(&str, &str)] = files!("large");

/// Returns all recipes except those of large traces.
#[must_use]
pub fn recipes() -> &'static [Recipe] {
    static ALL: LazyLock<Vec<Recipe>> = LazyLock::new(|| read_all(FILES));
    &ALL
}

/// Returns the recipes of large traces.
pub(super) fn large() -> Vec<Recipe> {
    read_all(LARGE)
}

fn read_all(files: &[(&str, &str)]) -> Vec<Recipe> {
    let read = |(name, text): &(&str, &str)| {
        read(text).unwrap_or_else(|error| panic!("recipes/{name}: {error}"))
    };
    files.iter().flat_map(read).collect()
}

/// Reads the recipes of a data file.
///
/// # Errors
///
/// Returns a message that names the line.
pub fn read(text: &str) -> Result<Vec<Recipe>, String> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        cases: Vec<Spanned<Entry>>,
    }
    let text = with_unknown(text);
    let file: File = toml::from_str(&text).map_err(|error| error.to_string())?;
    let recipe = |entry: Spanned<Entry>| {
        let line = 1 + text[..entry.span().start].matches('\n').count();
        Recipe::try_from(entry.into_inner()).map_err(|error| format!("line {line}: {error}"))
    };
    file.cases.into_iter().map(recipe).collect()
}

/// Replaces `UNKNOWN_ARCH` and similar placeholders with the first values after those that the spec
/// defines. This way, the recipes need no change when the spec defines another value.
///
/// If the spec defines a value by mistake, the corpus changes, and with it the digest in
/// `spec/editions.yaml`, so the mistake is still noticed.
fn with_unknown(text: &str) -> String {
    fn after<T: Copy + Into<u64>>(known: &[T]) -> u64 {
        let last = known.iter().map(|value| (*value).into()).max();
        last.unwrap_or_default() + 1
    }
    let values = [
        ("UNKNOWN_ARCH", after(atf::Arch::MEMBERS)),
        ("UNKNOWN_CLOCK", after(atf::Clock::MEMBERS)),
        ("UNKNOWN_DETAIL_TYPE", after(atf::DetailEventType::MEMBERS)),
        (
            "UNKNOWN_FLAG",
            after(atf::IndexFlags::MEMBERS).next_power_of_two(),
        ),
        ("UNKNOWN_KIND", after(atf::EventKind::MEMBERS)),
        ("UNKNOWN_OS", after(atf::Os::MEMBERS)),
        ("UNKNOWN_WIRE", after(atf::Wire::VERSIONS)),
    ];
    let mut text = text.to_owned();
    for (name, value) in values {
        text = text.replace(name, &value.to_string());
    }
    text
}

/// A case as written in a data file.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Entry {
    /// A rule that the edited session follows, and a short description that becomes part of the slug.
    follows: Option<String>,
    /// A rule that the edited session breaks, and the description.
    breaks: Option<String>,
    /// The slug of a valid session.
    case: Option<String>,
    /// The rules that a valid session tests.
    rules: Vec<String>,
    /// The edit; without one, the case is the clean session.
    edit: Option<Edit>,
    /// The field of the finding; without one, the finding is about the whole file.
    at: String,
    /// The finding's offset, or a string at that offset. By default, an index or detail file's
    /// finding has the offset of its field or region, and other findings have none.
    offset: Option<Offset>,
    /// The file of the finding, if it is not the one that the rule is about.
    r#in: Option<String>,
    /// How many times the edit breaks the rule.
    times: Option<u64>,
    /// Other rules that the edit unavoidably breaks: `RULE`, or `RULE in FILE`.
    also: Vec<String>,
    /// Rules on the behaviour of readers, which no file can break.
    asks: Vec<String>,
    /// The known implementation mistakes that the case reveals, in addition to the rule's.
    flags: Vec<String>,
    /// The only wire version that has the case.
    wire: Option<u8>,
    /// The file or folder to read, if it is not the one that the rule is about: `""` is the whole session.
    reads: Option<String>,
    /// The correct verdicts on a file, overriding those that the rules allow. For a session, they
    /// are added.
    may: Vec<String>,
    /// Why each event that a reader returned would be a phantom. Readers must reject the file.
    phantoms: String,
    /// A state of the manifest that a reader may report instead.
    or_manifest: Option<String>,
    /// Another edit of the edited session, whose document is also correct. Its files follow
    /// ATF-SESS-003.
    or_read: Option<Edit>,
    /// The phrase that replaces the name in the note.
    title: String,
    /// A sentence to add to the note.
    note: String,
}

impl TryFrom<Entry> for Recipe {
    type Error = String;

    fn try_from(entry: Entry) -> Result<Self, String> {
        let breaks = entry.breaks.is_some();
        let is_named = entry.case.is_some();
        let has_place = !entry.at.is_empty() || entry.offset.is_some() || entry.r#in.is_some();
        if !breaks && (has_place || entry.times.is_some()) {
            return Err("at, offset, in and times need breaks".to_owned());
        }
        if is_named == entry.rules.is_empty() {
            return Err("case needs rules, and rules need case".to_owned());
        }
        let (mut rules, name) = match (entry.follows, entry.breaks, entry.case) {
            (Some(text), None, None) | (None, Some(text), None) => {
                let (id, name) = text.split_once(' ').ok_or("expected \"RULE NAME\"")?;
                (vec![rule(id)?], name.to_owned())
            }
            (None, None, Some(name)) => (each(&entry.rules, rule)?, name),
            _ => return Err("expected one of follows, breaks and case".to_owned()),
        };
        let first = rules[0];
        rules.extend(each(&entry.asks, rule)?);
        let own_file = file_of(first);
        let also = each(&entry.also, |text| {
            let (id, file) = text.split_once(" in ").unwrap_or((text, ""));
            let id = rule(id)?;
            let file = if file.is_empty() {
                file_of(id)
            } else {
                path(file)
            };
            Ok((file.to_owned(), id))
        })?;
        let found = breaks.then(|| {
            let file = entry.r#in.as_deref().map_or(own_file, path);
            let others = also.iter().filter(|(path, _)| path == file);
            let broken = others.map(|(_, rule)| *rule).chain([first]);
            let verdicts = broken
                .filter_map(rules::find)
                .map(|rule| rule.reader.into());
            Found {
                file: file.to_owned(),
                field: entry.at,
                offset: entry.offset,
                count: entry.times.unwrap_or(1),
                verdict: verdicts.max().unwrap_or(Verdict::Accept),
            }
        });
        let mut flags: Vec<_> = flag_of(first).filter(|_| breaks).into_iter().collect();
        flags.extend(each(&entry.flags, flag)?);
        let verdicts = match &*entry.phantoms {
            "" => each(&entry.may, verdict)?,
            _ => vec![Verdict::Reject],
        };
        let default = if is_named { "" } else { subject_of(first) };
        let subject = entry.reads.as_deref().map_or(default, path);
        let manifest = entry.or_manifest.map(Other::Manifest);
        let others = manifest.into_iter().chain(entry.or_read.map(Other::Read));
        let wires = entry.wire.map(|wire| vec![wire]);
        Ok(Self {
            rules,
            wires: wires.unwrap_or_else(|| atf::Wire::VERSIONS.to_vec()),
            name,
            found,
            also,
            flags,
            verdicts,
            phantoms: entry.phantoms,
            others: others.collect(),
            edit: entry.edit,
            file: own_file,
            subject: subject.to_owned(),
            is_named,
            title: entry.title,
            note: entry.note,
        })
    }
}

/// Returns a rule's own id.
fn rule(id: &str) -> Result<&'static str, String> {
    let rule = rules::find(id).ok_or_else(|| format!("no rule {id}"))?;
    Ok(rule.id)
}

fn flag(name: &str) -> Result<&'static str, String> {
    let flag = FLAGS.iter().find(|flag| flag.name == name);
    flag.map(|flag| flag.name)
        .ok_or_else(|| format!("no flag {name}"))
}

fn verdict(name: &str) -> Result<Verdict, String> {
    let found = crate::VERDICTS.into_iter().find(|it| it.name() == name);
    found.ok_or_else(|| format!("no verdict {name}"))
}

fn each<T>(texts: &[String], parse: impl Fn(&str) -> Result<T, String>) -> Result<Vec<T>, String> {
    texts.iter().map(|text| parse(text)).collect()
}

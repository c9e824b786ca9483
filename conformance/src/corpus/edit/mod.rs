//! Edits of the clean session: the steps available to recipes. [`VOCABULARY`] lists them.

mod functions;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::trace::{DETAIL, INDEX, MANIFEST, OTHER, RING, T, Trace, Value, event, thread};
use atf_samples::files::{EventRecord, hex};

/// The steps of an edit. A step is about the file of the recipe's rule, unless it is inside a table named after another
/// file: `index`, `detail`, `other`, `manifest`, `ring`, or a path.
pub const VOCABULARY: &str = r#"
header, footer, events  fields: header.arch = 2, footer.magic = "2ITB", events.5.detail_seq = "no link". A field of an
                        event updates the checksum, and the times and positions in header and footer.
patch                   bytes at an offset or a field, and nothing else: {19 = "01", "events[2].detail_seq" = "03"}
flip                    bits at an offset: {260 = 1}
checksum                the footer's checksum, of a range: "64..256"; in a ring the index's, of a range of the index
cut                     a size
append                  bytes: "2ff0", "24 x 00", "64..188" of the file, or a list of them
shift                   adds this many bytes at the end of the header, or removes them
placeholder             true: the header was never rewritten
unfinalize              true: placeholder, and no footer; in a ring, of the files next to it
clear                   true: no events, and no links to them
keep                    only this many events
rows                    other events of the index, a text each: "call T+1000 2 2" has a time, a symbol and a depth
details                 a detail for each event of the index, with stacks of these sizes
payload, stack          sizes of details: {0 = 5}
framed, continued       the sizes of the events that a reader finds in the file, or also after its events
thread_id               another thread's id, in the header and all events
put                     a file's text
remove, folder          a path, or a list
rename, symlink         a path and its new name or its target
without_details         true: no detail file, and no links to it
platform                [OS, CLOCK] of all files
thread                  another thread, without details, and its rows: thread.8 = []
list                    a manifest: ["IDS", "START", "END"]
replace                 text of the manifest that occurs once: {FROM = TO}
add                     members of the manifest: add.session, add.module, add.thread; threads before the last: add.threads
outside                 the session moves to a folder among decoys, with a manifest that lists these threads
add_ring                a ring with one event of its own in each of these areas: "index", ["index", "detail"], []
call                    a function of `edit/functions.rs`, and its numbers: "magic_times 5"

A number has terms: 5, 0xff, 2^32, or T, the first time of thread 7: "T + 1000"."#;

/// Returns the names of the functions that edits may call.
pub fn functions() -> impl Iterator<Item = &'static str> {
    functions::ALL.iter().map(|(name, _)| *name)
}

/// An edit of a session.
#[derive(Clone)]
pub(super) struct Edit(Arc<[Step]>);

/// A step of an edit. The second argument is the file that the step is about.
type Step = Box<dyn Fn(&mut Trace, &str) + Send + Sync>;

impl Edit {
    /// Edits a session. `file` is the path of the file that the steps are about.
    pub(super) fn apply(&self, trace: &mut Trace, file: &str) {
        for step in &*self.0 {
            step(trace, file);
        }
    }
}

impl fmt::Debug for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Edit of {} steps", self.0.len())
    }
}

/// Returns the path of a file that may be given by its short name.
pub(super) fn path(name: &str) -> &str {
    match name {
        "index" => INDEX,
        "detail" => DETAIL,
        "other" => OTHER,
        "manifest" => MANIFEST,
        "ring" => RING,
        path => path,
    }
}

impl<'de> Deserialize<'de> for Edit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Steps(Vec::new()))
    }
}

/// Collects the steps of a table.
struct Steps(Vec<Step>);

impl<'de> Visitor<'de> for Steps {
    type Value = Edit;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table of steps")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Edit, A::Error> {
        while let Some(verb) = map.next_key::<String>()? {
            self.step(&verb, &mut map)?;
        }
        Ok(Edit(self.0.into()))
    }
}

impl Steps {
    fn add(&mut self, step: impl Fn(&mut Trace, &str) + Send + Sync + 'static) {
        self.0.push(Box::new(step));
    }

    fn step<'de, A: MapAccess<'de>>(&mut self, verb: &str, map: &mut A) -> Result<(), A::Error> {
        match verb {
            "header" | "footer" | "events" => {
                let mut fields = Vec::new();
                map.next_value::<Fields>()?.flatten(verb, &mut fields);
                self.add(move |t, file| {
                    for (field, value) in &fields {
                        t.set(file, field, value);
                    }
                });
            }
            "patch" => {
                let patches: Table<Bytes> = map.next_value()?;
                self.add(move |t, file| {
                    for (place, bytes) in &patches {
                        let field = || t.field(file, place).start;
                        let offset = place.parse().unwrap_or_else(|_| field());
                        t.patch(file, offset, &bytes.resolve(t.file(file)));
                    }
                });
            }
            "flip" => {
                let flips: Table<u8> = map.next_value()?;
                self.add(move |t, file| {
                    for (offset, mask) in &flips {
                        let offset = offset.parse().expect("an offset");
                        t.patch(file, offset, &[t.file(file)[offset] ^ mask]);
                    }
                });
            }
            "checksum" => {
                let text: String = map.next_value()?;
                let range = range(&text).ok_or_else(|| Error::custom("expected a range"))?;
                self.add(move |t, file| t.checksum(file, range.clone()));
            }
            "cut" => {
                let size = map.next_value()?;
                self.add(move |t, file| t.cut(file, size));
            }
            "append" => {
                let parts = map.next_value::<Texts>()?.list().into_iter();
                let parts: Result<Vec<_>, _> = parts.map(Bytes::try_from).collect();
                let parts = parts.map_err(Error::custom)?;
                self.add(move |t, file| {
                    for part in &parts {
                        t.append(file, &part.resolve(t.file(file)));
                    }
                });
            }
            "shift" => {
                let by = map.next_value()?;
                self.add(move |t, file| t.shift(file, by));
            }
            "placeholder" | "unfinalize" | "clear" | "without_details" => {
                if !map.next_value::<bool>()? {
                    return Err(Error::custom("expected true"));
                }
                let edit = match verb {
                    "placeholder" => Trace::placeholder,
                    "unfinalize" => Trace::unfinalize,
                    "clear" => Trace::clear,
                    _ => |t: &mut Trace, _: &str| t.without_details(),
                };
                self.add(edit);
            }
            "keep" => {
                let count = map.next_value()?;
                self.add(move |t, file| match file {
                    DETAIL => t.details(|details| details.truncate(count)),
                    _ => t.events(|events| events.truncate(count)),
                });
            }
            "rows" => {
                let rows = map.next_value::<Rows>()?.0;
                self.add(move |t, _| t.events(|events| events.clone_from(&rows)));
            }
            "details" => {
                let stacks: Vec<u16> = map.next_value()?;
                self.add(move |t, _| t.detail_each(&stacks));
            }
            "payload" | "stack" => {
                let sizes: Table<usize> = map.next_value()?;
                let is_stack = verb == "stack";
                self.add(move |t, _| {
                    for (seq, size) in &sizes {
                        let seq = seq.parse().expect("a position");
                        t.resize(seq, *size, is_stack);
                    }
                });
            }
            "framed" | "continued" => {
                let sizes: Vec<usize> = map.next_value()?;
                let edit = match verb {
                    "framed" => Trace::survive,
                    _ => Trace::continue_events,
                };
                self.add(move |t, file| edit(t, file, &sizes));
            }
            "thread_id" => {
                let id = map.next_value()?;
                self.add(move |t, file| t.set_thread_id(file, id));
            }
            "put" => {
                let text: String = map.next_value()?;
                self.add(move |t, file| t.put(file, &*text));
            }
            "remove" | "folder" => {
                let paths = map.next_value::<Texts>()?.list();
                let edit = match verb {
                    "remove" => Trace::remove,
                    _ => Trace::folder,
                };
                self.add(move |t, _| paths.iter().for_each(|it| edit(t, path(it))));
            }
            "rename" | "symlink" | "replace" => {
                let pairs: Table<String> = map.next_value()?;
                let edit = match verb {
                    "rename" => {
                        |t: &mut Trace, from: &str, to: &str| t.rename(path(from), path(to))
                    }
                    "symlink" => |t: &mut Trace, from: &str, to: &str| t.symlink(path(from), to),
                    _ => |t: &mut Trace, from: &str, to: &str| t.replace(MANIFEST, from, to),
                };
                self.add(move |t, _| pairs.iter().for_each(|(from, to)| edit(t, from, to)));
            }
            "platform" => {
                let [os, clock] = map.next_value()?;
                self.add(move |t, _| t.platform(os, clock));
            }
            "thread" => {
                let threads: Table<Rows> = map.next_value()?;
                self.add(move |t, _| {
                    for (id, rows) in &threads {
                        let file = thread(t.version, id.parse().expect("an id"), rows.0.clone());
                        t.put_index(&format!("thread_{id}/index.atf"), &file);
                    }
                });
            }
            "list" => {
                let [ids, start, end]: [String; 3] = map.next_value()?;
                let times = number(&start).zip(number(&end));
                let times = times.ok_or_else(|| Error::custom("expected two times"))?;
                self.add(move |t, _| t.list(&ids, times));
            }
            "add" => {
                for (place, text) in map.next_value::<Table<String>>()? {
                    let (at, new) = match &*place {
                        "session" => ("\"modules\"", format!("{text},\n  \"modules\"")),
                        "module" => ("\"path\"", format!("{text}, \"path\"")),
                        "thread" => ("{\"id\": 9", format!("{{{text}, \"id\": 9")),
                        "threads" => ("{\"id\": 9", format!("{text}, {{\"id\": 9")),
                        _ => return Err(Error::custom(format!("{place}: no such part"))),
                    };
                    self.add(move |t, _| t.replace(MANIFEST, at, &new));
                }
            }
            "outside" => {
                let threads: String = map.next_value()?;
                self.add(move |t, _| functions::outside(t, &threads));
            }
            "call" => {
                let text: String = map.next_value()?;
                let mut words = text.split_whitespace();
                let name = words.next().unwrap_or_default();
                let numbers: Option<Vec<u64>> = words.map(number).collect();
                let numbers = numbers.ok_or_else(|| Error::custom("expected numbers"))?;
                let function = functions::find(name)
                    .ok_or_else(|| Error::custom(format!("no function {name}")))?;
                self.add(move |t, _| function(t, &numbers));
            }
            "add_ring" => {
                let areas = map.next_value::<Texts>()?.list();
                let has = |area: &str| areas.iter().any(|it| it == area);
                let both = [has("index"), has("detail")];
                self.add(move |t, _| functions::add_ring(t, both));
            }
            file if path(file) != file || file.starts_with("thread_") || file.contains('/') => {
                let (file, edit) = (path(file).to_owned(), map.next_value::<Edit>()?);
                self.add(move |t, _| edit.apply(t, &file));
            }
            _ => {
                return Err(Error::custom(format!(
                    "unknown step {verb}; the steps are:{VOCABULARY}"
                )));
            }
        }
        Ok(())
    }
}

/// The members of a step's table, which are applied in the order of their names.
type Table<T> = BTreeMap<String, T>;

/// The fields of a record, or the value of one.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a number, string or table of fields")]
enum Fields {
    Number(u64),
    Text(String),
    Table(Table<Self>),
}

impl Fields {
    /// Adds the fields and their values, with paths that begin with `path`.
    fn flatten(self, path: &str, all: &mut Vec<(String, Value)>) {
        let value = match self {
            Self::Number(number) => Value::Number(number),
            Self::Text(text) if text == "no link" => Value::NoLink,
            Self::Text(text) => number(&text).map_or(Value::Text(text), Value::Number),
            Self::Table(fields) => {
                for (name, field) in fields {
                    let is_seq = name.bytes().all(|byte| byte.is_ascii_digit());
                    let path = if is_seq {
                        format!("{path}[{name}]")
                    } else {
                        format!("{path}.{name}")
                    };
                    field.flatten(&path, all);
                }
                return;
            }
        };
        all.push((path.to_owned(), value));
    }
}

/// A string, or a list of strings.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a string, or a list of strings")]
enum Texts {
    One(String),
    More(Vec<String>),
}

impl Texts {
    fn list(self) -> Vec<String> {
        match self {
            Self::One(text) => vec![text],
            Self::More(texts) => texts,
        }
    }
}

/// Bytes to write: their text in hexadecimal, or a range of the file.
#[derive(Deserialize)]
#[serde(try_from = "String")]
enum Bytes {
    Fixed(Vec<u8>),
    Copied(Range<usize>),
}

impl Bytes {
    fn resolve(&self, file: &[u8]) -> Vec<u8> {
        match self {
            Self::Fixed(bytes) => bytes.clone(),
            Self::Copied(range) => file[range.clone()].to_vec(),
        }
    }
}

impl TryFrom<String> for Bytes {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if let Some(range) = range(&text) {
            return Ok(Self::Copied(range));
        }
        let (times, digits) = text.split_once(" x ").unwrap_or(("1", &text));
        let is_hex = digits.len() % 2 == 0 && digits.bytes().all(|it| it.is_ascii_hexdigit());
        match times.parse() {
            Ok(times) if is_hex => Ok(Self::Fixed(hex(digits).repeat(times))),
            _ => Err(format!(
                "{text:?}: expected \"2ff0\", \"24 x 00\" or \"64..188\""
            )),
        }
    }
}

/// Parses a range, such as `64..188`.
fn range(text: &str) -> Option<Range<usize>> {
    let (start, end) = text.split_once("..")?;
    Some(start.parse().ok()?..end.parse().ok()?)
}

/// Parses a sum, such as `T + 2^32 - 1`.
fn number(text: &str) -> Option<u64> {
    let term = |term: &str| -> Option<i128> {
        let term = term.trim();
        if let Some(term) = term.strip_prefix('-') {
            return Some(-i128::from(self::number(term)?));
        }
        let value = match (term, term.split_once('^')) {
            ("T", _) => T,
            (_, Some(("2", power))) => return 1_i128.checked_shl(power.parse().ok()?),
            _ => match term.strip_prefix("0x") {
                Some(digits) => u64::from_str_radix(digits, 16).ok()?,
                None => term.parse().ok()?,
            },
        };
        Some(value.into())
    };
    let sum: Option<i128> = text.replace('-', "+-").split('+').map(term).sum();
    sum?.try_into().ok()
}

/// Events of an index.
#[derive(Deserialize)]
#[serde(try_from = "Vec<String>")]
struct Rows(Vec<EventRecord>);

impl TryFrom<Vec<String>> for Rows {
    type Error = String;

    fn try_from(rows: Vec<String>) -> Result<Self, String> {
        let parsed = rows
            .iter()
            .map(|it| row(it).ok_or_else(|| format!("{it:?}: not an event")));
        parsed.collect::<Result<_, _>>().map(Self)
    }
}

/// Parses an event: `KIND TIME SYMBOL DEPTH`.
fn row(text: &str) -> Option<EventRecord> {
    let words: Vec<_> = text.split(' ').collect();
    let [kind, time, symbol, depth] = words[..] else {
        return None;
    };
    let kinds = ["call", "return", "exception"];
    let kind = 1 + u8::try_from(kinds.iter().position(|it| *it == kind)?).ok()?;
    let depth = number(depth)?.try_into().ok()?;
    Some(event(kind, number(time)?, number(symbol)?, depth))
}

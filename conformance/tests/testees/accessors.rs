//! Tests the getters and setters of the generated records in each language against the layout: for
//! every field of every record, on bytes of all kinds, also next to other fields.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::panic::catch_unwind;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Map, Value};

use crate::programs::{self, Testee};

/// The name of a record, a wire version, and two records of random bytes.
struct Request<'a> {
    record: &'a str,
    layout: &'a Value,
    one: Vec<u8>,
    other: Vec<u8>,
}

/// A field's name, offset, width of a number, and count of numbers.
struct Field<'a> {
    name: &'a str,
    offset: usize,
    width: usize,
    count: Option<usize>,
    none: Option<u64>,
}

fn fields(layout: &Value) -> impl Iterator<Item = Field<'_>> {
    let fields = layout["fields"].as_array().unwrap().iter();
    fields.map(|field| {
        let ty = field["type"].as_str().unwrap();
        let (scalar, count) = match ty.split_once('[') {
            Some((scalar, count)) => (scalar, Some(count.trim_end_matches(']').parse().unwrap())),
            None => (ty, None),
        };
        Field {
            name: field["known_as"]
                .as_str()
                .or(field["name"].as_str())
                .unwrap(),
            offset: usize::try_from(field["offset"].as_u64().unwrap()).unwrap(),
            width: scalar[1..].parse::<usize>().unwrap() / 8,
            count,
            none: field["none"].as_u64(),
        }
    })
}

impl Field<'_> {
    fn is_reserved(&self) -> bool {
        self.name.trim_start_matches('_').starts_with("reserved")
    }

    fn end(&self) -> usize {
        self.offset + self.width * self.count.unwrap_or(1)
    }

    /// Returns the value as the kit's documents show it.
    fn shown(&self, bytes: &[u8]) -> Value {
        let number = |at: usize| {
            let bytes = bytes[at..at + self.width].iter().rev();
            let number = bytes.fold(0, |number, byte| number << 8 | u64::from(*byte));
            if self.none == Some(number) {
                Value::Null
            } else if self.width == 8 || self.name.ends_with("_seq") {
                number.to_string().into()
            } else {
                number.into()
            }
        };
        let Some(count) = self.count else {
            return number(self.offset);
        };
        (0..count)
            .map(|k| number(self.offset + self.width * k))
            .collect()
    }
}

/// Checks that every getter and setter has the place that the layout gives it.
pub(crate) fn hold(readers: &[Testee]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec/layout.json");
    let layout: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    let requests = requests(&layout);
    for reader in readers {
        let (is_writer, answers) = ask(reader, &requests);
        assert_eq!(answers.len(), requests.len());
        for (request, answer) in requests.iter().zip(&answers) {
            assert_eq!(is_writer, answer.contains_key("set"));
            holds(request, answer);
        }
    }
}

/// Returns requests on each record: only zeros, only ones, and random bytes.
fn requests(layout: &Value) -> Vec<Request<'_>> {
    let mut state = 1_u64;
    let mut bytes = |kind: usize, size| {
        let mut byte = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            [0, 0xff, state.to_be_bytes()[0]][kind.min(2)]
        };
        std::iter::repeat_with(&mut byte)
            .take(size)
            .collect::<Vec<_>>()
    };
    let mut requests = Vec::new();
    for record in layout["records"].as_array().unwrap() {
        let size = usize::try_from(record["size"].as_u64().unwrap()).unwrap();
        for own in record["layouts"].as_array().unwrap() {
            for kind in 0..20 {
                requests.push(Request {
                    record: record["name"].as_str().unwrap(),
                    layout: own,
                    one: bytes(kind, size),
                    other: bytes(19 - kind, size),
                });
            }
        }
    }
    requests
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

/// Returns whether the program writes, and its answers.
fn ask(reader: &Testee, requests: &[Request<'_>]) -> (bool, Vec<Map<String, Value>>) {
    let manifest = fs::read_to_string(reader.manifest()).unwrap();
    let manifest: toml::Table = manifest.parse().unwrap();
    let program = manifest["read"][0].as_str().unwrap();
    let mut child = Command::new(reader.folder().join(program))
        .arg("accessors")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let lines: String = requests
        .iter()
        .map(|own| {
            let (one, other) = (hex(&own.one), hex(&own.other));
            format!("{} {} {one} {other}\n", own.record, own.layout["wire"])
        })
        .collect();
    // The program answers while it gets requests.
    let asks = std::thread::spawn(move || input.write_all(lines.as_bytes()));
    let output = child.wait_with_output().unwrap();
    asks.join().unwrap().unwrap();
    assert!(output.status.success(), "{program}");
    let text = String::from_utf8(output.stdout).unwrap();
    let answers = text.lines().map(|line| serde_json::from_str(line).unwrap());
    (manifest.contains_key("write"), answers.collect())
}

fn holds(request: &Request<'_>, answer: &Map<String, Value>) {
    let at = format!("{} {}", request.record, request.layout["wire"]);
    let is_shown = |field: &Field<'_>| !field.is_reserved() && field.name != "magic";
    let shown = fields(request.layout).filter(is_shown);
    let shown: Map<_, _> = shown
        .map(|field| (field.name.to_owned(), field.shown(&request.one)))
        .collect();
    assert_eq!(answer["fields"], Value::from(shown), "{at}");

    let Some(set) = answer.get("set") else { return };
    let set = set.as_object().unwrap();
    for field in fields(request.layout).filter(|field| !field.is_reserved()) {
        assert!(
            set.contains_key(field.name),
            "{at}: no setter of {}",
            field.name
        );
    }
    for (name, bytes) in set {
        let mut expected = request.one.clone();
        for field in fields(request.layout) {
            let place = field.offset..field.end();
            if field.name == name {
                expected[place.clone()].copy_from_slice(&request.other[place]);
            } else if field.is_reserved()
                && bytes.as_str().unwrap()[2 * place.start..2 * place.end]
                    .bytes()
                    .all(|own| own == b'0')
            {
                // A writer may write its own zeros there.
                expected[place].fill(0);
            }
        }
        assert_eq!(*bytes, hex(&expected), "{at}: {name}");
    }
}

#[test]
fn an_accessor_with_the_place_of_another_field_is_noticed() {
    let Some(python) = programs::reader("python") else {
        return;
    };
    let path = python.folder().join("src/adatrace_reader/records.py");
    let right = fs::read_to_string(&path).unwrap();
    for (own, other) in [
        ("timestamp_ns=v[0]", "timestamp_ns=v[1]"),
        ("self.timestamp_ns,", "self.function_id,"),
    ] {
        assert!(right.contains(own));
        fs::write(&path, right.replacen(own, other, 1)).unwrap();
        let own = std::slice::from_ref(&python);
        assert!(catch_unwind(|| hold(own)).is_err(), "{other}");
    }
    fs::write(&path, &right).unwrap();
    hold(&[python]);
}

//! Checks a language's generated getters and setters against the layout: those of every field of every
//! record, on zeros, ones and random bytes. A setter must not change other fields.

use std::fmt::Write as _;
use std::process::Command;

use serde_json::{Map, Value};

use crate::random::Random;
use crate::tools::answers;

/// A request about a record in one wire version: its bytes, and other bytes to copy a field from.
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
        let name = field["known_as"].as_str().or(field["name"].as_str());
        Field {
            name: name.unwrap(),
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

/// Checks that every getter and setter is for the bytes that the layout states. `program` is the testee
/// of a generated reader; its command `accessors` answers the requests. It has setters if it writes.
///
/// # Errors
///
/// Returns the first wrong answer.
pub fn check(program: &mut Command, is_writer: bool, layout: &Value) -> Result<(), String> {
    let requests = requests(layout);
    let lines = requests.iter().map(|own| {
        let (one, other) = (hex(&own.one), hex(&own.other));
        format!("{} {} {one} {other}\n", own.record, own.layout["wire"])
    });
    let answers = answers(program.arg("accessors"), lines.collect())?;
    if answers.len() != requests.len() {
        return Err(format!("{} answers of {}", answers.len(), requests.len()));
    }
    for (request, answer) in requests.iter().zip(&answers) {
        check_answer(request, answer, is_writer)
            .map_err(|why| format!("{} {}: {why}", request.record, request.layout["wire"]))?;
    }
    Ok(())
}

/// Returns requests on each record: only zeros, only ones, and random bytes.
fn requests(layout: &Value) -> Vec<Request<'_>> {
    let random = &mut Random::new(1);
    let mut bytes = |kind: usize, size| {
        let byte = || [0, 0xff, random.number().to_be_bytes()[0]][kind.min(2)];
        std::iter::repeat_with(byte).take(size).collect::<Vec<_>>()
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

fn check_answer(request: &Request<'_>, answer: &Value, is_writer: bool) -> Result<(), String> {
    let is_shown = |field: &Field<'_>| !field.is_reserved() && field.name != "magic";
    let shown = fields(request.layout).filter(is_shown);
    let shown: Map<_, _> = shown
        .map(|field| (field.name.to_owned(), field.shown(&request.one)))
        .collect();
    if answer["fields"] != Value::from(shown.clone()) {
        return Err(format!("{} instead of {shown:?}", answer["fields"]));
    }
    let set = answer["set"].as_object();
    if is_writer != set.is_some() {
        return Err(format!("setters: {}, expected: {is_writer}", !is_writer));
    }
    let Some(set) = set else { return Ok(()) };
    for field in fields(request.layout).filter(|field| !field.is_reserved()) {
        if !set.contains_key(field.name) {
            return Err(format!("no setter of {}", field.name));
        }
    }
    for (name, bytes) in set {
        let bytes = bytes.as_str().unwrap_or_default();
        let mut expected = request.one.clone();
        for field in fields(request.layout) {
            let place = field.offset..field.end();
            let written = bytes.get(2 * place.start..2 * place.end).unwrap_or("?");
            if field.name == name {
                expected[place.clone()].copy_from_slice(&request.other[place]);
            } else if field.is_reserved() && written.bytes().all(|own| own == b'0') {
                // A writer may write its own zeros there.
                expected[place].fill(0);
            }
        }
        if bytes != hex(&expected) {
            return Err(format!("{name}: {bytes} instead of {}", hex(&expected)));
        }
    }
    Ok(())
}

//! Parses and prints scripts.

use std::fmt::{self, Display, Formatter};
use std::ops::RangeInclusive;
use std::str::FromStr;

use super::{Detail, Index, Open, Operation, Script};
use crate::hex::hex;

/// An error in a script, with its position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct ScriptError {
    /// The line, starting at 1.
    pub line: usize,
    /// The column: the byte position in the line, starting at 1.
    pub column: usize,
    /// The error.
    pub message: String,
}

impl FromStr for Script {
    type Err = ScriptError;

    fn from_str(text: &str) -> Result<Self, ScriptError> {
        let mut operations = Vec::new();
        let mut lines = Vec::new();
        for (number, text) in (1..).zip(text.lines()) {
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            let at = 0;
            operations.push(operation(Line { number, text, at })?);
            lines.push(number);
        }
        // The error's line is the position of the operation.
        Self::new(operations).map_err(|error| ScriptError {
            line: lines.get(error.line - 1).copied().unwrap_or(1),
            ..error
        })
    }
}

/// A line that has been parsed up to the byte `at`.
struct Line<'a> {
    number: usize,
    text: &'a str,
    at: usize,
}

fn operation(mut line: Line<'_>) -> Result<Operation, ScriptError> {
    let (word, _) = line.word();
    let operation = match word {
        "open" => Operation::Open(Open {
            thread_id: line.thread()?,
            wire: line.number("wire", 1..=atf::Wire::VERSIONS.len() as u64)?,
            clock_type: line.number("clock", 0..=u8::MAX.into())?,
            arch: line.number("arch", 0..=u8::MAX.into())?,
            os: line.number("os", 0..=u8::MAX.into())?,
        }),
        "index" => Operation::Index(Index {
            thread_id: line.thread()?,
            timestamp_ns: line.number("ts", 0..=u64::MAX)?,
            function_id: line.number("fn", 0..=u64::MAX)?,
            event_kind: line.number("kind", 1..=3)?,
            call_depth: line.number("depth", 0..=u32::MAX.into())?,
            detail_seq: line.link("detail")?,
        }),
        "detail" => Operation::Detail(Detail {
            thread_id: line.thread()?,
            index_seq: line.number("index", 0..=u64::MAX)?,
            timestamp: line.number("ts", 0..=u64::MAX)?,
            event_type: line.number("type", 0..=u16::MAX.into())?,
            flags: line.number("flags", 0..=u16::MAX.into())?,
            payload: line.bytes("payload")?,
        }),
        "finalize" => Operation::Finalize(line.thread()?),
        "flush" => Operation::Flush(line.thread()?),
        "close" => Operation::Close(line.thread()?),
        "space" => Operation::Space,
        "abort" => Operation::Abort,
        "kill" => Operation::Kill,
        _ => {
            let known = "open, index, detail, finalize, flush, close, space, abort or kill";
            let found = word.escape_debug();
            return Err(line.error(0, format!("\"{found}\", expected {known}")));
        }
    };
    if line.at == line.text.len() {
        Ok(operation)
    } else {
        Err(line.error(line.at, "expected the end of the line".to_owned()))
    }
}

impl<'a> Line<'a> {
    /// Returns the next word and its start. A word ends at a single space.
    fn word(&mut self) -> (&'a str, usize) {
        let begin = self.at;
        let rest = self.text.get(begin..).unwrap_or_default();
        let word = rest.split(' ').next().unwrap_or_default();
        self.at = (begin + word.len() + 1).min(self.text.len());
        (word, begin)
    }

    /// Returns the next word's value and its start.
    fn value(&mut self, key: &str) -> Result<(&'a str, usize), ScriptError> {
        let (word, begin) = self.word();
        match word.split_once('=') {
            Some((found, text)) if found == key => Ok((text, begin + key.len() + 1)),
            _ => {
                let found = word.escape_debug();
                Err(self.error(begin, format!("\"{found}\", expected {key}=")))
            }
        }
    }

    fn thread(&mut self) -> Result<u32, ScriptError> {
        self.number("thread", 0..=u32::MAX.into())
    }

    fn number<T: TryFrom<u64>>(
        &mut self,
        key: &str,
        range: RangeInclusive<u64>,
    ) -> Result<T, ScriptError> {
        let (text, at) = self.value(key)?;
        self.decimal(key, text, at, range)
    }

    fn decimal<T: TryFrom<u64>>(
        &self,
        key: &str,
        text: &str,
        at: usize,
        range: RangeInclusive<u64>,
    ) -> Result<T, ScriptError> {
        let is_decimal = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_decimal {
            let found = text.escape_debug();
            return Err(self.error(
                at,
                format!("{key} is \"{found}\", expected a decimal number"),
            ));
        }
        let number: Option<u64> = text.parse().ok().filter(|number| range.contains(number));
        number
            .and_then(|number| T::try_from(number).ok())
            .ok_or_else(|| {
                let (least, most) = (range.start(), range.end());
                self.error(at, format!("{key} is {text}, expected {least} to {most}"))
            })
    }

    fn link(&mut self, key: &str) -> Result<Option<u64>, ScriptError> {
        match self.value(key)? {
            ("-", _) => Ok(None),
            (text, at) => self.decimal(key, text, at, 0..=u64::MAX).map(Some),
        }
    }

    fn bytes(&mut self, key: &str) -> Result<Vec<u8>, ScriptError> {
        let (text, at) = self.value(key)?;
        let (pairs, odd) = text.as_bytes().as_chunks::<2>();
        let mut bytes = Vec::with_capacity(pairs.len());
        for (position, [high, low]) in pairs.iter().enumerate() {
            match (nibble(*high), nibble(*low)) {
                (Some(high), Some(low)) => bytes.push(16 * high + low),
                _ => {
                    let at = at + 2 * position;
                    return Err(self.error(at, format!("{key} must be lowercase hex")));
                }
            }
        }
        if odd.is_empty() {
            Ok(bytes)
        } else {
            Err(self.error(at, format!("{key} has an odd number of digits")))
        }
    }

    fn error(&self, at: usize, message: String) -> ScriptError {
        ScriptError {
            line: self.number,
            column: at + 1,
            message,
        }
    }
}

fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

impl Display for Script {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for operation in &self.operations {
            writeln!(f, "{operation}")?;
        }
        Ok(())
    }
}

impl Display for Operation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(Open {
                thread_id,
                wire,
                clock_type,
                arch,
                os,
            }) => write!(
                f,
                "open thread={thread_id} wire={wire} clock={clock_type} arch={arch} os={os}"
            ),
            Self::Index(event) => event.fmt(f),
            Self::Detail(detail) => detail.fmt(f),
            Self::Finalize(thread_id) => write!(f, "finalize thread={thread_id}"),
            Self::Flush(thread_id) => write!(f, "flush thread={thread_id}"),
            Self::Close(thread_id) => write!(f, "close thread={thread_id}"),
            Self::Space => f.write_str("space"),
            Self::Abort => f.write_str("abort"),
            Self::Kill => f.write_str("kill"),
        }
    }
}

impl Display for Index {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (thread, time, function) = (self.thread_id, self.timestamp_ns, self.function_id);
        let (kind, depth) = (self.event_kind, self.call_depth);
        write!(
            f,
            "index thread={thread} ts={time} fn={function} kind={kind} depth={depth} detail="
        )?;
        match self.detail_seq {
            Some(seq) => seq.fmt(f),
            None => f.write_str("-"),
        }
    }
}

impl Display for Detail {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (thread, index, time) = (self.thread_id, self.index_seq, self.timestamp);
        let (kind, flags, payload) = (self.event_type, self.flags, hex(&self.payload));
        write!(
            f,
            "detail thread={thread} index={index} ts={time} type={kind} flags={flags} payload={payload}"
        )
    }
}

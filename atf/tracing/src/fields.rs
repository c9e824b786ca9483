//! The fields of a span.

use std::fmt::{self, Debug, Write as _};

use atf::detail::LARGEST_FIELDS;
use serde_json::Value;
use tracing_core::Field;
use tracing_core::field::Visit;

/// The size in bytes at which a value's text is truncated.
const LONGEST: usize = 1024;
/// The number of bytes reserved for the count of omitted fields.
const REST: usize = 32;

/// Field values, each as JSON.
#[derive(Debug, Default)]
pub(crate) struct Values(Vec<(&'static str, String)>);

/// The fields of a span that have values, as the payload of its calls' details.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    values: Values,
    payload: String,
    /// The number of times that values were recorded.
    version: u32,
}

impl Fields {
    /// Adds values, replacing earlier values of the same fields.
    pub(crate) fn record(&mut self, values: Values) {
        for (name, value) in values.0 {
            self.values.set(name, value);
        }
        self.version = self.version.saturating_add(1);
        self.update_payload();
    }

    fn update_payload(&mut self) {
        let members = self.values.0.iter().map(|(name, value)| {
            let name = encode(&Value::from(*name));
            format!("{name}:{value}")
        });
        let members: Vec<_> = members.collect();
        // Each member follows a separator, and a brace follows the last one.
        let sizes = members.iter().map(|member| member.len().saturating_add(1));
        let size = sizes.fold(1, usize::saturating_add);
        let most = if size <= LARGEST_FIELDS {
            LARGEST_FIELDS
        } else {
            LARGEST_FIELDS.saturating_sub(REST)
        };
        self.payload.clear();
        let mut left = members.len();
        let mut separator = '{';
        for member in &members {
            let end = self.payload.len().saturating_add(member.len());
            if end.saturating_add(2) > most {
                break;
            }
            self.payload.push(separator);
            self.payload.push_str(member);
            separator = ',';
            left = left.saturating_sub(1);
        }
        if left > 0 {
            // Writing to a string cannot fail.
            let _ = write!(self.payload, "{separator}\"…\":{left}");
        }
        self.payload.push('}');
    }

    /// Returns the payload, or `None` if no field has a value.
    pub(crate) fn payload(&self) -> Option<&[u8]> {
        (!self.values.0.is_empty()).then_some(self.payload.as_bytes())
    }

    pub(crate) fn version(&self) -> u32 {
        self.version
    }
}

impl Values {
    fn add(&mut self, field: &Field, value: &Value) {
        self.set(field.name(), encode(value));
    }

    fn set(&mut self, name: &'static str, value: String) {
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name, value)),
        }
    }
}

impl Visit for Values {
    fn record_f64(&mut self, field: &Field, value: f64) {
        match serde_json::Number::from_f64(value) {
            Some(number) => self.add(field, &number.into()),
            None => self.record_debug(field, &value),
        }
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field, &value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field, &value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field, &value.into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        let mut text = Text::default();
        // Text that does not fit is truncated.
        let _ = text.write_str(value);
        self.add(field, &text.text.into());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let mut text = Text::default();
        let _ = write!(text, "{value:?}");
        self.add(field, &text.text.into());
    }
}

/// Text that ends with "…" if it is truncated.
#[derive(Default)]
struct Text {
    text: String,
    is_cut: bool,
}

impl fmt::Write for Text {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        let room = LONGEST.saturating_sub(self.text.len());
        if more.len() <= room && !self.is_cut {
            self.text.push_str(more);
            return Ok(());
        }
        if !self.is_cut {
            let end = more.floor_char_boundary(room);
            self.text.push_str(more.get(..end).unwrap_or_default());
            self.text.push('…');
            self.is_cut = true;
        }
        // Code that formats a value may stop at an error, or ignore it.
        Err(fmt::Error)
    }
}

/// Encodes a value, escaping control characters, including those that JSON permits (from U+007F
/// on).
fn encode(value: &Value) -> String {
    let text = value.to_string();
    if !text.contains(char::is_control) {
        return text;
    }
    let mut escaped = String::new();
    for char in text.chars() {
        if char.is_control() {
            let _ = write!(escaped, "\\u{:04x}", u32::from(char));
        } else {
            escaped.push(char);
        }
    }
    escaped
}

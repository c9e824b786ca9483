//! Formats JSON for readable diffs: a value that fits on one line is written on one line.

use serde_json::Value;

/// The maximum width of a value on one line. A 64-byte header fits.
const WIDTH: usize = 160;

/// Formats a value with a final line feed. Keys keep their order.
#[must_use]
pub fn text(value: &Value) -> String {
    let mut out = String::new();
    write(&mut out, value, 0);
    out.push('\n');
    out
}

fn write(out: &mut String, value: &Value, depth: usize) {
    let short = one_line(value);
    let (open, close, parts): (_, _, Vec<(Option<&String>, &Value)>) = match value {
        _ if short.len() + depth <= WIDTH => return out.push_str(&short),
        Value::Array(values) => ('[', ']', values.iter().map(|value| (None, value)).collect()),
        Value::Object(entries) => {
            let entries = entries.iter().map(|(key, value)| (Some(key), value));
            ('{', '}', entries.collect())
        }
        _ => return out.push_str(&short),
    };
    out.push(open);
    for (position, (key, value)) in parts.into_iter().enumerate() {
        out.push_str(if position == 0 { "\n" } else { ",\n" });
        out.push_str(&" ".repeat(depth + 2));
        if let Some(key) = key {
            out.push_str(&Value::from(key.as_str()).to_string());
            out.push_str(": ");
        }
        write(out, value, depth + 2);
    }
    out.push('\n');
    out.push_str(&" ".repeat(depth));
    out.push(close);
}

fn one_line(value: &Value) -> String {
    match value {
        Value::Array(values) => {
            let values: Vec<_> = values.iter().map(one_line).collect();
            format!("[{}]", values.join(", "))
        }
        Value::Object(entries) => {
            let entry = |(key, value): (&String, &Value)| {
                format!("{}: {}", Value::from(key.as_str()), one_line(value))
            };
            let entries: Vec<_> = entries.iter().map(entry).collect();
            format!("{{{}}}", entries.join(", "))
        }
        _ => value.to_string(),
    }
}

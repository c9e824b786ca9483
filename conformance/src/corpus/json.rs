//! Formats JSON for readable diffs: a value that fits on one line is written on one line.

use serde_json::Value;

/// The maximum width of a value on one line.
const WIDTH: usize = 120;

/// Formats a value with sorted keys and a final line feed.
pub(super) fn text(value: &Value) -> Vec<u8> {
    let mut out = String::new();
    write(&mut out, value, 0);
    out.push('\n');
    out.into_bytes()
}

fn write(out: &mut String, value: &Value, depth: usize) {
    let short = one_line(value);
    let (open, close, parts) = match value {
        _ if short.len() + depth <= WIDTH => return out.push_str(&short),
        Value::Array(values) => ('[', ']', values.iter().map(|value| (None, value)).collect()),
        Value::Object(_) => ('{', '}', sorted(value)),
        _ => return out.push_str(&short),
    };
    out.push(open);
    for (position, (key, value)) in parts.into_iter().enumerate() {
        out.push_str(if position == 0 { "\n" } else { ",\n" });
        out.push_str(&" ".repeat(depth + 2));
        if let Some(key) = key {
            out.push_str(&Value::from(key).to_string());
            out.push_str(": ");
        }
        write(out, value, depth + 2);
    }
    out.push('\n');
    out.push_str(&" ".repeat(depth));
    out.push(close);
}

/// Sorts entries by key. A map's own order depends on which `serde_json` features other crates
/// enable.
fn sorted(value: &Value) -> Vec<(Option<&str>, &Value)> {
    let entries = value.as_object().into_iter().flatten();
    let mut entries: Vec<_> = entries
        .map(|(key, value)| (Some(key.as_str()), value))
        .collect();
    entries.sort_by_key(|(key, _)| *key);
    entries
}

fn one_line(value: &Value) -> String {
    match value {
        Value::Array(values) => {
            let values: Vec<_> = values.iter().map(one_line).collect();
            format!("[{}]", values.join(", "))
        }
        Value::Object(_) => {
            let entry = |(key, value): (Option<&str>, &Value)| {
                format!("{}: {}", Value::from(key), one_line(value))
            };
            let entries: Vec<_> = sorted(value).into_iter().map(entry).collect();
            format!("{{{}}}", entries.join(", "))
        }
        _ => value.to_string(),
    }
}

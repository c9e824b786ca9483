//! The payload of a call that records fields.

use serde_json::value::RawValue;

/// The size in bytes of the longest payload with fields. A longer one could have the shape of a
/// [`FunctionPayload`](super::FunctionPayload).
pub const LARGEST_FIELDS: usize = 4096;

/// Returns the fields of a call as a JSON object, if the payload contains one.
///
/// For example, `atf-tracing` records the fields of spans in this way. Rely on the manifest's
/// [`detail_fields`](crate::manifest::Manifest::detail_fields) to learn whether a session's details
/// have fields; payloads from other tracers may look like JSON by chance. The object contains no
/// control characters, so it is a single line.
///
/// ```
/// use atf::detail::fields;
///
/// assert_eq!(fields(br#"{"path":"a.txt"}"#), Some(r#"{"path":"a.txt"}"#));
/// assert_eq!(fields(b"a.txt"), None);
/// ```
#[must_use]
pub fn fields(payload: &[u8]) -> Option<&str> {
    let text = str::from_utf8(payload).ok()?;
    let is_object = text.starts_with('{')
        && text.len() <= LARGEST_FIELDS
        && !text.contains(char::is_control)
        && serde_json::from_str::<&RawValue>(text).is_ok_and(|found| found.get() == text);
    is_object.then_some(text)
}

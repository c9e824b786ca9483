//! Function names as written to the output.

use std::borrow::Cow;

use atf::symbols::Function;

/// The maximum length of a name in bytes. Longer names are truncated, because some formats repeat
/// the name for each call.
pub const LONGEST_NAME: usize = 4096;

/// The name shown for calls that are not listed separately.
pub(crate) const OTHERS: &str = "(further calls)";

/// Returns a function's name, or its module and number.
pub(crate) fn name_of<'s>(function: &Function<'s>) -> Cow<'s, str> {
    match function.name {
        Some(name) => {
            let (head, _) = name.split_at(name.floor_char_boundary(LONGEST_NAME));
            Cow::Borrowed(head)
        }
        None => Cow::Owned(function.to_string()),
    }
}

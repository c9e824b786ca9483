//! The bytes after the last event of an index or a detail file.

use atf::Completeness;

use super::walk::Walk;
use crate::format::Shape;
use crate::output::Failure;

/// The remaining bytes of an unfinalized file.
pub(super) struct Rest {
    pub(super) trailing_bytes: u64,
    pub(super) zero_tail_bytes: u64,
}

/// Shows the footer, or as much of it as exists. Returns the bytes of an unfinalized file that
/// remain to be shown.
pub(super) fn footer(
    walk: &mut Walk<'_>,
    footer: Shape,
    completeness: &Completeness,
) -> Result<Option<Rest>, Failure> {
    let size = walk.size();
    let about = match completeness {
        Completeness::Finalized => String::new(),
        Completeness::HeaderNotUpdated => "verified, but the header was never rewritten".to_owned(),
        Completeness::DamagedFooter {
            offset, problems, ..
        } => {
            walk.opaque(*offset, "trailing bytes", "not a whole event")?;
            walk.is_damaged = true;
            let problems: Vec<_> = problems.iter().map(ToString::to_string).collect();
            format!("damaged: {}", problems.join(", "))
        }
        Completeness::Unfinalized {
            trailing_bytes,
            zero_tail_bytes,
            partial_footer,
            ..
        } => {
            if let Some(partial) = partial_footer {
                let end = partial.offset.saturating_add(partial.size);
                walk.record(footer, None, end, "")?;
            }
            return Ok(Some(Rest {
                trailing_bytes: *trailing_bytes,
                zero_tail_bytes: *zero_tail_bytes,
            }));
        }
        other => format!("{other:?}"),
    };
    walk.record(footer, None, size, &about)?;
    walk.opaque(size, "after the footer", "nothing belongs here")?;
    Ok(None)
}

//! The bytes of an index or a detail file around its events.

use atf::{Completeness, Region, RegionKind};

use super::walk::Walk;
use crate::format::Shape;
use crate::output::Failure;

/// Shows all regions in order. `show` shows the events if passed `None`, and otherwise a region
/// after them that is not a complete event.
pub(super) fn regions(
    walk: &mut Walk<'_>,
    regions: &[Region],
    footer: Shape,
    completeness: &Completeness,
    mut show: impl FnMut(&mut Walk<'_>, Option<&Region>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let events = regions.partition_point(|region| region.kind < RegionKind::Events);
    let (before, after) = regions.split_at(events);
    for part in before {
        region(walk, part, footer, completeness)?;
    }
    show(walk, None)?;
    for part in after {
        match part.kind {
            RegionKind::NoEvent => show(walk, Some(part))?,
            _ => region(walk, part, footer, completeness)?,
        }
    }
    Ok(())
}

/// Shows a region that does not consist of events or of an incomplete event after them.
fn region(
    walk: &mut Walk<'_>,
    region: &Region,
    footer: Shape,
    completeness: &Completeness,
) -> Result<(), Failure> {
    let end = region.end();
    match region.kind {
        RegionKind::Gap => walk.opaque(end, "gap", "between the header and events_offset"),
        RegionKind::Footer | RegionKind::TornFooter => {
            let about = match completeness {
                Completeness::HeaderNotUpdated => "verified, but the header was never rewritten",
                _ => "",
            };
            walk.record(footer, None, end, about)
        }
        RegionKind::DamagedFooter => {
            walk.is_damaged = true;
            let problems = match completeness {
                Completeness::DamagedFooter { problems, .. } => problems.as_slice(),
                _ => &[],
            };
            let problems: Vec<_> = problems.iter().map(ToString::to_string).collect();
            let about = format!("damaged: {}", problems.join(", "));
            walk.record(footer, None, end, &about)
        }
        RegionKind::ZeroTail => walk.opaque(end, "zero tail", "preallocated or never written"),
        RegionKind::AfterFooter => walk.opaque(end, "after the footer", "nothing belongs here"),
        _ => Ok(()),
    }
}

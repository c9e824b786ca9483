//! Prints which source an implementation follows.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display, Formatter};

use super::{DISAGREEMENTS, Disagreement, HIDDEN, Reading, SIGNS, Sign};
use crate::protocol::Manifest;
use atf_report::Printable;

/// The readings that an implementation shows.
#[derive(Debug, Clone)]
pub struct Fingerprint {
    name: String,
    shown: Vec<Shown>,
}

/// The readings of one disagreement among the sources that an implementation shows.
#[derive(Debug, Clone)]
struct Shown {
    of: &'static Disagreement,
    /// The readings that the implementation shows; none if it shows another one. `None` if the
    /// implementation was not asked.
    readings: Option<Vec<&'static Reading>>,
}

impl Fingerprint {
    /// Collects the signs that an implementation was asked for, and whether each was found.
    pub(super) fn new(manifest: &Manifest, found: &[(&Sign, bool)]) -> Self {
        let shown = |of: &'static Disagreement| {
            let about = |(sign, _): &&(&Sign, bool)| sign.about == of.about;
            let asked: Vec<_> = found.iter().filter(about).collect();
            let shows = |reading: &&Reading| {
                let mut asked = asked.iter();
                asked.any(|(sign, shows)| sign.is == reading.is && *shows)
            };
            let readings = of.readings.iter().filter(shows);
            Shown {
                of,
                readings: (!asked.is_empty()).then(|| readings.collect()),
            }
        };
        Self {
            name: manifest.name.clone(),
            shown: DISAGREEMENTS.iter().map(shown).collect(),
        }
    }
}

impl Shown {
    /// Returns the sources with the readings that the implementation shows, in order.
    fn sources(&self) -> Vec<&'static str> {
        let shown = self.readings.iter().flatten();
        let sources: BTreeSet<_> = shown.flat_map(|it| it.sources).copied().collect();
        sources.into_iter().collect()
    }

    /// Returns the cases and scripts whose answers or files show the readings.
    fn names(&self) -> Vec<&'static str> {
        let signs = SIGNS.iter().filter(|sign| sign.about == self.of.about);
        let mut names: Vec<_> = signs.map(|sign| sign.asked().1).collect();
        names.dedup();
        names
    }
}

impl Display for Fingerprint {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let asked = self.shown.iter().filter(|it| it.readings.is_some());
        let asked: Vec<_> = asked.collect();
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for source in asked.iter().flat_map(|it| it.sources()) {
            *counts.entry(source).or_default() += 1;
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|(source, count)| (std::cmp::Reverse(*count), *source));
        let neither = asked.iter().filter(|it| it.sources().is_empty()).count();
        write!(f, "{}:", Printable(&self.name))?;
        for (source, count) in counts {
            write!(f, " {source} on {count} of {},", asked.len())?;
        }
        writeln!(f, " none on {neither}\n")?;
        let width = DISAGREEMENTS.iter().map(|it| it.about.len()).max();
        let width = width.unwrap_or_default();
        for it in &self.shown {
            let about = it.of.about;
            let hidden = HIDDEN.iter().find(|(hidden, _)| *hidden == about);
            match (&it.readings, hidden) {
                (Some(readings), _) if readings.is_empty() => {
                    let names = it.names().join(", ");
                    writeln!(f, "{about:width$}  none of the readings: {names}")?;
                }
                (Some(readings), _) => {
                    let readings: Vec<_> = readings.iter().map(|reading| reading.is).collect();
                    let (readings, sources) = (readings.join(", "), it.sources().join(" "));
                    writeln!(f, "{about:width$}  {readings} ({sources})")?;
                }
                (None, Some((_, why))) => writeln!(f, "{about:width$}  in no file: {why}")?,
                (None, None) => writeln!(f, "{about:width$}  not asked: not claimed")?,
            }
        }
        Ok(())
    }
}

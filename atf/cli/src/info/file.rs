//! Describes one file: header, events, end.

use std::io::{self, Write};
use std::path::Path;

use atf::check::{detail_repeats, index_repeats};
use atf::detail::{DetailReader, Scan};
use atf::index::IndexReader;
use atf::{Checksum, Completeness, Error, ErrorKind, Region, RegionKind, Wire};
use serde::{Serialize, Serializer};

use super::verify::{self, Contents};
use super::{Problem, Times};
use crate::format::{Decoded, Meaning, Shape};
use crate::json::{self, U64};
use crate::text::counted;

#[derive(Debug, Serialize)]
pub(crate) struct FileInfo {
    pub(crate) path: String,
    /// `index` or `detail`.
    pub(crate) kind: &'static str,
    /// The facts that could be read; `None` if the header is unreadable.
    #[serde(flatten)]
    pub(crate) facts: Option<Facts>,
    pub(crate) problems: Vec<Problem>,
}

/// The facts about a file, as far as they could be read.
#[derive(Debug, Serialize)]
pub(crate) struct Facts {
    pub(crate) file_size: U64,
    pub(crate) wire: u8,
    pub(crate) thread_id: u32,
    pub(crate) header: Fields,
    pub(crate) footer: Option<Fields>,
    pub(crate) footer_offset: Option<U64>,
    pub(crate) completeness: Ending,
    /// Whether the file has no footer although it was finalized.
    #[serde(skip_serializing_if = "json::is_default")]
    pub(crate) lost_footer: bool,
    pub(crate) event_count: U64,
    /// The number of events that the finalized header counts but the file no longer contains.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) missing_events: Option<U64>,
    pub(crate) count_source: &'static str,
    pub(crate) events_offset: U64,
    pub(crate) time: Option<Times>,
    pub(crate) checksum: ChecksumInfo,
    /// Statistics over all events, if they were read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) contents: Option<Contents>,
}

/// The fields of a header or a footer, decoded only when they are written.
#[derive(Debug)]
pub(crate) struct Fields {
    record: &'static str,
    wire: Wire,
    bytes: Box<[u8]>,
}

/// A field of a header or a footer.
#[derive(Debug, Serialize)]
pub(crate) struct FieldInfo {
    pub(crate) name: &'static str,
    pub(crate) value: serde_json::Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) meaning: Option<String>,
    /// The value in human-readable form.
    #[serde(skip)]
    pub(crate) text: String,
}

/// How a file ends.
#[derive(Debug, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub(crate) enum Ending {
    Finalized,
    HeaderNotUpdated,
    Unfinalized {
        trailing_bytes: U64,
        zero_tail_bytes: U64,
        partial_footer_bytes: U64,
    },
    DamagedFooter {
        offset: U64,
        trailing_bytes: U64,
    },
}

/// The footer's checksum, and whether it matches.
#[derive(Debug, Serialize)]
pub(crate) struct ChecksumInfo {
    /// `not_verified` if the events were not read, `none` if there is no footer, `not_computed` if
    /// the checksum is 0, `good`, `bad`, or `ieee` if it uses that polynomial instead of CRC-32C.
    pub(crate) state: &'static str,
    pub(crate) stored: Option<u32>,
    pub(crate) computed: Option<u32>,
}

/// Creates [`Facts`] from a reader of either kind of file, whose methods have the same names.
macro_rules! facts {
    ($reader:ident, $records:ident, $problems:expr, $times:ident, $checksum:ident, $contents:ident) => {{
        let [header, footer] = $records;
        let stored = $reader.footer().map(|footer| footer.checksum);
        let footer_bytes = $reader.footer_bytes();
        Facts {
            file_size: $reader.file_size().into(),
            wire: $reader.wire().version(),
            thread_id: $reader.header().thread_id,
            header: Fields::new(header, $reader.wire(), $reader.header_bytes()),
            footer: footer_bytes.map(|bytes| Fields::new(footer, $reader.wire(), bytes)),
            footer_offset: $reader.footer_offset().map(U64),
            completeness: $reader.completeness().into(),
            lost_footer: lost_footer($problems),
            event_count: $reader.event_count().into(),
            missing_events: Some($reader.missing_events())
                .filter(|count| *count > 0)
                .map(U64),
            count_source: $reader.count_source().name(),
            events_offset: $reader.header().events_offset.into(),
            time: $times.map(Times::new),
            checksum: ChecksumInfo::new($checksum, stored),
            contents: $contents,
        }
    }};
}

impl FileInfo {
    /// Describes an `index.atf`.
    pub(crate) fn of_index(path: &Path, verify: bool) -> Self {
        Self::new(path, "index", |problems| {
            Self::index_facts(&IndexReader::open(path)?, verify, problems)
        })
    }

    /// Describes a `detail.atf`.
    pub(crate) fn of_detail(path: &Path, verify: bool) -> Self {
        Self::new(path, "detail", |problems| {
            let reader = DetailReader::open(path)?;
            let scan = || verify.then(|| reader.scan()).transpose();
            Self::detail_facts(&reader, scan, problems)
        })
    }

    /// Describes a file with the facts and problems that `facts` returns. If `facts` fails, its
    /// error becomes a problem.
    pub(crate) fn new(
        path: &Path,
        kind: &'static str,
        facts: impl FnOnce(&mut Vec<Problem>) -> Result<Facts, Error>,
    ) -> Self {
        let mut problems = Vec::new();
        let facts = facts(&mut problems);
        let facts = facts.map_err(|error| problems.push(Problem::from_error(&error)));
        let problems = problems.into_iter();
        Self {
            path: json::path(path),
            kind,
            facts: facts.ok(),
            problems: problems.map(|problem| problem.in_file(path)).collect(),
        }
    }

    pub(crate) fn index_facts(
        reader: &IndexReader,
        verify: bool,
        problems: &mut Vec<Problem>,
    ) -> Result<Facts, Error> {
        let (checksum, contents) = if verify {
            let scan = reader.scan()?;
            let contents = verify::index(reader, &scan, problems)?;
            (Some(scan.checksum), Some(contents))
        } else {
            (None, None)
        };
        let own = reader.problems();
        problems.extend(own.iter().map(Problem::from_error));
        problems.extend(index_repeats(reader)?.into_iter().map(Problem::found));
        problems.extend(after_footer(&reader.regions()));
        // The footer has the times of events in a hole.
        let times = reader.time_range()?;
        let times = times.and_then(|_| reader.corrected_time_range());
        let records = ["index_header", "index_footer"];
        Ok(facts!(reader, records, &own, times, checksum, contents))
    }

    /// Describes a detail file. `scan` returns the file's scan if all events should be read.
    pub(crate) fn detail_facts(
        reader: &DetailReader,
        scan: impl FnOnce() -> Result<Option<Scan>, Error>,
        problems: &mut Vec<Problem>,
    ) -> Result<Facts, Error> {
        let own = reader.problems()?;
        problems.extend(own.iter().map(Problem::from_error));
        problems.extend(detail_repeats(reader)?.into_iter().map(Problem::found));
        problems.extend(after_footer(&reader.regions()));
        // The checksum was already verified when the file was opened.
        let checksum = Some(reader.checksum()?);
        let contents = scan()?.map(|scan| verify::detail(reader, &scan, problems));
        let records = ["detail_header", "detail_footer"];
        let times = reader.time_range()?;
        Ok(facts!(reader, records, &own, times, checksum, contents))
    }
}

impl Fields {
    fn new(record: &'static str, wire: Wire, bytes: &[u8]) -> Self {
        Self {
            record,
            wire,
            bytes: bytes.into(),
        }
    }

    /// Returns the fields. Includes reserved fields only if they are not 0.
    pub(crate) fn decode(&self) -> Vec<FieldInfo> {
        let is_shown = |decoded: &Decoded<'_>| {
            !decoded.field.reserved || decoded.bytes.iter().any(|byte| *byte != 0)
        };
        let field = |decoded: Decoded<'_>| FieldInfo {
            name: &decoded.field.name,
            value: decoded.json(),
            meaning: match decoded.meaning(None) {
                Meaning::Plain | Meaning::Unit(_) => None,
                Meaning::Known(text) | Meaning::Odd(text) | Meaning::Wrong(text) => Some(text),
            },
            text: decoded.to_string(),
        };
        let shape = Shape::new(self.record, self.wire);
        let fields = shape.decode(&self.bytes);
        fields.filter(is_shown).map(field).collect()
    }
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.decode().serialize(serializer)
    }
}

fn lost_footer(problems: &[Error]) -> bool {
    let mut kinds = problems.iter().map(Error::kind);
    kinds.any(|kind| matches!(kind, ErrorKind::NotFinalized { is_cut: true, .. }))
}

fn after_footer(regions: &[Region]) -> Option<Problem> {
    let is_after = |region: &&Region| region.kind == RegionKind::AfterFooter;
    let region = regions.iter().find(is_after)?;
    let bytes = counted(region.size, "byte");
    let what = format!("{bytes} after the footer, where the file should end");
    let problem = Problem::new(None, Some(region.offset), &what);
    region.rule.map(|rule| problem.breaks(rule.id))
}

impl Ending {
    /// Writes which bytes follow the last event of an unfinalized file.
    pub(crate) fn write_rest(&self, out: &mut impl Write) -> io::Result<()> {
        let Self::Unfinalized {
            trailing_bytes,
            zero_tail_bytes,
            partial_footer_bytes,
        } = self
        else {
            return Ok(());
        };
        for (bytes, what) in [
            (trailing_bytes.0, "after the last event"),
            (zero_tail_bytes.0, "of zeros at the end"),
            (partial_footer_bytes.0, "of a torn footer"),
        ] {
            if bytes > 0 {
                write!(out, ", {} {what}", counted(bytes, "byte"))?;
            }
        }
        Ok(())
    }
}

impl From<&Completeness> for Ending {
    fn from(completeness: &Completeness) -> Self {
        match completeness {
            Completeness::Finalized => Self::Finalized,
            Completeness::HeaderNotUpdated => Self::HeaderNotUpdated,
            Completeness::Unfinalized {
                trailing_bytes,
                zero_tail_bytes,
                partial_footer,
                ..
            } => Self::Unfinalized {
                trailing_bytes: U64(*trailing_bytes),
                zero_tail_bytes: U64(*zero_tail_bytes),
                partial_footer_bytes: U64(partial_footer.map_or(0, |partial| partial.size)),
            },
            Completeness::DamagedFooter {
                offset,
                trailing_bytes,
                ..
            } => Self::DamagedFooter {
                offset: U64(*offset),
                trailing_bytes: U64(*trailing_bytes),
            },
            // In any other state, the file may be incomplete.
            _ => Self::Unfinalized {
                trailing_bytes: U64(0),
                zero_tail_bytes: U64(0),
                partial_footer_bytes: U64(0),
            },
        }
    }
}

impl ChecksumInfo {
    /// Uses the verified checksum if there is one, and otherwise only the footer's value.
    fn new(verified: Option<Checksum>, footer: Option<u32>) -> Self {
        let (state, computed) = match (verified, footer) {
            (_, None) | (Some(Checksum::NotChecked), _) => ("none", None),
            (_, Some(0)) | (Some(Checksum::Absent), _) => ("not_computed", None),
            (Some(Checksum::Good), stored) => ("good", stored),
            (Some(Checksum::Bad { computed, .. }), _) => ("bad", Some(computed)),
            (Some(Checksum::Ieee { computed, .. }), _) => ("ieee", Some(computed)),
            _ => ("not_verified", None),
        };
        Self {
            state,
            stored: footer,
            computed,
        }
    }
}

//! Finds footers and checks whether they can be trusted.

use crate::error::{Error, ErrorKind, Result};
use crate::rules::Rule;
use crate::rules::of_file::FileRules;
use crate::source::Input;
use crate::wire::{Record, Wire, offset};

/// The size of a footer in bytes, which is the same in both files and both wire versions.
pub(crate) const FOOTER_SIZE: usize = Record::DetailFooter.size();

/// A kind of footer: an index file's or a detail file's.
pub(crate) trait Footer: Sized {
    const MAGIC: [u8; 4];

    const RECORD: Record;

    const RULES: &'static FileRules;

    /// How many fields [`problems`](Self::problems) compares.
    const NUMBERS: usize;

    fn decode(wire: Wire, bytes: &[u8; FOOTER_SIZE]) -> Self;

    /// Returns the fields that cannot be correct for an events section of `section_bytes` bytes.
    fn problems(&self, wire: Wire, section_bytes: u64) -> Vec<Wrong>;

    /// Returns the weight of the start time in these bytes, counted in footer properties, if
    /// `section_bytes` bytes of events precede them.
    fn start_time_weight(
        _input: &Input,
        _wire: Wire,
        _events_offset: u64,
        _section_bytes: u64,
        _bytes: &[u8; FOOTER_SIZE],
    ) -> Result<usize> {
        Ok(0)
    }
}

/// A field of a footer that cannot be correct.
pub(crate) struct Wrong {
    pub(crate) kind: ErrorKind,
    pub(crate) field: &'static str,
    /// The field's offset in the footer.
    pub(crate) offset: usize,
    pub(crate) rule: &'static Rule,
}

impl Wrong {
    /// Returns the error about this field of a footer at `offset`.
    pub(crate) fn error(self, input: &Input, offset: u64) -> Error {
        let error = input.error(self.kind).with_field(self.field);
        let offset = offset.saturating_add(self.offset as u64);
        error.with_offset(offset).with_rule(self.rule)
    }
}

pub(crate) fn reserved_is_zero<F: Footer>(wire: Wire, bytes: &[u8; FOOTER_SIZE]) -> bool {
    F::RECORD.nonzero_reserved(wire, bytes).next().is_none()
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Placed<F> {
    pub(crate) footer: F,
    pub(crate) bytes: [u8; FOOTER_SIZE],
    /// The footer's offset in bytes from the start of the file.
    pub(crate) offset: u64,
}

impl<F> Placed<F> {
    /// Returns the offset after the footer.
    pub(crate) fn end(&self) -> u64 {
        self.offset.saturating_add(FOOTER_SIZE as u64)
    }
}

/// The result of examining an offset at which a footer may begin.
#[derive(Debug)]
pub(crate) enum Verdict<F> {
    /// A footer whose magic, count, length and position agree.
    Verified(Placed<F>),
    Damaged(Damaged),
    NoFooter,
}

/// A footer that contradicts the file.
#[derive(Debug)]
pub(crate) struct Damaged {
    pub(crate) offset: u64,
    pub(crate) problems: Vec<Error>,
}

impl Damaged {
    /// Returns whether the footer has a single mismatch.
    pub(crate) fn is_single(&self) -> bool {
        self.problems.len() == 1
    }
}

/// Classifies the 64 bytes at `offset`.
///
/// Bytes that have two properties of a footer are a footer, intact or damaged, and never events. The
/// properties are the magic, zero reserved bytes, and each number that matches a nonempty events
/// section; in `index.atf` also the start time. All other bytes are not a footer.
pub(crate) fn classify_at<F: Footer>(
    input: &Input,
    wire: Wire,
    events_offset: u64,
    offset: u64,
) -> Result<Verdict<F>> {
    let end = offset.checked_add(FOOTER_SIZE as u64);
    if offset < events_offset || end.is_none_or(|end| end > input.size()) {
        return Ok(Verdict::NoFooter);
    }
    let bytes = input.record(offset)?;
    let footer = F::decode(wire, &bytes);
    let section_bytes = offset.saturating_sub(events_offset);
    let numbers = footer.problems(wire, section_bytes);
    let magic = magic_problem::<F>(&bytes);
    if magic.is_none() && numbers.is_empty() {
        return Ok(Verdict::Verified(Placed {
            footer,
            bytes,
            offset,
        }));
    }
    // The numbers of a footer without events are 0 and match any zeros.
    let right = if section_bytes > 0 {
        let time = F::start_time_weight(input, wire, events_offset, section_bytes, &bytes)?;
        F::NUMBERS
            .saturating_sub(numbers.len())
            .saturating_add(time)
    } else {
        0
    };
    let is_zero = reserved_is_zero::<F>(wire, &bytes);
    let others = [magic.is_none(), is_zero].map(usize::from);
    if others.into_iter().fold(right, usize::saturating_add) < 2 {
        return Ok(Verdict::NoFooter);
    }
    Ok(Verdict::Damaged(damaged(
        input,
        offset,
        magic.into_iter().chain(numbers),
    )))
}

/// Returns a damaged footer for the bytes at `offset`, where nothing but a footer can be.
pub(crate) fn damaged_at<F: Footer>(
    input: &Input,
    wire: Wire,
    events_offset: u64,
    offset: u64,
) -> Result<Damaged> {
    let bytes = input.record(offset)?;
    let numbers = F::decode(wire, &bytes).problems(wire, offset.saturating_sub(events_offset));
    Ok(damaged(
        input,
        offset,
        magic_problem::<F>(&bytes).into_iter().chain(numbers),
    ))
}

/// Returns the first verified candidate or, if there is none, the first damaged one.
pub(crate) fn first_verified<F: Footer>(
    input: &Input,
    wire: Wire,
    events_offset: u64,
    candidates: impl IntoIterator<Item = u64>,
) -> Result<Verdict<F>> {
    let mut best = Verdict::NoFooter;
    for offset in candidates {
        let verdict = classify_at(input, wire, events_offset, offset)?;
        match (&best, &verdict) {
            (_, Verdict::Verified(_)) => return Ok(verdict),
            (Verdict::NoFooter, Verdict::Damaged(_)) => best = verdict,
            _ => {}
        }
    }
    Ok(best)
}

fn damaged(input: &Input, offset: u64, problems: impl Iterator<Item = Wrong>) -> Damaged {
    let problems = problems.map(|wrong| wrong.error(input, offset)).collect();
    Damaged { offset, problems }
}

fn magic_problem<F: Footer>(bytes: &[u8; FOOTER_SIZE]) -> Option<Wrong> {
    let [a, b, c, d, ..] = *bytes;
    let (found, expected) = ([a, b, c, d], F::MAGIC);
    (found != expected).then_some(Wrong {
        kind: ErrorKind::BadMagic { found, expected },
        field: "footer.magic",
        offset: offset!(DetailFooter.magic),
        rule: F::RULES.footer_magic,
    })
}

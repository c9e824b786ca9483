//! Splits a file into its parts, and composes the changes that two faults make to them.

use std::ops::Range;

use atf_samples::files::{crc32_ieee, crc32c};

use super::Apart;
use crate::corpus::shape::Shape;
use crate::corpus::trace::zeros_of_placeholder;
use atf_samples::layout::{Record, little_endian};

/// A file, divided into parts.
#[derive(Debug, Clone)]
pub(super) struct Parts {
    pub(super) shape: Shape,
    /// The header, each event, the footer and the trailing bytes. Parts after a cut are empty. The
    /// fields with claims are 0.
    parts: Vec<Vec<u8>>,
    claims: Vec<Claim>,
}

/// The part of a file that a rule is about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Place {
    Header,
    Events,
    /// The footer, and where the file ends.
    End,
}

/// A field whose correct value follows from the events. It changes with them unless it is faulty.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Claim {
    /// The correct value, or no value because the field is truncated.
    Right,
    /// The IEEE CRC-32 of the events.
    Ieee,
    /// A wrong value.
    Wrong(u64),
}

impl Parts {
    pub(super) fn new(shape: &Shape, bytes: &[u8]) -> Self {
        let (mut rest, trailing) = bytes.split_at(shape.own.min(bytes.len()));
        let mut parts = Vec::new();
        for size in sizes(shape) {
            let (part, after) = rest.split_at(size.min(rest.len()));
            parts.push(part.to_vec());
            rest = after;
        }
        parts.push([rest, trailing].concat());
        let shape = shape.clone();
        let mut this = Self {
            shape,
            parts,
            claims: Vec::new(),
        };
        this.claims = this
            .fields()
            .iter()
            .map(|field| this.claim(field))
            .collect();
        for (part, range) in this.fields() {
            if let Some(field) = this.parts[part].get_mut(range) {
                field.fill(0);
            }
        }
        this
    }

    /// Returns the part and the range of each field with a claim, the checksum first.
    fn fields(&self) -> Vec<(usize, Range<usize>)> {
        let (header, footer) = (self.shape.header_record(), self.shape.footer_record());
        let last = self.shape.events.len() + 1;
        let mut fields = vec![(last, self.range(footer, "checksum"))];
        if self.shape.is_detail {
            fields.push((last, self.range(footer, "bytes_length")));
            fields.push((0, self.range(header, "bytes_length")));
        }
        fields
    }

    fn range(&self, record: Record, name: &str) -> Range<usize> {
        let mut fields = record.fields(self.shape.wire).iter();
        let field = fields.find(|field| field.name == name);
        let field = field.expect("a field of the record");
        field.offset..field.offset + field.size
    }

    fn claim(&self, (part, range): &(usize, Range<usize>)) -> Claim {
        let Some(field) = self.parts[*part].get(range.clone()) else {
            return Claim::Right;
        };
        let value = little_endian(field);
        let mut derived = [Claim::Right, Claim::Ieee].into_iter();
        let derived = derived.find(|claim| self.value(*claim, range.len()) == value);
        derived.unwrap_or(Claim::Wrong(value))
    }

    /// Returns the value of a field of this size.
    fn value(&self, claim: Claim, size: usize) -> u64 {
        let section = || self.parts[1..=self.shape.events.len()].concat();
        match claim {
            Claim::Wrong(value) => value,
            Claim::Right if size == 8 => self.shape.events.iter().sum::<usize>() as u64,
            Claim::Right => crc32c(&section()).into(),
            Claim::Ieee => crc32_ieee(&section()).into(),
        }
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut parts = self.parts.clone();
        for ((part, range), claim) in self.fields().into_iter().zip(&self.claims) {
            let value = self.value(*claim, range.len()).to_le_bytes();
            if let Some(field) = parts[part].get_mut(range) {
                let size = field.len();
                field.copy_from_slice(&value[..size]);
            }
        }
        parts.concat()
    }

    /// Returns whether the file ends before its footer does.
    fn is_cut(&self) -> bool {
        self.is_torn(self.shape.events.len() + 1)
    }

    /// Returns how many parts differ from the clean file's. Parts after a cut count once.
    pub(super) fn changed(&self, clean: &Self) -> usize {
        let parts = self.parts.iter().zip(&clean.parts);
        let changed = parts.filter(|(own, clean)| own != clean && !own.is_empty());
        changed.count() + usize::from(self.is_cut())
    }

    fn header_field(&self, name: &str) -> u64 {
        let range = self.range(self.shape.header_record(), name);
        let claimed = self
            .fields()
            .iter()
            .position(|field| *field == (0, range.clone()));
        claimed.map_or_else(
            || little_endian(&self.parts[0][range.clone()]),
            |seq| self.value(self.claims[seq], range.len()),
        )
    }

    /// Returns whether the checksum is 0.
    pub(super) fn lacks_checksum(&self) -> bool {
        self.claims[0] == Claim::Wrong(0)
    }

    /// Returns whether the header belongs to a file that was never finalized.
    pub(super) fn is_placeholder(&self) -> bool {
        let zeros = zeros_of_placeholder(self.shape.is_detail);
        zeros.iter().all(|name| self.header_field(name) == 0)
    }

    /// Returns whether the header counts more events than are left, and all that are left are known.
    pub(super) fn lacks_events(&self) -> bool {
        let left = self.shape.survivors().len() as u64;
        self.shape.framed.is_none() && self.header_field("event_count") > left
    }

    /// Returns whether the events may begin after byte 64, unless a footer says otherwise.
    pub(super) fn may_begin_later(&self) -> bool {
        (65..self.bytes().len() as u64).contains(&self.header_field("events_offset"))
    }

    /// Returns whether the header's count and `footer_offset` agree, so that they prove where the
    /// events of an index end.
    pub(super) fn proves_end(&self) -> bool {
        let field = |name| u128::from(self.header_field(name));
        let end = field("events_offset") + 32 * field("event_count");
        field("event_count") > 0 && end == field("footer_offset")
    }

    /// Returns the time of each index event, or `None` for zeros that no checksum covers. A
    /// matching checksum of the wrong kind proves the same.
    pub(super) fn times(&self) -> Vec<Option<u64>> {
        let is_proven = !matches!(self.claims[0], Claim::Wrong(_)) && !self.is_cut();
        let events = &self.parts[1..=self.shape.survivors().len()];
        let time = |event: &Vec<u8>| {
            let is_zero = event.iter().all(|byte| *byte == 0);
            (is_proven || !is_zero).then(|| little_endian(&event[..8]))
        };
        events.iter().map(time).collect()
    }

    /// Returns the clean file with the changes of both. If both change the same field, the fault that
    /// is about the field's record prevails: a case about a missing footer does not test the
    /// placeholder header.
    pub(super) fn compose(
        clean: &Self,
        (one, own): (&Self, Place),
        (other, others): (&Self, Place),
    ) -> Result<Self, Apart> {
        let count = clean.shape.events.len();
        if [one, other].iter().any(|it| it.shape.events.len() != count) {
            return Err(Apart::SameField);
        }
        if one.removes(other, clean) || other.removes(one, clean) {
            return Err(Apart::Removed);
        }
        let prevailing = |seq: usize| match seq {
            _ if own == others => None,
            0 => [own, others].iter().position(|it| *it == Place::Header),
            _ if seq <= count => [own, others].iter().position(|it| *it == Place::Events),
            _ => [own, others].iter().position(|it| *it == Place::End),
        };
        let part = |seq: usize| {
            let both = [&one.parts[seq], &other.parts[seq]];
            part(&clean.parts[seq], both, &clean.units(seq), prevailing(seq))
        };
        let claims = one.claims.iter().zip(&other.claims).zip(clean.fields());
        let claims = claims.map(|((one, other), (seq, _))| {
            let prevailing = prevailing(seq).map(|first| *[one, other][first]);
            either(&Claim::Right, one, other).or_else(|apart| prevailing.ok_or(apart))
        });
        let sizes = one.shape.events.iter().zip(&other.shape.events);
        let sizes = clean.shape.events.iter().zip(sizes);
        let sizes = sizes.map(|(clean, (one, other))| either(clean, one, other));
        let events: Vec<_> = sizes.collect::<Result<_, _>>()?;
        // A reader that follows the lengths finds the events in their new sizes.
        let framed = either(&None, &one.shape.framed, &other.shape.framed)?.map(|framed| {
            let sizes = clean.shape.events.iter().zip(&events);
            let sizes = framed.into_iter().zip(sizes);
            sizes
                .map(|(size, (old, new))| if size == *old { *new } else { size })
                .collect()
        });
        let parts: Vec<_> = (0..clean.parts.len()).map(part).collect::<Result<_, _>>()?;
        let own = parts[..=count + 1].iter().map(Vec::len).sum();
        let shape = Shape {
            events,
            own,
            framed,
            ..clean.shape.clone()
        };
        let claims = claims.collect::<Result<_, _>>()?;
        let this = Self {
            shape,
            parts,
            claims,
        };
        // One fault may make the other's wrong value correct.
        let is_fixed = this
            .fields()
            .iter()
            .zip(&this.claims)
            .any(|((_, range), claim)| {
                let value = |claim| this.value(claim, range.len());
                *claim != Claim::Right && value(*claim) == value(Claim::Right)
            });
        if is_fixed {
            Err(Apart::SameField)
        } else {
            Ok(this)
        }
    }

    /// Returns whether this file removes a part that the other one changes, or hides it from
    /// readers.
    fn removes(&self, other: &Self, clean: &Self) -> bool {
        let end = self.parts.len() - 1;
        let known = self.shape.framed.as_ref().map_or(end, Vec::len);
        let is_lost = |part: usize| {
            let is_unknown = known < part && part < end - 1;
            self.is_torn(part) || is_unknown || (part == end && self.is_cut())
        };
        let mut changes = (1..=end).filter(|part| other.parts[*part] != clean.parts[*part]);
        self.is_torn(0) || (self.is_cut() && other.is_cut()) || changes.any(is_lost)
    }

    /// Returns whether all or the end of a part is cut off.
    fn is_torn(&self, part: usize) -> bool {
        let size = sizes(&self.shape).nth(part);
        size.is_some_and(|size| self.parts[part].len() < size)
    }

    /// Returns the fields of a part, which no two faults may both change.
    fn units(&self, part: usize) -> Vec<Range<usize>> {
        let last = self.shape.events.len() + 1;
        let record = match part {
            0 => self.shape.header_record(),
            _ if part == last => self.shape.footer_record(),
            _ if part > last => return Vec::new(),
            _ => self.shape.event_record(),
        };
        let fields = |record: Record, start: usize| {
            let fields = record.fields(self.shape.wire).iter();
            fields.map(move |field| start + field.offset..start + field.offset + field.size)
        };
        let mut units: Vec<_> = fields(record, 0).collect();
        let size = self.parts[part].len();
        if size > record.size() {
            let payload = Record::DetailFunctionPayload;
            units.extend(fields(payload, record.size()));
            units.push(record.size() + payload.size()..size);
        }
        units
    }
}

/// Returns the sizes of the header, the events and the footer.
fn sizes(shape: &Shape) -> impl Iterator<Item = usize> {
    [64].into_iter()
        .chain(shape.events.iter().copied())
        .chain([64])
}

/// Returns the value that one of the faults changes.
fn either<T: Clone + PartialEq>(clean: &T, one: &T, other: &T) -> Result<T, Apart> {
    if other == clean || one == other {
        Ok(one.clone())
    } else if one == clean {
        Ok(other.clone())
    } else {
        Err(Apart::SameField)
    }
}

/// Returns a part with the changes of both. The prevailing one determines a field that both change.
fn part(
    clean: &Vec<u8>,
    [one, other]: [&Vec<u8>; 2],
    units: &[Range<usize>],
    prevailing: Option<usize>,
) -> Result<Vec<u8>, Apart> {
    if let Ok(part) = either(clean, one, other) {
        return Ok(part);
    }
    // At most one of them changes the part's size.
    let first = usize::from(other.len() != clean.len());
    let (mut merged, patched) = ([one, other][first].clone(), [other, one][first]);
    if patched.len() != clean.len() {
        return Err(Apart::SameField);
    }
    for unit in units
        .iter()
        .filter(|unit| patched[(*unit).clone()] != clean[(*unit).clone()])
    {
        let place = merged.get_mut(unit.clone()).ok_or(Apart::Removed)?;
        let is_free = *place == clean[unit.clone()];
        if !is_free && prevailing.is_none() {
            return Err(Apart::SameField);
        }
        if is_free || prevailing != Some(first) {
            place.copy_from_slice(&patched[unit.clone()]);
        }
    }
    Ok(merged)
}

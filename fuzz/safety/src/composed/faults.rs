//! Builds a session and composes up to four faults in it.

use std::fs;
use std::io;
use std::path::Path;

use atf_fuzz::mutate::Chance;
use atf_samples::files::{DetailFile, DetailRecord, EventRecord, IndexFile, crc32_ieee, crc32c};
use atf_samples::random::Random;

/// The size of headers and footers.
const RECORD: usize = 64;
/// The offset of an index footer's `bytes_written`; its magic, count and times precede it.
const HALF: usize = 32;
const MAGICS: [&[u8; 4]; 2] = [b"2ITA", b"2DTA"];

/// A session with an intact thread and a faulty one, and its faults.
#[derive(Debug)]
pub struct Composed {
    /// `index.atf` and `detail.atf` of the faulty thread.
    files: [Vec<u8>; 2],
    manifest: Option<String>,
    /// The faults, in order.
    pub faults: Vec<String>,
}

impl Composed {
    /// Builds the session of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let random = &mut Random::new(seed);
        let version = random.pick(&[1, 2]);
        let count = random.below(6) as u64;
        let mut faults = Vec::new();
        let mut index = IndexFile::finalized(version, count);
        let details = if random.below(3) == 0 {
            0
        } else {
            count.div_ceil(3)
        };
        let mut detail = DetailFile::finalized(version, details);
        let times = random.below(4);
        for _ in 0..random.below(3) {
            faults.push(content(random, &mut index.events, &mut detail.events));
        }
        let mut index = IndexFile::new(version, index.events);
        if times == 0 && count == 0 {
            faults.push("times without events".to_owned());
            index.footer_times = (1 << 40, 1 << 40);
        }
        let mut detail = DetailFile::new(version, detail.events);
        if random.below(8) == 0 {
            index.checksum = random.pick(&[0, crc32_ieee(&index.section())]);
            detail.checksum = random.pick(&[0, crc32_ieee(&detail.section())]);
            faults.push("other checksums".to_owned());
        }
        if random.below(2) == 0 {
            index = index.placeholder();
        }
        if random.below(2) == 0 {
            detail = detail.placeholder();
        }
        let ends = [index.without_footer().len(), detail.without_footer().len()];
        let mut this = Self {
            files: [index.bytes(), detail.bytes()],
            manifest: Some(r#"{"threads": [{"id": 7}, {"id": 8}]}"#.to_owned()),
            faults,
        };
        for _ in 0..1 + random.below(3) {
            let which = random.below(2);
            let fault = this.damage(random, which, ends[which]);
            let name = ["index", "detail"][which];
            this.faults.push(format!("{name}: {fault}"));
        }
        if random.below(2) == 0 {
            this.change(random);
        }
        if random.below(8) == 0 {
            this.damage_manifest(random);
        }
        this
    }

    /// Makes up to three random changes to a file, such as truncating it.
    fn change(&mut self, random: &mut Random) {
        let mut chance = Chance::new(random.number());
        let which = random.below(2);
        let seeds = self.files.clone();
        let seeds = seeds.each_ref().map(Vec::as_slice);
        for _ in 0..1 + random.below(3) {
            chance.change(&mut self.files[which], &seeds);
        }
        self.faults
            .push(format!("{}: changed anywhere", ["index", "detail"][which]));
    }

    /// Writes the session.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be written.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        // With an intact thread, readers do not refuse the session if the other one is unreadable.
        let [thread, intact] = ["thread_7", "thread_8"].map(|name| folder.join(name));
        fs::create_dir_all(&thread)?;
        fs::create_dir_all(&intact)?;
        let mut other = IndexFile::finalized(1, 2);
        (other.thread_id, other.flags) = (8, 0);
        let events = other.events.iter_mut();
        events.for_each(|event| event.detail_seq = None);
        other.checksum = crc32c(&other.section());
        fs::write(intact.join("index.atf"), other.bytes())?;
        for (name, bytes) in ["index.atf", "detail.atf"].iter().zip(&self.files) {
            fs::write(thread.join(name), bytes)?;
        }
        match &self.manifest {
            Some(text) => fs::write(folder.join("manifest.json"), text),
            None => Ok(()),
        }
    }

    /// Damages the header, the footer, which begins at `end`, or the tail of a file.
    fn damage(&mut self, random: &mut Random, which: usize, end: usize) -> String {
        let file = &mut self.files[which];
        let end = end.min(file.len());
        let mut zero = |start: usize, size: usize| {
            let start = start.min(file.len());
            let end = (start + size).min(file.len());
            file[start..end].fill(0);
        };
        match random.below(10) {
            part @ (0 | 1) => {
                let (name, start) = [("header", 0), ("footer", end)][part];
                let step = random.pick(&[1, u32::MAX, 32, 64]);
                let offset = 4 * random.below(RECORD / 4);
                add(file, start + offset, step);
                format!("{name} number at {offset} plus {step}")
            }
            2 => {
                let (start, size) =
                    random.pick(&[(0, HALF), (HALF, HALF), (0, RECORD), (0, 4), (8, 8)]);
                zero(end + start, size);
                format!("zeros in the footer, {size} at {start}")
            }
            3 => {
                let size = random.below(RECORD);
                zero(end + size, RECORD);
                let left = (end + RECORD).saturating_sub(random.below(RECORD));
                file.truncate(left.max(end + size));
                let size = size.min(file.len().saturating_sub(end));
                format!("{size} bytes of the footer, then zeros to {}", file.len())
            }
            4 => {
                let size = random.pick(&[1, 31, 32, 33, 40, 63, 64, 65, 96, 100]);
                file.truncate(file.len().saturating_sub(size).max(RECORD));
                format!("{size} bytes less")
            }
            5 => {
                let size = random.pick(&[1, 8, 23, 24, 31, 32, 33, 63, 64, 65, 100]);
                file.extend(std::iter::repeat_n(0, size));
                format!("{size} zeros after the end")
            }
            6 => {
                let size = random.pick(&[1, 8, 31, 32, 40, 64, 100]);
                let byte = random.pick(&[0x55, 1]);
                file.extend(std::iter::repeat_n(byte, size));
                format!("{size} bytes of {byte} after the end")
            }
            7 => {
                let events = end.saturating_sub(RECORD) / HALF;
                let start = RECORD + HALF * random.below(events + 2);
                let start = start.min(file.len());
                let end = (start + HALF).min(file.len());
                file.drain(start..end);
                format!("without the 32 bytes at {start}")
            }
            8 => {
                let size = random.pick(&[8, 24, 32]);
                let start = RECORD + random.below(end.saturating_sub(RECORD));
                zero(start, size);
                format!("{size} zeros at {start}")
            }
            _ => {
                let footer = file[end..].to_vec();
                file.extend(&footer);
                "two footers".to_owned()
            }
        }
    }

    fn damage_manifest(&mut self, random: &mut Random) {
        let text = self.manifest.clone().unwrap_or_default();
        let (name, text) = match random.below(4) {
            0 => ("missing", None),
            1 => (
                "truncated",
                Some(text[..random.below(text.len())].to_owned()),
            ),
            2 => ("of another thread", Some(text.replace('7', "8"))),
            _ => (
                "with an unknown key",
                Some(text.replacen('{', r#"{"new": 1, "#, 1)),
            ),
        };
        self.manifest = text;
        self.faults.push(format!("manifest {name}"));
    }
}

/// Adds a number to the 32-bit number at an offset, if the file is long enough.
fn add(file: &mut [u8], offset: usize, number: u32) {
    if let Some(place) = file.get_mut(offset..offset + 4) {
        let value = u32::from_le_bytes([place[0], place[1], place[2], place[3]]);
        place.copy_from_slice(&value.wrapping_add(number).to_le_bytes());
    }
}

/// Changes an event or a payload to one that looks like a part of the format, or is unusual.
fn content(
    random: &mut Random,
    events: &mut [EventRecord],
    details: &mut [DetailRecord],
) -> String {
    let seq = random.below(events.len());
    let magic = u64::from(u32::from_le_bytes(*random.pick(&MAGICS)));
    let (events_size, first) = (HALF * seq, events.first().map(|event| event.timestamp_ns));
    let numbers = [
        seq as u64,
        first.unwrap_or_default(),
        first.unwrap_or_default(),
        events_size as u64,
    ];
    if let (Some(detail), 0..2) = (details.last_mut(), random.below(4)) {
        let (name, payload) = match random.below(3) {
            0 => ("zeros", vec![0; random.pick(&[0, 8, 40, 100])]),
            1 => ("the beginning of a footer", MAGICS[1].to_vec()),
            _ => {
                let numbers = numbers.iter().flat_map(|number| number.to_le_bytes());
                let start = MAGICS[1].iter().copied().chain(crc32c(&[]).to_le_bytes());
                ("a footer", start.chain(numbers).chain([0; 24]).collect())
            }
        };
        detail.payload = payload;
        if random.below(2) == 0 {
            detail.timestamp = 0;
        }
        return format!("last payload is {name}, its time {}", detail.timestamp);
    }
    let Some(event) = events.get_mut(seq) else {
        return "nothing".to_owned();
    };
    match random.below(4) {
        0 => event.kind = random.pick(&[0, 4]),
        1 => event.timestamp_ns = magic | event.timestamp_ns >> 32 << 32,
        2 => event.timestamp_ns = random.pick(&[0, events_size as u64]),
        _ => event.function_id = random.pick(&[0, seq as u64]),
    }
    format!("event {seq} is {event:?}")
}

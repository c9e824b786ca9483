//! Random faults and scripts from a seed.

use atf_conformance::protocol::{Feature, Manifest};
use atf_samples::random::Random;

/// The faults and scripts of a seed.
pub(crate) struct Chance(Random);

/// Boundary values.
const EDGES: [u64; 14] = [
    0,
    1,
    24,
    31,
    32,
    63,
    64,
    65,
    0x7fff_ffff,
    0xffff_ffff,
    1 << 32,
    i64::MAX as u64,
    u64::MAX - 63,
    u64::MAX,
];

/// Amounts to add to a number: small ones, and ones that vanish in fewer bits or after a
/// multiplication by 32.
const STEPS: [u64; 12] = [
    1,
    u64::MAX,
    32,
    64,
    32u64.wrapping_neg(),
    1 << 8,
    1 << 16,
    1 << 27,
    1 << 31,
    1 << 32,
    1 << 59,
    1 << 63,
];

impl Chance {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(Random::new(seed))
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0.below(end)
    }

    fn edge(&mut self) -> u64 {
        match self.below(3) {
            0 => self.0.number() >> self.below(64),
            1 => self.below(200) as u64,
            _ => self.0.pick(&EDGES),
        }
    }

    /// Returns a file with one to three faults. In half of the files, no footer has a checksum, which
    /// would hide all faults in events.
    pub(crate) fn fault(&mut self, file: &[u8], others: &[&[u8]]) -> Vec<u8> {
        let mut bytes = file.to_vec();
        for _ in 0..=self.below(3) {
            self.change(&mut bytes, others);
        }
        if self.below(2) == 0 {
            for at in 0..bytes.len().saturating_sub(8) {
                if [b"2ITA", b"2DTA"].contains(&bytes[at..].first_chunk().unwrap_or(b"    ")) {
                    bytes[at + 4..at + 8].fill(0);
                }
            }
        }
        bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>, others: &[&[u8]]) {
        if bytes.is_empty() {
            bytes.push(0);
        }
        let at = self.below(bytes.len());
        let near = |this: &mut Self| (at + 1 + this.below(96)).min(bytes.len());
        match self.below(9) {
            0 => bytes[at] ^= 1 << self.below(8),
            1 => bytes[at] = self.0.number().to_le_bytes()[0],
            2 => bytes.truncate(at),
            // Most fields are aligned, and close to their correct value.
            3 | 4 => {
                let (at, size) = (at / 4 * 4, self.0.pick(&[1, 2, 4, 8]));
                let end = (at + size).min(bytes.len());
                let mut old = [0; 8];
                old[..end - at].copy_from_slice(&bytes[at..end]);
                let old = u64::from_le_bytes(old);
                let new = match self.below(3) {
                    0 => old.wrapping_add(self.0.pick(&STEPS)),
                    _ => self.edge(),
                };
                bytes[at..end].copy_from_slice(&new.to_le_bytes()[..end - at]);
            }
            5 => {
                let end = near(self);
                bytes.drain(at..end);
            }
            6 => {
                let end = near(self);
                let again = bytes[at..end].to_vec();
                bytes.splice(at..at, again);
            }
            7 => {
                let end = if self.below(2) == 0 {
                    bytes.len()
                } else {
                    near(self)
                };
                bytes[at..end].fill(0);
            }
            _ => {
                let other = self.0.pick(others);
                let from = self.below(other.len().max(1)) / 32 * 32;
                let end = (from + 32 * (1 + self.below(4))).min(other.len());
                let piece = &other[from.min(end)..end];
                let at = at / 32 * 32;
                let until = (at + piece.len()).min(bytes.len());
                bytes.splice(at..until, piece.iter().copied());
            }
        }
    }

    /// Returns a script that an implementation supports.
    pub(crate) fn script(&mut self, for_: &Manifest) -> String {
        let wire = self.0.pick(&for_.wire);
        let has_details = for_.has(Feature::Detail);
        let (clock, arch, os) = (1 + self.below(4), 1 + self.below(3), 1 + self.below(5));
        let ids: Vec<u64> = (0..1 + self.below(3) as u64)
            .map(|id| {
                if self.below(4) == 0 {
                    0xffff_fff0 + id
                } else {
                    id
                }
            })
            .collect();
        let mut lines = String::new();
        for id in &ids {
            lines += &format!("open thread={id} wire={wire} clock={clock} arch={arch} os={os}\n");
        }
        let (mut time, mut counts) = (self.edge() >> 1, vec![(0u64, 0u64); ids.len()]);
        for _ in 0..self.below(12) {
            let of = self.below(ids.len());
            let (id, (events, details)) = (ids[of], counts[of]);
            time = time.saturating_add(self.0.pick(&[0, 1, 1000, 1 << 32]));
            let is_linked = has_details && self.below(2) == 0;
            let link = if is_linked {
                details.to_string()
            } else {
                "-".to_owned()
            };
            let kind = 1 + self.below(3);
            let (function, depth) = (self.edge(), self.edge() & 0xffff_ffff);
            lines += &format!(
                "index thread={id} ts={time} fn={function} kind={kind} depth={depth} detail={link}\n"
            );
            if is_linked {
                let payload: String = (0..self.below(200))
                    .map(|_| format!("{:02x}", self.0.number() & 0xff))
                    .collect();
                let (type_, flags) = (if kind == 2 { 4 } else { 3 }, 0);
                lines += &format!(
                    "detail thread={id} index={events} ts={time} type={type_} flags={flags} payload={payload}\n"
                );
            }
            counts[of] = (events + 1, details + u64::from(is_linked));
        }
        if self.below(4) == 0 {
            return lines + "abort\n";
        }
        for id in ids {
            lines += &format!("finalize thread={id}\n");
        }
        lines
    }
}

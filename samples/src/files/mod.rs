//! Files for tests, written byte by byte from the tables of S0, S1, S2 and S4, and of ELF.
//!
//! Nothing here uses the crate's structs or constants, so a mistake in them cannot stay hidden.

mod detail;
mod elf;
mod index;
mod ring;

pub use detail::{DetailFile, DetailRecord};
pub use elf::ElfFile;
pub use index::{EventRecord, IndexFile};
pub use ring::{RingArea, RingFile, ring_after};

/// Appends values in little-endian order.
#[derive(Default)]
pub struct Bytes(pub Vec<u8>);

impl Bytes {
    pub fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }

    pub fn u8(&mut self, value: u8) -> &mut Self {
        self.raw(&[value])
    }

    pub fn u16(&mut self, value: u16) -> &mut Self {
        self.raw(&value.to_le_bytes())
    }

    pub fn u32(&mut self, value: u32) -> &mut Self {
        self.raw(&value.to_le_bytes())
    }

    pub fn u64(&mut self, value: u64) -> &mut Self {
        self.raw(&value.to_le_bytes())
    }
}

/// Parses hexadecimal bytes; ignores spaces and line breaks.
pub fn hex(text: &str) -> Vec<u8> {
    let digits = text.bytes().filter(|byte| !byte.is_ascii_whitespace());
    let digits: Vec<u8> = digits.collect();
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

/// Computes a CRC with a reflected polynomial, bit by bit.
fn crc(polynomial: u32, bytes: &[u8]) -> u32 {
    let step = |crc: u32| {
        if crc & 1 == 1 {
            (crc >> 1) ^ polynomial
        } else {
            crc >> 1
        }
    };
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| step(crc))
    })
}

/// Computes the CRC-32C, which ATF uses.
pub fn crc32c(bytes: &[u8]) -> u32 {
    crc(0x82F6_3B78, bytes)
}

/// Computes the IEEE CRC-32, which ATF does not use.
pub fn crc32_ieee(bytes: &[u8]) -> u32 {
    crc(0xEDB8_8320, bytes)
}

/// Returns `bytes` with one range replaced.
pub fn patched(bytes: &[u8], offset: usize, patch: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[offset..offset + patch.len()].copy_from_slice(patch);
    bytes
}

/// Returns `bytes` followed by `zeros` zeros.
pub fn padded(bytes: &[u8], zeros: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes.resize(bytes.len() + zeros, 0);
    bytes
}

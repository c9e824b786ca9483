//! Mutations of a file.

use std::ops::Range;

/// One mutation of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mutation {
    /// Truncates the file to this many bytes.
    Cut(usize),
    /// Flips this bit, counted from the lowest bit of the first byte.
    Flip(usize),
    /// Flips this bit and the next one.
    Pair(usize),
}

impl Mutation {
    /// Returns the number of mutations of a file of `size` bytes, without and with pairs of bits.
    pub(super) fn count(size: usize) -> [usize; 2] {
        [size * 9, (size * 17).saturating_sub(1)]
    }

    /// Returns mutation `at`. Truncations come first, followed by single bits and pairs of bits.
    pub(super) fn nth(size: usize, at: usize) -> Self {
        match at.checked_sub(size) {
            None => Self::Cut(at),
            Some(bit) if bit < size * 8 => Self::Flip(bit),
            Some(bit) => Self::Pair(bit - size * 8),
        }
    }

    /// Returns the bits that the mutation flips.
    pub(super) fn bits(self) -> Range<usize> {
        match self {
            Self::Cut(_) => 0..0,
            Self::Flip(bit) => bit..bit + 1,
            Self::Pair(bit) => bit..bit + 2,
        }
    }

    /// Returns the first byte that the mutation affects.
    pub(super) fn place(self) -> usize {
        match self {
            Self::Cut(size) => size,
            Self::Flip(bit) | Self::Pair(bit) => bit / 8,
        }
    }

    /// Applies the mutation to a file's bytes.
    pub(super) fn apply(self, bytes: &[u8]) -> Vec<u8> {
        if let Self::Cut(size) = self {
            return bytes[..size].to_vec();
        }
        let mut bytes = bytes.to_vec();
        for bit in self.bits() {
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        bytes
    }

    /// Returns whether this mutation flips the selected bit of its byte. The selected bit varies
    /// from byte to byte.
    pub(super) fn is_one_of_its_byte(self) -> bool {
        matches!(self, Self::Flip(bit) if bit % 8 == (bit / 8) % 8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_bytes_have_two_cuts_sixteen_bits_and_fifteen_pairs() {
        let [quick, all] = Mutation::count(2);
        assert_eq!([quick, all], [18, 33]);
        let mutations: Vec<_> = (0..all).map(|at| Mutation::nth(2, at)).collect();
        assert_eq!(mutations[0], Mutation::Cut(0));
        assert_eq!(mutations[2], Mutation::Flip(0));
        assert_eq!(mutations[18], Mutation::Pair(0));
        assert_eq!(mutations[32], Mutation::Pair(14));
        assert_eq!(Mutation::Cut(1).apply(&[5, 6]), [5]);
        assert_eq!(Mutation::Flip(9).apply(&[0, 0]), [0, 2]);
        assert_eq!(Mutation::Pair(7).apply(&[0, 0]), [0x80, 1]);
    }
}

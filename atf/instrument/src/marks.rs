//! How the settings treat the functions of a module.

/// How the settings treat a function, as a set of bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Marks(u32);

impl Marks {
    /// No special treatment.
    pub(crate) const NONE: Self = Self(0);
    /// The function is not recorded.
    pub(crate) const LEFT_OUT: Self = Self(1);
    /// The function is recorded without details.
    pub(crate) const BARE: Self = Self(2);
    /// The function's calls may be triggers.
    pub(crate) const TRIGGER: Self = Self(4);

    /// Adds the marks in `other` if `is_so` is true.
    pub(crate) fn with(self, other: Self, is_so: bool) -> Self {
        Self(self.0 | if is_so { other.0 } else { 0 })
    }

    #[inline]
    pub(crate) fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// The functions of a recorded module.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Functions {
    /// No function has any marks.
    Alike,
    Marked(&'static MarkTable),
}

/// The functions with marks, by offset: a hash table with linear probing, at most half full.
#[derive(Debug)]
pub(crate) struct MarkTable {
    /// The length is a power of two. An entry without marks is free.
    entries: Box<[(u32, Marks)]>,
}

impl MarkTable {
    pub(crate) fn new(marked: &[(u32, Marks)]) -> Self {
        let size = marked.len().saturating_mul(2).max(2).next_power_of_two();
        let mut table = Self {
            entries: vec![(0, Marks::NONE); size].into(),
        };
        for (offset, marks) in marked {
            let place = table.place(*offset);
            if let Some(entry) = table.entries.get_mut(place) {
                *entry = (*offset, *marks);
            }
        }
        table
    }

    /// Returns the marks of the function that starts at an offset from its module's load address.
    #[inline]
    pub(crate) fn marks(&self, offset: u32) -> Marks {
        let entry = self.entries.get(self.place(offset));
        entry.map_or(Marks::NONE, |(_, marks)| *marks)
    }

    /// Returns a function's slot in the table, or the free slot where it would be inserted.
    #[inline]
    fn place(&self, offset: u32) -> usize {
        let mask = self.entries.len().wrapping_sub(1);
        // The upper bits of a product depend on all bits of both factors.
        let hash = u64::from(offset).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        #[allow(clippy::cast_possible_truncation, reason = "32 bits are left")]
        let mut place = hash as usize & mask;
        while let Some((found, marks)) = self.entries.get(place)
            && *marks != Marks::NONE
            && *found != offset
        {
            place = place.wrapping_add(1) & mask;
        }
        place
    }
}

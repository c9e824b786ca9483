//! Finds the functions of a module that the settings treat specially.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use atf_symbolize::SymbolTable;

use crate::aside;
use crate::modules::Loaded;
use crate::process::{Process, complain};
use crate::settings::Settings;

/// How the settings treat a function, as a set of bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Marks(u32);

impl Marks {
    /// No special treatment.
    pub(crate) const NONE: Self = Self(0);
    /// It is not recorded.
    pub(crate) const LEFT_OUT: Self = Self(1);
    /// It is recorded without details.
    pub(crate) const BARE: Self = Self(2);
    /// Its calls may be triggers.
    pub(crate) const TRIGGER: Self = Self(4);

    /// Adds marks if `is_so`.
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
    fn new(marked: &[(u32, Marks)]) -> Self {
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

    /// Returns a function's slot in the table, or the slot where it would go.
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

/// Determines which functions of a module have marks. Returns `None` if the module is not recorded.
pub(crate) fn of(module: &Loaded, process: &'static Process) -> Option<Functions> {
    let settings = &process.settings;
    if !settings.records(&module.path) {
        return None;
    }
    if !settings.marks_functions() {
        return Some(Functions::Alike);
    }
    let names = Arc::new(module.clone());
    let found = aside::run(move || marked(&names, settings));
    let path = &module.path;
    let failed = |why: &dyn fmt::Display| {
        complain(&format!(
            "{}: all its functions are recorded, as their names are not known: {why}",
            path.display()
        ));
        Some(Functions::Alike)
    };
    match found {
        Ok(Ok(marked)) if marked.is_empty() => Some(Functions::Alike),
        Ok(Ok(marked)) => Some(Functions::Marked(Box::leak(Box::new(MarkTable::new(
            &marked,
        ))))),
        Ok(Err(why)) => failed(&why),
        Err(why) => failed(&why),
    }
}

/// Returns the functions with marks, by offset.
fn marked(module: &Loaded, settings: &Settings) -> Result<Vec<(u32, Marks)>, String> {
    let path = module.path.to_str();
    let build_id = Some(module.build_id.as_str()).filter(|id| !id.is_empty());
    let found = settings.symbols.find(path, build_id);
    let Some((file, table)) = found.file else {
        let refused = found.refused.first().map(ToString::to_string);
        return Err(refused.unwrap_or_else(|| "the file is not there".to_owned()));
    };
    if settings.leaves_out() && !table.has_statics() {
        tell_of_statics(&file);
    }
    let mark = |function: atf_symbolize::Function<'_>| {
        let offset = u32::try_from(function.offset).ok()?;
        let marks = settings.marks(&function);
        (marks != Marks::NONE).then_some((offset, marks))
    };
    let marked = SymbolTable::functions(&table).filter_map(mark).collect();
    if table.gave_up() {
        return Err("a C++ name could not be demangled in time".to_owned());
    }
    Ok(marked)
}

fn tell_of_statics(file: &Path) {
    complain(&format!(
        "{} has no names for functions that it does not export; these are recorded",
        file.display()
    ));
}

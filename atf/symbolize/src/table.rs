//! The functions of one file.

use std::borrow::Cow;
use std::cell::Cell;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::rc::Rc;

use object::read::{FileKind, ReadCache, ReadRef as _};
use object::{Endianness, elf, macho};

use crate::debug_link::DebugLink;
use crate::demangle::{Budget, Demangler, Spawn, short, spawn};
use crate::error::{Error, ErrorKind, LIMIT};
use crate::file::{self, Fault, Parts, Raw, Symbol, limit, reserve};

/// The functions of an executable, a library, or a separate file with the debug information of
/// either.
///
/// Offsets are relative to the module's base address: the address of an ELF file's first loaded
/// segment, rounded down to a page of 4 KiB, or the address of `__TEXT` in a Mach-O file. In a
/// running program, the base address of an ELF module is `dlpi_addr` plus the segment's `p_vaddr`,
/// rounded down in the same way.
///
/// The names come from `.symtab`, which includes `static` functions, or else from `.dynsym` and the
/// `.symtab` in `.gnu_debugdata`. If an address has several names, the first rule that
/// distinguishes them decides: a name with a size before one without; global before local before
/// weak; fewer leading underscores (none, one, more); earlier in the file.
#[derive(Debug)]
pub struct SymbolTable {
    build_id: Option<String>,
    has_statics: bool,
    link: Option<DebugLink>,
    /// Ordered by their offsets; each one's `limit` is where it ends.
    functions: Vec<Symbol>,
    /// The functions' positions in `functions`, ordered by name.
    by_name: Vec<u32>,
    names: file::Names,
    demangler: Demangler,
}

/// A function of a [`SymbolTable`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Function<'a> {
    /// The offset of the function's first byte from the module's base address.
    pub offset: u64,
    /// The size of its code in bytes. Parts that the compiler moved elsewhere, such as `name.cold`,
    /// are separate functions.
    pub size: u64,
    /// The name in the file, without a version.
    pub raw_name: Cow<'a, str>,
}

/// The names of a function that a [`Filter`](crate::Filter) can match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Names {
    /// The name in the file, the demangled name and, in C++, the demangled name without return type
    /// and parameters.
    Known(Vec<String>),
    /// A mangled name that cannot be demangled.
    Mangled(String),
}

/// The functions of a [`SymbolTable`] that have the same name.
#[derive(Debug)]
pub struct Namesakes<'a> {
    table: &'a SymbolTable,
    places: &'a [u32],
}

impl Namesakes<'_> {
    /// Returns the offset and the size of each function.
    pub fn places(&self) -> impl Iterator<Item = (u64, u64)> {
        let functions = self.functions();
        functions.map(|it| (it.start, it.limit.saturating_sub(it.start)))
    }

    /// Returns the names that all of the functions have.
    #[must_use]
    pub fn names(&self) -> Names {
        let name = self.functions().next().map_or(0, |function| function.name);
        let raw = self.table.names.get(name);
        let demangled = self.table.demangler.demangle(&raw);
        if demangled.is_none() && Demangler::is_mangled(&raw) {
            return Names::Mangled(raw.into_owned());
        }
        let short = demangled.as_deref().and_then(short).map(str::to_owned);
        let names = [Some(raw.into_owned()), demangled, short];
        Names::Known(names.into_iter().flatten().collect())
    }

    fn functions(&self) -> impl Iterator<Item = &Symbol> {
        let places = self.places.iter();
        places.filter_map(|place| self.table.functions.get(usize::try_from(*place).ok()?))
    }
}

impl SymbolTable {
    /// Reads the functions of a file.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read, is not an ELF or Mach-O file, or is damaged. A file
    /// without functions is not an error.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::read_with(path.as_ref(), spawn, &Budget::new())
    }

    /// Like [`read`](Self::read), but with a given way to demangle.
    pub(crate) fn read_with(path: &Path, spawn: Spawn, budget: &Budget) -> Result<Self, Error> {
        let failed = |kind| Error::new(path, kind);
        let io = |error| failed(ErrorKind::Io(error));
        // Check first, because opening a pipe could block forever.
        if !fs::metadata(path).map_err(io)?.is_file() {
            return Err(failed(ErrorKind::NotAFile));
        }
        let cache = ReadCache::new(File::open(path).map_err(io)?);
        let size = (&cache).len().unwrap_or_default();
        let left = Cell::new(Some(limit(size)));
        let parts = Parts {
            cache: &cache,
            left: &left,
        };
        let demangler = Demangler::new(spawn, budget.clone());
        let table = raw(parts).and_then(|raw| match raw {
            Some(raw) => Self::new(raw, demangler).map(Some),
            None => Ok(None),
        });
        match table {
            Ok(Some(table)) => Ok(table),
            Ok(None) => Err(failed(ErrorKind::Universal)),
            Err(_) if left.get().is_none() && limit(size) == LIMIT => {
                Err(failed(ErrorKind::TooLarge))
            }
            Err(_) if left.get().is_none() => {
                let what = "its tables overlap".to_owned();
                Err(failed(ErrorKind::Malformed(what)))
            }
            Err(Fault::Malformed(what)) => Err(failed(ErrorKind::Malformed(what))),
            Err(Fault::Memory) => Err(io(io::ErrorKind::OutOfMemory.into())),
        }
    }

    fn new(raw: Raw, demangler: Demangler) -> Result<Self, Fault> {
        let Raw {
            build_id,
            has_statics,
            link,
            symbols: mut functions,
            names,
        } = raw;
        let underscores = |symbol: &Symbol| {
            let name = names.from(symbol.name).iter().take(2);
            name.take_while(|byte| **byte == b'_').count()
        };
        functions.sort_unstable_by_key(|symbol| {
            (
                symbol.start,
                symbol.size == 0,
                symbol.binding,
                underscores(symbol),
                symbol.position,
            )
        });
        functions.dedup_by_key(|symbol| symbol.start);
        let mut next = u64::MAX;
        for symbol in functions.iter_mut().rev() {
            symbol.limit = match symbol.size {
                0 => next.min(symbol.limit),
                size => symbol.start.saturating_add(size),
            };
            next = symbol.start;
        }
        let mut by_name = Vec::new();
        reserve(&mut by_name, functions.len())?;
        by_name.extend((0..).zip(&functions).map(|(place, _): (u32, _)| place));
        let name = |place: &u32| {
            let function = usize::try_from(*place).ok();
            let function = function.and_then(|place| functions.get(place));
            (function.map(|function| function.name), *place)
        };
        by_name.sort_unstable_by_key(name);
        Ok(Self {
            build_id: build_id.map(|id| id.iter().map(|byte| format!("{byte:02x}")).collect()),
            has_statics,
            link,
            functions,
            by_name,
            names,
            demangler,
        })
    }

    /// Returns the GNU build id or the Mach-O UUID, in lower-case hexadecimal without dashes.
    #[must_use]
    pub fn build_id(&self) -> Option<&str> {
        self.build_id.as_deref()
    }

    /// Returns the number of functions. A function with several names counts once.
    #[must_use]
    pub fn function_count(&self) -> usize {
        self.functions.len()
    }

    /// Returns whether the table includes functions that are not exported; a stripped file has
    /// none.
    #[must_use]
    pub fn has_statics(&self) -> bool {
        self.has_statics
    }

    /// Returns the demangled name of the function that contains the byte at `offset`. If functions
    /// overlap, only the one that starts at the highest offset is considered. Takes logarithmic time.
    #[must_use]
    pub fn name_at(&self, offset: u64) -> Option<String> {
        let (_, name) = self.names_at([offset]).next()?;
        Some(name.as_ref().to_owned())
    }

    /// Returns the offsets at which [`name_at`](Self::name_at) finds a name, each with the name, in
    /// no particular order. A name that several functions share is demangled and stored once.
    pub fn names_at(
        &self,
        offsets: impl IntoIterator<Item = u64>,
    ) -> impl Iterator<Item = (u64, Rc<str>)> {
        let found = offsets
            .into_iter()
            .filter_map(|offset| Some((self.covering(offset)?.name, offset)));
        let mut found: Vec<(u32, u64)> = found.collect();
        found.sort_unstable();
        let mut last: Option<(u32, Rc<str>)> = None;
        found.into_iter().map(move |(place, offset)| {
            let same = last.take().filter(|(other, _)| *other == place);
            let (_, name) = last.insert(same.unwrap_or_else(|| {
                let raw = self.names.get(place);
                let demangled = self.demangler.demangle(&raw);
                (place, demangled.map_or_else(|| raw.into(), Into::into))
            }));
            (offset, Rc::clone(name))
        })
    }

    fn covering(&self, offset: u64) -> Option<&Symbol> {
        let after = self.functions.partition_point(|it| it.start <= offset);
        let function = self.functions.get(after.checked_sub(1)?)?;
        (offset < function.limit).then_some(function)
    }

    /// Returns whether demangling a C++ name took too long. In that case, that name and all later
    /// C++ names stay mangled.
    #[must_use]
    pub fn gave_up(&self) -> bool {
        self.demangler.gave_up()
    }

    /// Returns all functions in the order of their offsets, each with a single name.
    pub fn functions(&self) -> impl Iterator<Item = Function<'_>> {
        self.functions.iter().map(|function| Function {
            offset: function.start,
            size: function.limit.saturating_sub(function.start),
            raw_name: self.names.get(function.name),
        })
    }

    /// Returns the functions by name, so that a name that many functions share is demangled and
    /// compared only once.
    pub fn namesakes(&self) -> impl Iterator<Item = Namesakes<'_>> {
        let name = |place: &u32| {
            let place = usize::try_from(*place).ok();
            place
                .and_then(|place| self.functions.get(place))
                .map(|it| it.name)
        };
        let groups = self
            .by_name
            .chunk_by(move |one, other| name(one) == name(other));
        groups.map(|places| Namesakes {
            table: self,
            places,
        })
    }

    pub(crate) fn link(&self) -> Option<&DebugLink> {
        self.link.as_ref()
    }

    /// Returns about how much memory the table takes, in bytes.
    pub(crate) fn memory(&self) -> usize {
        let functions = self.functions.len().saturating_mul(size_of::<Symbol>());
        functions.saturating_add(self.names.size())
    }
}

fn raw(parts: Parts<'_>) -> Result<Option<Raw>, Fault> {
    match FileKind::parse(parts)? {
        FileKind::Elf32 => crate::elf::read::<elf::FileHeader32<Endianness>>(parts),
        FileKind::Elf64 => crate::elf::read::<elf::FileHeader64<Endianness>>(parts),
        FileKind::MachO32 => crate::macho::read::<macho::MachHeader32<Endianness>>(parts),
        FileKind::MachO64 => crate::macho::read::<macho::MachHeader64<Endianness>>(parts),
        _ => return Ok(None),
    }
    .map(Some)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use atf_samples::files::ElfFile;

    use super::SymbolTable;

    #[test]
    fn a_name_that_many_functions_share_is_kept_and_demangled_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program");
        // The longest name that is read.
        let name = format!("_Z65527{}v", "f".repeat(65_527));
        let file = ElfFile {
            functions: (0..100_000).map(|place| (place, 1)).collect(),
            strings: format!("\0{name}\0_Z1gv\0").into_bytes(),
            ..ElfFile::default()
        };
        fs::write(&path, file.bytes()).unwrap();
        let table = SymbolTable::read(&path).unwrap();
        assert_eq!(table.function_count(), 100_000);
        assert_eq!(table.names.size(), name.len() + 1);
        let groups: Vec<_> = table.namesakes().map(|it| it.places().count()).collect();
        assert_eq!(groups, [100_000]);
        let mut names = table.names_at(0..100_000);
        let (_, first) = names.next().unwrap();
        assert!(names.all(|(_, other)| std::ptr::eq(&*first, &*other)));
    }
}

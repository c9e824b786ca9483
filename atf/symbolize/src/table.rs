//! The functions of one file.

use std::borrow::Cow;
use std::cell::Cell;
use std::fs::{self, File};
use std::path::Path;

use object::read::{FileKind, ReadCache};
use object::{Endianness, elf, macho};

use crate::demangle::{Demangler, Spawn, short, spawn};
use crate::error::{Error, ErrorKind};
use crate::file::{Fault, LIMIT, Parts, Raw, Symbol};

/// The maximum length of a name in bytes; longer names are ignored.
const LONGEST: usize = 1 << 16;

/// The functions of an executable, a library, or a separate file with the debug information of
/// either.
///
/// Offsets are relative to the module's base address: the address of an ELF file's first loaded
/// segment, rounded down to a page of 4 KiB, or the address of `__TEXT` in a Mach-O file. In a
/// running program, the base address of an ELF module is `dlpi_addr` plus the segment's `p_vaddr`,
/// likewise rounded down.
///
/// The names come from `.symtab`, which includes `static` functions, or else from `.dynsym`. If an
/// address has several names, the first rule that distinguishes them decides: a name with a size
/// before one without; global before local before weak; fewer leading underscores (none, one,
/// more); earlier in the file.
#[derive(Debug)]
pub struct SymbolTable {
    build_id: Option<String>,
    has_statics: bool,
    functions: Vec<Entry>,
    strings: Vec<u8>,
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
    demangler: &'a Demangler,
}

impl Function<'_> {
    /// Returns the names that a [`Filter`](crate::Filter) can match: the name in the file, the
    /// demangled name and, in C++, the demangled name without return type and parameters.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let demangled = self.demangler.demangle(&self.raw_name);
        let short = demangled.as_deref().and_then(short).map(str::to_owned);
        let names = [Some(self.raw_name.to_string()), demangled, short];
        names.into_iter().flatten().collect()
    }
}

#[derive(Debug)]
struct Entry {
    start: u64,
    end: u64,
    /// The name's offset in the table's strings.
    name: u32,
}

impl SymbolTable {
    /// Reads the functions of a file.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read, is not an ELF or Mach-O file, or is damaged. A file
    /// without functions is not an error.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::read_with(path.as_ref(), spawn)
    }

    /// Like [`read`](Self::read), but demangles on a thread that `spawn` starts.
    pub(crate) fn read_with(path: &Path, spawn: Spawn) -> Result<Self, Error> {
        let failed = |kind| Error::new(path, kind);
        let io = |error| failed(ErrorKind::Io(error));
        // Check first, because opening a pipe could block forever.
        if !fs::metadata(path).map_err(io)?.is_file() {
            return Err(failed(ErrorKind::NotAFile));
        }
        let cache = ReadCache::new(File::open(path).map_err(io)?);
        let left = Cell::new(Some(LIMIT));
        let parts = Parts {
            cache: &cache,
            left: &left,
        };
        match raw(parts) {
            Ok(Some(raw)) => Ok(Self::new(raw, spawn)),
            Ok(None) => Err(failed(ErrorKind::Universal)),
            Err(_) if left.get().is_none() => Err(failed(ErrorKind::TooLarge)),
            Err(error) => Err(failed(ErrorKind::Malformed(error.0))),
        }
    }

    fn new(raw: Raw, spawn: Spawn) -> Self {
        let Raw {
            build_id,
            has_statics,
            mut symbols,
            strings,
        } = raw;
        symbols.retain(|symbol| name(&strings, symbol.name).is_some());
        let underscores = |symbol: &Symbol| {
            let name = name(&strings, symbol.name).unwrap_or_default();
            name.iter()
                .take(2)
                .take_while(|byte| **byte == b'_')
                .count()
        };
        symbols.sort_by_cached_key(|symbol| {
            (
                symbol.start,
                symbol.size == 0,
                symbol.binding,
                underscores(symbol),
            )
        });
        symbols.dedup_by_key(|symbol| symbol.start);
        let nexts = symbols.iter().skip(1).map(|next| next.start);
        let nexts = nexts.chain([u64::MAX]);
        let functions = symbols.iter().zip(nexts).map(|(symbol, next)| Entry {
            start: symbol.start,
            end: match symbol.size {
                0 => next.min(symbol.limit),
                size => symbol.start.saturating_add(size),
            },
            name: symbol.name,
        });
        Self {
            build_id: build_id.map(|id| id.iter().map(|byte| format!("{byte:02x}")).collect()),
            has_statics,
            functions: functions.collect(),
            strings,
            demangler: Demangler::new(spawn),
        }
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
        let after = self
            .functions
            .partition_point(|function| function.start <= offset);
        let function = self.functions.get(after.checked_sub(1)?)?;
        if offset >= function.end {
            return None;
        }
        let name = self.raw_name(function)?;
        let demangled = self.demangler.demangle(&name);
        Some(demangled.unwrap_or_else(|| name.into_owned()))
    }

    /// Returns whether demangling a C++ name took too long. In that case, that name and all later
    /// C++ names stay mangled.
    #[must_use]
    pub fn gave_up(&self) -> bool {
        self.demangler.gave_up()
    }

    /// Returns all functions in the order of their offsets, each with a single name.
    pub fn functions(&self) -> impl Iterator<Item = Function<'_>> {
        self.functions.iter().filter_map(|function| {
            Some(Function {
                offset: function.start,
                size: function.end.saturating_sub(function.start),
                raw_name: self.raw_name(function)?,
                demangler: &self.demangler,
            })
        })
    }

    fn raw_name(&self, function: &Entry) -> Option<Cow<'_, str>> {
        let name = name(&self.strings, function.name)?;
        // A library with symbol versions has `name@@VERSION`.
        let end = name.iter().skip(1).position(|byte| *byte == b'@');
        let end = end.map_or(name.len(), |end| end.saturating_add(1));
        Some(String::from_utf8_lossy(name.get(..end)?))
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

/// Returns the name at an offset, if it is not empty and ends with a zero byte.
fn name(strings: &[u8], offset: u32) -> Option<&[u8]> {
    let rest = strings.get(usize::try_from(offset).ok()?..)?;
    let size = rest.iter().take(LONGEST).position(|byte| *byte == 0)?;
    rest.get(..size).filter(|name| !name.is_empty())
}

//! ELF files.

use std::io::{self, Read as _};

use lzma_rust2::XzReader;
use object::elf;
use object::read::ReadRef;
use object::read::elf::{
    FileHeader, NoteIterator, ProgramHeader, SectionHeader, SectionTable, Sym,
};
use object::{Endianness, SectionIndex};

use crate::debug_link::DebugLink;
use crate::file::{Binding, Fault, Parts, Raw, Symbol, reserve};

/// The page size to which the base address is rounded down.
const PAGE: u64 = 0x1000;

/// The maximum size of the file in `.gnu_debugdata`: 256 MiB. Decompressing 100 MiB takes about a
/// second.
const LARGEST: usize = 256 << 20;

/// The maximum ratio of that file's size to the section's size. Symbol tables reach about 10, files
/// of zeros 7000.
const RATIO: usize = 100;

/// The memory in KiB that the decompressor may take: twice what `xz -9` needs.
const MEMORY: u32 = 128 << 10;

pub(crate) fn read<Elf: FileHeader<Endian = Endianness>>(data: Parts<'_>) -> Result<Raw, Fault> {
    let header = Elf::parse(data)?;
    let endian = header.endian()?;
    let segments = header.program_headers(endian, data)?;
    let sections = header.sections(endian, data)?;
    let mut loaded = Vec::new();
    for segment in segments {
        if segment.p_type(endian) == elf::PT_LOAD {
            let start: u64 = segment.p_vaddr(endian).into();
            reserve(&mut loaded, 1)?;
            loaded.push((start, start.saturating_add(segment.p_memsz(endian).into())));
        }
    }
    loaded.sort_unstable();
    if loaded.is_empty() {
        return Err(Fault::new(
            "no segment is loaded: neither a program nor a shared library",
        ));
    }
    let mut raw = Raw::new(build_id::<Elf>(endian, segments, &sections, data));
    let names = header.section_strings_index(endian, data)?;
    let section = |name: &[u8]| section::<Elf>(endian, &sections, names, data, name);
    raw.link = section(b".gnu_debuglink\0").and_then(|link| DebugLink::decode(endian, link));
    functions::<Elf, _>(data, elf::SHT_SYMTAB, &loaded, &mut raw)?;
    raw.has_statics = !raw.symbols.is_empty();
    if !raw.has_statics {
        functions::<Elf, _>(data, elf::SHT_DYNSYM, &loaded, &mut raw)?;
        if let Some(packed) = section(b".gnu_debugdata\0") {
            mini::<Elf>(packed, &loaded, &mut raw)?;
        }
    }
    Ok(raw)
}

/// Adds the functions in `.gnu_debugdata`: a compressed ELF file with a `.symtab` of the functions
/// missing from `.dynsym`.
fn mini<Elf: FileHeader<Endian = Endianness>>(
    packed: &[u8],
    loaded: &[(u64, u64)],
    raw: &mut Raw,
) -> Result<(), Fault> {
    let in_it = |fault| match fault {
        Fault::Malformed(what) => Fault::Malformed(format!(".gnu_debugdata: {what}")),
        Fault::Memory => Fault::Memory,
    };
    let file = unpack(packed).map_err(in_it)?;
    let before = raw.symbols.len();
    functions::<Elf, _>(&*file, elf::SHT_SYMTAB, loaded, raw).map_err(in_it)?;
    raw.has_statics = raw.symbols.len() > before;
    Ok(())
}

/// Decompresses the file in `.gnu_debugdata`.
fn unpack(packed: &[u8]) -> Result<Vec<u8>, Fault> {
    let limit = LARGEST.min(packed.len().saturating_mul(RATIO));
    let reader = XzReader::new_mem_limit(packed, false, MEMORY);
    let mut reader = reader.take((limit as u64).saturating_add(1));
    let mut file = Vec::new();
    match reader.read_to_end(&mut file) {
        Ok(size) if size <= limit => Ok(file),
        Ok(_) => Err(Fault::Malformed(format!(
            "decompresses to more than {limit} bytes"
        ))),
        Err(error) if error.kind() == io::ErrorKind::OutOfMemory => Err(Fault::Memory),
        Err(error) => Err(Fault::Malformed(error.to_string())),
    }
}

/// Adds the functions in an ELF file's table of this type. Addresses outside the loaded segments
/// are skipped; the first segment's page is the base address.
fn functions<'a, Elf: FileHeader<Endian = Endianness>, R: ReadRef<'a>>(
    data: R,
    kind: elf::SectionType,
    loaded: &[(u64, u64)],
    raw: &mut Raw,
) -> Result<(), Fault> {
    let header = Elf::parse(data)?;
    let endian = header.endian()?;
    let sections = header.sections(endian, data)?;
    let base = loaded.first().map_or(0, |(first, _)| first & !(PAGE - 1));
    let table = sections.symbols(endian, data, kind)?;
    let mut found = Vec::new();
    for symbol in table.iter() {
        let is_function = matches!(symbol.st_type(), elf::STT_FUNC | elf::STT_GNU_IFUNC);
        if !is_function || symbol.is_undefined(endian) || symbol.is_absolute(endian) {
            continue;
        }
        let mut address: u64 = symbol.st_value(endian).into();
        if header.e_machine(endian) == elf::EM_ARM {
            // The lowest bit marks Thumb code.
            address &= !1;
        }
        let after = loaded.partition_point(|(start, _)| *start <= address);
        let segment = after.checked_sub(1).and_then(|place| loaded.get(place));
        let Some((_, end)) = segment.filter(|(_, end)| address < *end) else {
            continue;
        };
        reserve(&mut found, 1)?;
        found.push(Symbol {
            start: address.saturating_sub(base),
            size: symbol.st_size(endian).into(),
            limit: end.saturating_sub(base),
            binding: match symbol.st_bind() {
                elf::STB_LOCAL => Binding::Local,
                elf::STB_WEAK => Binding::Weak,
                _ => Binding::Global,
            },
            name: symbol.st_name(endian),
            has_name: true,
            position: 0,
        });
    }
    if found.is_empty() {
        return Ok(());
    }
    let strings = sections.section(table.string_section())?;
    raw.add(found, strings.data(endian, data)?)
}

/// Returns the contents of the first section of this name, which includes its zero byte. The whole
/// name table is read at once: reading each section's name separately would take 4 KiB per section.
fn section<'a, Elf: FileHeader<Endian = Endianness>>(
    endian: Endianness,
    sections: &SectionTable<'a, Elf, Parts<'a>>,
    names: SectionIndex,
    data: Parts<'a>,
    name: &[u8],
) -> Option<&'a [u8]> {
    let names = sections.section(names).ok()?.data(endian, data).ok()?;
    let found = sections.iter().find(|section| {
        let place = usize::try_from(section.sh_name(endian)).ok();
        let rest = place.and_then(|place| names.get(place..));
        rest.is_some_and(|rest| rest.starts_with(name))
    });
    found?.data(endian, data).ok()
}

/// Finds the build id in the note sections or, without sections, in the segments. Damaged notes are
/// skipped.
fn build_id<'a, Elf: FileHeader<Endian = Endianness>>(
    endian: Endianness,
    segments: &[Elf::ProgramHeader],
    sections: &SectionTable<'a, Elf, Parts<'a>>,
    data: Parts<'a>,
) -> Option<Vec<u8>> {
    let id = |mut notes: NoteIterator<'a, Elf>| {
        while let Ok(Some(note)) = notes.next() {
            if note.name() == elf::ELF_NOTE_GNU && note.n_type(endian) == elf::NT_GNU_BUILD_ID {
                return Some(note.desc().to_vec());
            }
        }
        None
    };
    let in_sections = sections
        .iter()
        .filter_map(|section| section.notes(endian, data).ok()?);
    let in_segments = segments
        .iter()
        .filter_map(|segment| segment.notes(endian, data).ok()?);
    in_sections.chain(in_segments).find_map(id)
}

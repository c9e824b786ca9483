//! ELF files.

use object::Endianness;
use object::elf;
use object::read::elf::{
    FileHeader, NoteIterator, ProgramHeader, SectionHeader, SectionTable, Sym,
};

use crate::file::{Binding, Fault, Parts, Raw, Symbol};

/// The page size to which the base address is rounded down.
const PAGE: u64 = 0x1000;

pub(crate) fn read<Elf: FileHeader<Endian = Endianness>>(data: Parts<'_>) -> Result<Raw, Fault> {
    let header = Elf::parse(data)?;
    let endian = header.endian()?;
    let segments = header.program_headers(endian, data)?;
    let sections = header.sections(endian, data)?;
    let mut loaded: Vec<(u64, u64)> = segments
        .iter()
        .filter(|segment| segment.p_type(endian) == elf::PT_LOAD)
        .map(|segment| {
            let start: u64 = segment.p_vaddr(endian).into();
            (start, start.saturating_add(segment.p_memsz(endian).into()))
        })
        .collect();
    loaded.sort_unstable();
    let Some((first, _)) = loaded.first() else {
        return Err(Fault::new(
            "no segment is loaded: neither a program nor a shared library",
        ));
    };
    let base = first & !(PAGE - 1);
    let mut raw = Raw {
        build_id: build_id::<Elf>(endian, segments, &sections, data),
        has_statics: false,
        symbols: Vec::new(),
        strings: Vec::new(),
    };
    for kind in [elf::SHT_SYMTAB, elf::SHT_DYNSYM] {
        let table = sections.symbols(endian, data, kind)?;
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
            raw.symbols.push(Symbol {
                start: address.saturating_sub(base),
                size: symbol.st_size(endian).into(),
                limit: end.saturating_sub(base),
                binding: match symbol.st_bind() {
                    elf::STB_LOCAL => Binding::Local,
                    elf::STB_WEAK => Binding::Weak,
                    _ => Binding::Global,
                },
                name: symbol.st_name(endian),
            });
        }
        if !raw.symbols.is_empty() {
            let strings = sections.section(table.string_section())?;
            raw.strings = strings.data(endian, data)?.to_vec();
            raw.has_statics = kind == elf::SHT_SYMTAB;
            break;
        }
    }
    Ok(raw)
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

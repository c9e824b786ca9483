//! Mach-O files for a single architecture.

use object::Endianness;
use object::macho;
use object::read::ReadRef;
use object::read::macho::{MachHeader, Nlist, Section, Segment};

use crate::file::{Binding, Fault, Parts, Raw, Symbol, reserve};

/// The maximum number of sections that symbols can refer to.
const MOST_SECTIONS: usize = 255;

pub(crate) fn read<Mach: MachHeader<Endian = Endianness>>(data: Parts<'_>) -> Result<Raw, Fault> {
    let header = Mach::parse(data, 0)?;
    let endian = header.endian()?;
    let mut base = None;
    let mut table = None;
    let mut build_id = None;
    // Each section's start and end address, if it contains code. Symbols number sections from 1.
    let mut sections: Vec<Option<(u64, u64)>> = Vec::new();
    let mut commands = header.load_commands(endian, data, 0)?;
    while let Some(command) = commands.next()? {
        if let Some((segment, rest)) = Mach::Segment::from_command(command)? {
            if segment.name() == b"__TEXT" {
                base = Some(segment.vmaddr(endian).into());
            }
            let free = MOST_SECTIONS.saturating_sub(sections.len());
            for section in segment.sections(endian, rest)?.iter().take(free) {
                let start: u64 = section.addr(endian).into();
                let flags = section.flags(endian).0;
                let code = macho::S_ATTR_PURE_INSTRUCTIONS.0 | macho::S_ATTR_SOME_INSTRUCTIONS.0;
                let end = start.saturating_add(section.size(endian).into());
                sections.push((flags & code != 0).then_some((start, end)));
            }
        } else if let Some(found) = command.symtab()? {
            table = Some(found);
        } else if let Some(found) = command.uuid()? {
            build_id = Some(found.uuid.to_vec());
        }
    }
    let base: u64 = base.ok_or_else(|| Fault::new("no segment __TEXT"))?;
    let mut raw = Raw::new(build_id);
    raw.has_statics = true;
    let Some(table) = table else {
        return Ok(raw);
    };
    let (offset, size) = (table.stroff.get(endian), table.strsize.get(endian));
    let strings = data.read_bytes_at(offset.into(), size.into());
    let strings = strings.map_err(|()| Fault::new("its string table is outside the file"))?;
    let symbols = table.symbols::<Mach, _>(endian, data)?;
    let mut functions = Vec::new();
    for symbol in symbols.iter() {
        let place = usize::from(symbol.n_sect()).checked_sub(1);
        let section = place.and_then(|place| sections.get(place).copied().flatten());
        let address: u64 = symbol.n_value(endian).into();
        let Some((start, end)) = section.filter(|_| symbol.is_definition()) else {
            continue;
        };
        // The file's header also has a symbol, but the header is not in a section.
        if address < start.max(base) || address >= end {
            continue;
        }
        let is_weak = symbol.n_desc(endian).0 & macho::N_WEAK_DEF.0 != 0;
        reserve(&mut functions, 1)?;
        functions.push(Symbol {
            start: address.saturating_sub(base),
            size: 0,
            limit: end.saturating_sub(base),
            binding: match (symbol.n_type().is_ext(), is_weak) {
                (false, _) => Binding::Local,
                (true, false) => Binding::Global,
                (true, true) => Binding::Weak,
            },
            name: without_prefix(strings, symbol.n_strx(endian)),
            has_name: true,
            position: 0,
        });
    }
    raw.add(functions, strings)?;
    Ok(raw)
}

/// Skips the `_` before each C name.
fn without_prefix(strings: &[u8], name: u32) -> u32 {
    let first = usize::try_from(name)
        .ok()
        .and_then(|name| strings.get(name));
    name.saturating_add(u32::from(first == Some(&b'_')))
}

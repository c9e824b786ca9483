//! ELF files with symbols.

use super::Bytes;

/// A 64-bit program with functions of one byte.
#[derive(Debug, Clone, Default)]
pub struct ElfFile {
    /// Each function's offset from the base address, and its name's offset in `strings`.
    pub functions: Vec<(u64, u32)>,
    /// The names, each followed by a zero byte.
    pub strings: Vec<u8>,
    /// Additional sections.
    pub sections: Vec<(&'static str, Vec<u8>)>,
}

impl ElfFile {
    /// Returns the file's bytes: headers, the sections' contents, the sections' headers. A segment
    /// of 1 GiB begins at address 0.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        const START: usize = 64 + 56;
        let mut symbols = Bytes(vec![0; 24]);
        for (offset, name) in &self.functions {
            // A global function in section 1.
            symbols.u32(*name).raw(&[0x12, 0]).u16(1);
            symbols.u64(*offset).u64(1);
        }
        let mut all = vec![("", 0, &[][..]), (".symtab", 2, &symbols.0)];
        all.push((".strtab", 3, &self.strings));
        all.extend(
            self.sections
                .iter()
                .map(|(name, bytes)| (*name, 1, &bytes[..])),
        );
        let names: Vec<u8> = all.iter().flat_map(|it| it.0.bytes().chain([0])).collect();
        all.push(("", 3, &names));
        let (mut headers, mut data, mut name) = (Bytes::default(), Bytes::default(), 0);
        for (text, kind, bytes) in &all {
            let offset = START + data.0.len();
            headers.u32(name).u32(*kind).u64(0).u64(0);
            headers.u64(offset as u64).u64(bytes.len() as u64);
            // The symbols' names are in section 2. A symbol has 24 bytes.
            let [link, entry] = if *kind == 2 { [2, 24] } else { [0, 0] };
            headers.u32(link).u32(0).u64(1).u64(entry.into());
            data.raw(bytes);
            name += u32::try_from(text.len() + 1).expect("a short name");
        }
        let count = u16::try_from(all.len()).expect("few sections");
        let mut file = Bytes(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec());
        file.u16(2).u16(62).u32(1).u64(0).u64(64);
        file.u64((START + data.0.len()) as u64).u32(0).u16(64);
        file.u16(56).u16(1).u16(64).u16(count).u16(count - 1);
        // The segment: loaded, readable, executable, without contents.
        file.u32(1).u32(5).u64(0).u64(0).u64(0).u64(0);
        file.u64(1 << 30).u64(0x1000);
        file.raw(&data.0).raw(&headers.0);
        file.0
    }
}

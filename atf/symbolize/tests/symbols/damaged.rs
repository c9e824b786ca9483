//! Tests Mach-O files written by hand, and damaged files.

use std::fs;
use std::path::Path;

use atf_symbolize::{ErrorKind, SymbolTable};

/// A little-endian Mach-O program with three functions, a variable and a symbol for its header.
fn macho() -> Vec<u8> {
    fn name16(name: &str) -> Vec<u8> {
        let mut bytes = name.as_bytes().to_vec();
        bytes.resize(16, 0);
        bytes
    }
    fn u32s(numbers: &[u32]) -> Vec<u8> {
        numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
    }
    fn u64s(numbers: &[u64]) -> Vec<u8> {
        numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
    }
    let names = b"\0__Z4areai\0_main\0_late\0_data\0__mh_execute_header\0";
    let commands_size = 72 + 2 * 80 + 24 + 24;
    let mut file = u32s(&[0xfeed_facf, 0x0100_0007, 3, 2, 3, commands_size, 0, 0]);
    // LC_SEGMENT_64: address and size in memory, offset and size in the file, protections, 2
    // sections.
    file.extend(u32s(&[0x19, 72 + 2 * 80]));
    file.extend(name16("__TEXT"));
    file.extend(u64s(&[0x1_0000_0000, 0x4000, 0, 0x4000]));
    file.extend(u32s(&[5, 5, 2, 0]));
    for (name, address, size, flags) in [
        ("__text", 0x1_0000_1000, 0x100, 0x8000_0400),
        ("__const", 0x1_0000_2000, 0x100, 0),
    ] {
        file.extend(name16(name));
        file.extend(name16("__TEXT"));
        file.extend(u64s(&[address, size]));
        file.extend(u32s(&[0x1000, 4, 0, 0, flags, 0, 0, 0]));
    }
    // LC_UUID; LC_SYMTAB: 5 symbols of 16 bytes after the commands, then the names.
    file.extend(u32s(&[0x1b, 24]));
    file.extend(1..=16);
    let symbols = 32 + commands_size;
    file.extend(u32s(&[
        2,
        24,
        symbols,
        5,
        symbols + 5 * 16,
        u32::try_from(names.len()).unwrap(),
    ]));
    for (name, flags, section, address) in [
        (1, 0x0f, 1, 0x1_0000_1010_u64),
        (11, 0x0f, 1, 0x1_0000_1000),
        (17, 0x0e, 1, 0x1_0000_1080),
        (23, 0x0f, 2, 0x1_0000_2000),
        (29, 0x0f, 1, 0x1_0000_0000),
    ] {
        file.extend(u32s(&[name]));
        file.extend([flags, section, 0, 0]);
        file.extend(u64s(&[address]));
    }
    file.extend(names);
    file
}

#[test]
fn offsets_in_a_macho_file_are_relative_to_its_text_segment() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("program");
    fs::write(&path, macho()).unwrap();
    let table = SymbolTable::read(&path).unwrap();
    assert_eq!(table.build_id(), Some("0102030405060708090a0b0c0d0e0f10"));
    assert_eq!(table.function_count(), 3);
    for (offset, name) in [
        (0, None),
        (0x0fff, None),
        (0x1000, Some("main")),
        (0x100f, Some("main")),
        (0x1010, Some("area(int)")),
        (0x1080, Some("late")),
        (0x10ff, Some("late")),
        (0x1100, None),
        (0x2000, None),
    ] {
        assert_eq!(table.name_at(offset).as_deref(), name, "at {offset:#x}");
    }
}

#[test]
fn files_that_are_not_programs_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let kind = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        SymbolTable::read(&path).unwrap_err().to_string()
    };
    assert!(kind(b"").ends_with("file: Could not read file magic"));
    assert!(kind(b"#!/bin/sh\necho hello\n").ends_with("file: Unknown file magic"));
    assert!(kind(&[&b"\xca\xfe\xba\xbe"[..], &[0; 60]].concat()).contains("lipo"));
    let folder = SymbolTable::read(folder.path()).unwrap_err();
    assert!(matches!(folder.kind(), ErrorKind::NotAFile));
    let missing = SymbolTable::read(path.join("x")).unwrap_err();
    assert!(matches!(missing.kind(), ErrorKind::Io(_)));
}

#[test]
fn tables_larger_than_the_limit_are_refused_before_they_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("program");
    let mut bytes = macho();
    let symtab = 32 + 72 + 2 * 80 + 24;
    bytes[symtab + 20..symtab + 24].copy_from_slice(&u32::MAX.to_le_bytes());
    fs::write(&path, &bytes).unwrap();
    let outside = SymbolTable::read(&path).unwrap_err();
    assert!(
        matches!(outside.kind(), ErrorKind::Malformed(_)),
        "{outside}"
    );
    // Add a hole of 5 GiB.
    fs::File::options()
        .write(true)
        .open(&path)
        .unwrap()
        .set_len(5 << 30)
        .unwrap();
    let large = SymbolTable::read(&path).unwrap_err();
    assert!(matches!(large.kind(), ErrorKind::TooLarge), "{large}");
}

/// Reads a damaged file and looks up names, which must not panic. Returns whether the file could be
/// read.
fn look(path: &Path, bytes: &[u8]) -> bool {
    fs::write(path, bytes).unwrap();
    let table = SymbolTable::read(path);
    if let Ok(table) = &table {
        for offset in (0..0x4000).step_by(0x35).chain([u64::MAX]) {
            assert_ne!(table.name_at(offset).as_deref(), Some(""));
        }
    }
    table.is_ok()
}

#[test]
fn truncated_and_changed_files_yield_errors_or_names_without_a_panic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let mut files = vec![macho()];
    if super::has("cc") {
        let library = super::compile("a.so", &["-shared", "-fPIC", "-DLIBRARY", "-s"], path);
        files.push(fs::read(library).unwrap());
        let program = super::compile("a", &["-no-pie"], path);
        files.push(fs::read(program).unwrap());
    }
    let damaged = path.join("damaged");
    let mut seed = 1_u64;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(seed >> 33).unwrap() % below
    };
    for file in files {
        assert!(look(&damaged, &file));
        for _ in 0..200 {
            look(&damaged, &file[..random(file.len())]);
        }
        let (mut good, mut bad) = (0, 0);
        for round in 0..2000 {
            let mut bytes = file.clone();
            for _ in 0..=round % 4 {
                // Most of the structures are in the first and the last 2 KiB.
                let near = random(file.len().min(2048));
                let place = [near, file.len() - 1 - near, random(file.len())][random(3)];
                bytes[place] ^= 1 << random(8);
            }
            *if look(&damaged, &bytes) {
                &mut good
            } else {
                &mut bad
            } += 1;
        }
        assert!(good > 20 && bad > 20, "{good} read, {bad} refused");
    }
}

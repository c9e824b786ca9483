//! Tests function names in files built by the system's compiler, at offsets that the running
//! programs computed, and in damaged files.

#![cfg(target_os = "linux")]

mod damaged;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use atf_samples::tools::has;
use atf_symbolize::{ErrorKind, Function, Search, SymbolTable};

#[track_caller]
fn run(program: &str, arguments: &[&str], folder: &Path) -> String {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{program} {arguments:?}: {messages}"
    );
    String::from_utf8(output.stdout).unwrap()
}

fn source(name: &str) -> String {
    format!("{}/tests/symbols/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Compiles the C program as `name`.
#[track_caller]
fn compile(name: &str, options: &[&str], folder: &Path) -> PathBuf {
    let source = source("program.c");
    let fixed = ["-O1", "-Wl,--build-id=sha1", "-o", name, &source];
    run("cc", &[&fixed, options].concat(), folder);
    folder.join(name)
}

/// Moves the symbols of `program` to a debug file, and links to it.
#[track_caller]
fn split(debug: &str, folder: &Path) {
    let link = format!("--add-gnu-debuglink={debug}");
    for (tool, arguments) in [
        ("objcopy", &["--only-keep-debug", "program", debug][..]),
        ("strip", &["program"]),
        ("objcopy", &[&link, "program"]),
    ] {
        run(tool, arguments, folder);
    }
}

/// Returns the offsets and names that a program prints.
fn printed(text: &str) -> Vec<(u64, &str)> {
    let lines = text.lines().map(|line| line.split_once(' ').unwrap());
    lines
        .map(|(offset, name)| (u64::from_str_radix(offset, 16).unwrap(), name))
        .collect()
}

#[track_caller]
fn check(table: &SymbolTable, expected: &[(u64, &str)]) {
    for (offset, name) in expected {
        let found = table.name_at(*offset);
        assert_eq!(found.as_deref(), Some(*name), "at {offset:#x}");
    }
}

#[test]
fn running_functions_are_named_in_each_kind_of_program_and_library() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    if !has("cc") {
        return;
    }
    for (name, options) in [
        ("pie", &["-fPIE", "-pie"][..]),
        ("fixed", &["-no-pie"]),
        ("static", &["-static", "-no-pie"]),
        ("static-pie", &["-static-pie"]),
    ] {
        let program = compile(name, options, path);
        let text = run(&format!("./{name}"), &[], path);
        let expected = printed(&text);
        assert_eq!(expected.len(), 6, "{text}");
        let table = SymbolTable::read(&program).unwrap();
        assert!(table.has_statics());
        check(&table, &expected);
        for (offset, name) in &expected {
            let covers = |function: &Function<'_>| {
                (function.offset..function.offset + function.size).contains(offset)
            };
            let function = table.functions().find(covers).unwrap();
            assert_eq!(function.raw_name, *name);
        }
        assert_eq!(table.name_at(0), None);
        assert_eq!(table.name_at(u64::MAX), None);
        assert_eq!(table.build_id().unwrap().len(), 40);
    }
}

#[test]
fn a_stripped_library_has_exported_functions_and_its_debug_file_has_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    if !has("cc") || !has("objcopy") || !has("strip") {
        return;
    }
    let library = compile(
        "liba.so",
        &["-shared", "-fPIC", "-DLIBRARY", "-Wl,-Bsymbolic"],
        path,
    );
    compile(
        "user",
        &["-Wl,--no-as-needed", "-L.", "-la", "-Wl,-rpath,$ORIGIN"],
        path,
    );
    let text = run("./user", &[], path);
    let expected = &printed(&text)[..5];
    let whole = SymbolTable::read(&library).unwrap();
    check(&whole, expected);
    let id = whole.build_id().unwrap().to_owned();
    let debug = path.join(format!("debug/.build-id/{}/{}.debug", &id[..2], &id[2..]));
    fs::create_dir_all(debug.parent().unwrap()).unwrap();
    run(
        "objcopy",
        &["--only-keep-debug", "liba.so", debug.to_str().unwrap()],
        path,
    );
    run("strip", &["liba.so"], path);

    let stripped = SymbolTable::read(&library).unwrap();
    assert!(!stripped.has_statics());
    assert_eq!(stripped.name_at(expected[0].0), None);
    check(&stripped, &expected[1..]);

    // The search prefers the file with all functions.
    let name = library.to_str();
    let (found, _) = Search::new([]).find(name, Some(&id));
    assert_eq!(found.path.unwrap(), library);
    let search = Search::new([path.join("nosuch"), path.join("debug")]);
    let (found, table) = search.find(name, Some(&id.to_ascii_uppercase()));
    assert_eq!(found.path.unwrap(), debug);
    check(&table.unwrap(), expected);
    assert!(found.refused.is_empty());
    // The file is found by its path below a folder, and by its name.
    for place in ["debug/opt/x/liba.so", "debug/liba.so"] {
        fs::create_dir_all(path.join(place).parent().unwrap()).unwrap();
        fs::copy(&debug, path.join(place)).unwrap();
        let search = Search::new([path.join("debug")]);
        let (found, _) = search.find(Some("/opt/x/liba.so"), Some(&id));
        assert_eq!(found.path.unwrap(), path.join(place));
        fs::remove_file(path.join(place)).unwrap();
    }
}

#[test]
fn a_file_of_another_build_or_without_functions_is_refused_and_the_next_is_tried() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    if !has("cc") || !has("strip") {
        return;
    }
    let program = compile("program", &["-static", "-no-pie"], path);
    let id = SymbolTable::read(&program)
        .unwrap()
        .build_id()
        .unwrap()
        .to_owned();
    let name = program.to_str();
    let search = Search::new([path.join("debug")]);
    let (found, table) = search.find(name, Some("00ff"));
    assert!(found.path.is_none() && table.is_none());
    let message = format!("{}: build id {id}, expected 00ff", program.display());
    assert_eq!(found.refused[0].to_string(), message);
    assert!(matches!(
        found.refused[0].kind(),
        ErrorKind::OtherBuild { .. }
    ));
    assert!(search.find(name, None).1.is_some());

    fs::create_dir(path.join("debug")).unwrap();
    fs::copy(&program, path.join("debug/program")).unwrap();
    run("strip", &["program"], path);
    let (found, _) = search.find(name, Some(&id));
    assert_eq!(found.path.unwrap(), path.join("debug/program"));
    assert!(matches!(found.refused[0].kind(), ErrorKind::NoFunctions));
    fs::remove_file(path.join("debug/program")).unwrap();
    compile("debug/program", &["-Wl,--build-id=none"], path);
    let (found, _) = search.find(name, Some(&id));
    assert!(found.path.is_none());
    let message = found.refused[1].to_string();
    assert!(
        message.ends_with(&format!("build id none, expected {id}")),
        "{message}"
    );
}

#[test]
fn a_debug_file_is_found_by_its_link_and_needs_the_build_id_or_the_checksum() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    if !has("cc") || !has("objcopy") || !has("strip") {
        return;
    }
    for build_id in ["sha1", "none"] {
        let program = compile("program", &[&format!("-Wl,--build-id={build_id}")], path);
        let text = run("./program", &[], path);
        split("p.debug", path);
        let stripped = SymbolTable::read(&program).unwrap();
        let id = stripped.build_id();
        assert_eq!(id.is_some(), build_id == "sha1");
        let search = Search::new([path.join("dir")]);
        let find = || search.find(program.to_str(), id);
        let below = path.join(format!("dir{}", path.display()));
        let other = path.join("other");
        fs::rename(path.join("p.debug"), &other).unwrap();
        for place in [path.join(".debug"), path.join("dir"), below, path.into()] {
            fs::create_dir_all(&place).unwrap();
            let debug = place.join("p.debug");
            fs::copy(&other, &debug).unwrap();
            let (found, table) = find();
            assert_eq!(found.path.unwrap(), debug);
            check(&table.unwrap(), &printed(&text));
            // A debug file of another build.
            let other = ["-DOTHER", "-g3", "-Wl,--build-id=0x00ff"];
            compile(debug.to_str().unwrap(), &other, path);
            let (found, _) = find();
            let why = found.refused.last().unwrap();
            assert_eq!(why.path(), debug);
            match (id, why.kind()) {
                (Some(_), ErrorKind::OtherBuild { .. }) | (None, ErrorKind::OtherChecksum) => {}
                other => panic!("{other:?}"),
            }
            fs::remove_file(debug).unwrap();
        }
        fs::remove_dir_all(path.join("dir")).unwrap();
    }
}

/// Compiles the program with its `static` functions only in `.gnu_debugdata`, as Fedora's packages
/// do, after `change` has changed that section. Returns the program's path and what it prints.
fn with_debugdata(path: &Path, change: impl Fn(Vec<u8>) -> Vec<u8>) -> (PathBuf, String) {
    let program = compile("program", &["-rdynamic"], path);
    let text = run("./program", &[], path);
    run("objcopy", &["--only-keep-debug", "program", "whole"], path);
    let nm = run("nm", &["--defined-only", "program"], path);
    let statics = nm
        .lines()
        .filter_map(|line| line.split_once(" t ")?.1.into());
    let keep = statics.map(|name: &str| format!("--keep-symbol={name}"));
    let mut arguments = vec!["-S".to_owned()];
    arguments.extend(keep.chain(["whole".to_owned(), "mini".to_owned()]));
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    run("objcopy", &arguments, path);
    run("xz", &["mini"], path);
    let packed = change(fs::read(path.join("mini.xz")).unwrap());
    fs::write(path.join("mini.xz"), packed).unwrap();
    run("strip", &["program"], path);
    let section = ["--add-section", ".gnu_debugdata=mini.xz", "program"];
    run("objcopy", &section, path);
    (program, text)
}

#[test]
fn functions_in_gnu_debugdata_are_found() {
    let folder = tempfile::tempdir().unwrap();
    if !["cc", "objcopy", "strip", "nm", "xz"].into_iter().all(has) {
        return;
    }
    let (program, text) = with_debugdata(folder.path(), |packed| packed);
    let table = SymbolTable::read(&program).unwrap();
    assert!(table.has_statics());
    check(&table, &printed(&text));
}

#[test]
fn gnu_debugdata_that_is_damaged_or_expands_without_limit_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    if !["cc", "objcopy", "strip", "nm", "xz"].into_iter().all(has) {
        return;
    }
    let refused = |change: &dyn Fn(Vec<u8>) -> Vec<u8>| {
        let folder = tempfile::tempdir_in(path).unwrap();
        let (program, _) = with_debugdata(folder.path(), change);
        SymbolTable::read(&program).unwrap_err().to_string()
    };
    let message = refused(&|packed| packed[..packed.len() / 2].to_vec());
    assert!(message.contains("program: .gnu_debugdata: "), "{message}");
    fs::write(path.join("zeros"), vec![0; 8 << 20]).unwrap();
    run("xz", &["zeros"], path);
    let zeros = fs::read(path.join("zeros.xz")).unwrap();
    let limit = zeros.len() * 100;
    let message = refused(&|_| zeros.clone());
    let reason = format!(".gnu_debugdata: decompresses to more than {limit} bytes");
    assert!(message.ends_with(&reason), "{message}");
}

#[test]
fn a_debug_file_too_large_for_its_checksum_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    if !has("cc") || !has("objcopy") || !has("strip") {
        return;
    }
    let program = compile("program", &["-Wl,--build-id=none"], path);
    split("p.debug", path);
    let debug = fs::File::options().write(true).open(path.join("p.debug"));
    debug.unwrap().set_len(1 << 40).unwrap();
    let (found, _) = Search::new([]).find(program.to_str(), None);
    let refused = found.refused.last().unwrap();
    assert!(matches!(refused.kind(), ErrorKind::TooLarge), "{refused}");
}

#[test]
fn a_link_to_another_folder_is_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    if !has("cc") || !has("objcopy") || !has("strip") {
        return;
    }
    let program = compile("program", &["-Wl,--build-id=none"], path);
    split("p-.debug", path);
    let mut bytes = fs::read(&program).unwrap();
    let at = bytes
        .windows(8)
        .position(|name| name == b"p-.debug")
        .unwrap();
    bytes[at + 1] = b'/';
    fs::write(&program, bytes).unwrap();
    fs::create_dir(path.join("p")).unwrap();
    fs::rename(path.join("p-.debug"), path.join("p/.debug")).unwrap();
    let (found, table) = Search::new([]).find(program.to_str(), None);
    let has_statics = table.is_some_and(|table| table.has_statics());
    assert!(!has_statics && found.refused.iter().all(|error| error.path() == program));
}

#[test]
fn names_of_cpp_and_rust_are_demangled() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    if has("c++") {
        let source = source("program.cpp");
        run(
            "c++",
            &["-std=c++17", "-O1", "-no-pie", "-o", "cpp", &source],
            path,
        );
        let text = run("./cpp", &[], path);
        check(
            &SymbolTable::read(path.join("cpp")).unwrap(),
            &printed(&text),
        );
    }
    for mangling in ["legacy", "v0"] {
        let text = "mod shape { #[inline(never)] pub fn area(a: u32) -> u32 { std::hint::black_box(a) } }\n\
                    unsafe extern \"C\" { static __executable_start: u8; }\n\
                    fn main() { shape::area(1); println!(\"{:x} program::shape::area\", \
                    shape::area as fn(u32) -> u32 as usize - &raw const __executable_start as usize); }";
        fs::write(path.join("program.rs"), text).unwrap();
        let symbols = format!("-Csymbol-mangling-version={mangling}");
        let compiler = std::env::var_os("RUSTC").unwrap_or("rustc".into());
        let mut command = Command::new(compiler);
        command.args(["--edition=2024", "-Zunstable-options", &symbols]);
        command.arg("program.rs").current_dir(path);
        command.env("RUSTC_BOOTSTRAP", "1");
        assert!(command.status().unwrap().success());
        let text = run("./program", &[], path);
        check(
            &SymbolTable::read(path.join("program")).unwrap(),
            &printed(&text),
        );
    }
}

//! `atf symbolize` on a session whose modules are built by the system's compiler.

use std::fs;
use std::path::Path;
use std::process::Command;

use atf::manifest::Module;
use atf::write::{Event, SessionWriter, WriteOptions};
use atf::{EventKind, manifest::Symbol};
use atf_samples::files::ElfFile;
use atf_symbolize::SymbolTable;
use tempfile::TempDir;

use super::{atf, clean, texts, written};

const SOURCE: &str = "extern char __executable_start; char *base = &__executable_start;\n\
                      static int inner(int x) { return x * 3; }\n\
                      __attribute__((noinline)) int outer(int x) { return x * 5; }\n\
                      int (*volatile f)(int) = inner;\n\
                      int main(void) { return f(0) + outer(0); }\n";

/// Compiles the program; returns its build id and the offsets of `main`, `inner`, `outer`.
fn compile(path: &Path) -> (String, [u64; 3]) {
    let source = path.with_extension("c");
    fs::write(&source, SOURCE).unwrap();
    let mut compiler = Command::new("cc");
    let compiler = compiler.args(["-Wl,--build-id=sha1", "-no-pie", "-o"]);
    assert!(compiler.args([path, &source]).status().unwrap().success());
    let nm = Command::new("nm").arg(path).output().unwrap();
    let nm = String::from_utf8(nm.stdout).unwrap();
    let address = |name: &str| {
        let line = nm.lines().find(|line| line.ends_with(&format!(" {name}")));
        u64::from_str_radix(line.unwrap().split(' ').next().unwrap(), 16).unwrap()
    };
    let id = SymbolTable::read(path)
        .unwrap()
        .build_id()
        .unwrap()
        .to_owned();
    let base = address("__executable_start");
    (
        id,
        ["main", "inner", "outer"].map(|name| address(name) - base),
    )
}

/// Writes a session with one call of each function.
fn write(folder: &Path, modules: Vec<Module>, functions: &[u64]) {
    let session = SessionWriter::create(folder, &WriteOptions::default()).unwrap();
    session.set_modules(modules);
    session.set_symbols(vec![Symbol::new(functions[1], "known")]);
    let mut thread = session.thread(0).unwrap();
    for (time, id) in (1..).zip(functions) {
        let event = Event::new(time, *id, EventKind::CALL, 1);
        thread.write(&event).unwrap();
    }
    thread.finalize().unwrap();
    session.finalize().unwrap();
}

#[test]
fn names_are_found_in_the_modules_files_and_shown_by_dump() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let program = path.join("program");
    let (build_id, offsets) = compile(&program);
    let [main, inner, outer] = offsets.map(|offset| 1 << 32 | offset);
    let module = |id: u32, path: &Path| {
        Module::new(id)
            .path(path.to_str().unwrap())
            .uuid(&build_id)
            .function_offsets(true)
    };
    write(
        &path.join("good"),
        vec![module(1, &program)],
        &[main, outer, inner, inner + 1],
    );
    let before = fs::read_to_string(path.join("good/manifest.json")).unwrap();
    let with_own = before.replacen('{', "{\n  \"own\": [1.50],", 1);
    fs::write(path.join("good/manifest.json"), with_own).unwrap();

    let text = clean(path, &["symbolize", "good"]);
    let program_text = program.display();
    let expected = format!(
        "module 1  {program_text}: 4 of 4 functions named, from {program_text}\n\
         3 names added to good/manifest.json\n"
    );
    assert_eq!(text, expected);
    let dump = written(path, &["dump", "good"]);
    let names: Vec<_> = dump
        .lines()
        .map(|line| line.split_whitespace().last().unwrap())
        .collect();
    assert_eq!(names, ["main", "known", "inner", "inner"], "{dump}");
    let after = fs::read_to_string(path.join("good/manifest.json")).unwrap();
    assert!(after.contains("\"own\": [1.50]"), "{after}");
    // Running it again changes nothing.
    assert!(clean(path, &["symbolize", "good"]).contains("\n0 names added"));
    assert_eq!(
        fs::read_to_string(path.join("good/manifest.json")).unwrap(),
        after
    );
}

#[test]
fn a_reason_is_given_for_each_module_without_names() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let program = path.join("program");
    let (build_id, [main, inner, outer]) = compile(&program);
    fs::create_dir(path.join("debug")).unwrap();
    fs::copy(&program, path.join("debug/moved")).unwrap();
    let new = |id: u32, path: &str| Module::new(id).path(path).function_offsets(true);
    let modules = vec![
        new(1, "/nosuch/moved").uuid(&build_id),
        new(2, "program").uuid("00ff"),
        new(3, "program").function_offsets(false),
        new(4, "/nosuch/lib").uuid(&build_id),
        new(5, "program"),
        new(6, "unused"),
    ];
    let id = |module: u64, offset| module << 32 | offset;
    let functions = [
        id(1, main),
        id(1, outer),
        id(1, 0),
        id(2, main),
        id(3, 1),
        id(4, main),
        id(5, inner),
        id(7, 1),
    ];
    write(&path.join("session"), modules, &functions);
    let output = atf(path, &["symbolize", "session", "--debug-dir", "debug"]);
    let (status, text, messages) = texts(&output);
    assert_eq!((status, messages), (1, ""));
    let expected = format!(
        "module 1  /nosuch/moved: 2 of 3 functions named, from debug/moved\n\
         module 2  program: 0 of 1 function named\n  \
           refused program: build id {build_id}, expected 00ff\n\
         module 3  program: 0 of 1 function named; ids are not offsets\n\
         module 4  /nosuch/lib: 0 of 1 function named; no file found\n\
         module 5  program: 1 of 1 function named, from program; no uuid to compare with its build id\n\
         1 function of modules that are not listed\n\
         2 names added to session/manifest.json\n"
    );
    assert_eq!(text, expected);
    let output = atf(path, &["symbolize", "--json", "session"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["modules"][2]["note"], "ids are not offsets");
    assert_eq!(json["modules"][0]["had_names"], "2");
    assert_eq!(json["without_module"], "1");
    // An unreadable thread is counted and reported.
    fs::write(path.join("session/thread_0/index.atf"), "ATI2").unwrap();
    let output = atf(path, &["symbolize", "session"]);
    let (status, text, messages) = texts(&output);
    assert_eq!(
        (status, text),
        (
            1,
            "1 thread whose events could not all be read\n0 names added to session/manifest.json\n"
        )
    );
    assert!(messages.contains("thread_0/index.atf"), "{messages}");
}

/// Limits the CPU time, because the work used to be proportional to the number of modules times the
/// number of functions times the length of their name.
#[test]
fn many_modules_and_functions_that_share_a_file_and_a_name_are_looked_up_once() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let program = ElfFile {
        functions: (0..100_000).map(|offset| (offset, 0)).collect(),
        strings: [&[b'f'; 65_000][..], b"\0"].concat(),
        ..ElfFile::default()
    };
    fs::write(path.join("program"), program.bytes()).unwrap();
    fs::create_dir(path.join("folder")).unwrap();
    let paths = ["program", "folder/../program", "./program"];
    let module = |id: u32| {
        let module = Module::new(id).function_offsets(true);
        module.path(paths[id as usize % 3])
    };
    let modules: Vec<_> = (1..=900).map(module).collect();
    let functions: Vec<u64> = (1..=900).map(|id| id << 32 | id).collect();
    write(&path.join("session"), modules, &functions);
    let script = "ulimit -t 30 && exec \"$0\" symbolize session";
    let output = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_atf")])
        .current_dir(path)
        .output()
        .unwrap();
    let (status, text, messages) = texts(&output);
    assert_eq!((status, messages), (0, ""));
    assert!(
        text.ends_with("\n899 names added to session/manifest.json\n"),
        "{text}"
    );
}

//! Generates every target from random specs: odd names, reserved words, texts with quotes and the
//! ends of comments, other enumerations, split records, a third wire version. What is generated must
//! compile. The readers in all languages must read files as the interpreter does, their getters and
//! setters must have the layout's places, and so must the fields of the C headers.
//!
//! `ATF_SPECS=1000` tries as many, `ATF_SPECS=7..8` those with these seeds. A failing spec is reduced
//! to the changes that are needed for the failure.

#[path = "support/lua.rs"]
mod lua;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;

use atf_codegen::emit::{c, folder, readers};
use atf_interpreter::{File, grammar_of};
use atf_samples::accessors;
use atf_samples::random::Random;
use atf_samples::readers::is_writer;
use atf_samples::tools::{answers, has};
use atf_spec::layout::Layout;
use atf_spec::model::ManifestFile;
use lua::run;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Names that are reserved somewhere, or that generated code uses itself.
const NAMES: &str = "and as assert async at auto await begin bool break byte bytes case chan class const constexpr \
    constructor continue count data def default defer delete do double elif else end enum error \
    event except explicit export extern false fields final finally first fits float for friend from \
    func function get_class global go goto hash_code header if implements import in inline \
    instanceof int interface is item k lambda last len let local long map match max min mutable \
    namespace native new nil none nonlocal not notify null o object of operator or override package \
    pass place private protected public r raise range read record register repeat return self short \
    signed size static std str string struct super switch template then this throw throws to_json \
    to_string true try type typedef typename union unsigned until using v value var view virtual \
    visit void volatile wait while wire with write x x1 yield _x _under a_b_c \
    very_long_name_that_goes_on_and_on";

/// Names by which templates and typed code know fields.
const KEPT: &str = "arch call_depth checksum clock_type detail_seq event_count event_kind event_type flags function_id index_seq \
    magic os stack_size thread_id timestamp timestamp_ns total_length version";

const TEXTS: [&str; 10] = [
    "Ends */ a comment /* and begins one.",
    "Three quotes: \"\"\" and ''' and ```.",
    "A backslash at the end \\",
    "Braces {{ generated }} {% raw %} ${x} #{x} %s %d.",
    "<b>&amp;</b> // -- # ; \u{2028} é 漢字 \u{1F600}",
    "Tabs\tand\nlines\r\nin it.",
    "\\u002a/ \\x22 \\N{DASH} \\",
    "--]] ]] --> <!-- \"quoted\" 'text'",
    "x",
    "@param @returns {@link Object} \\todo",
];

fn name(random: &mut Random) -> String {
    let names: Vec<_> = NAMES.split_whitespace().collect();
    random.pick(&names).to_owned()
}

fn text(random: &mut Random) -> String {
    random.pick(&TEXTS).to_owned()
}

/// A change of a layout: a seed of its own, so that it is the same without the others.
#[derive(Clone, Debug)]
struct Change {
    what: usize,
    seed: u64,
}

impl Change {
    fn apply(&self, layout: &mut Value) {
        let random = &mut Random::new(self.seed);
        match self.what {
            0..3 => rename_field(layout, random),
            3 => rename_members(layout, random),
            4 => texts(layout, random),
            5 => split_reserved(layout, random),
            6 => add_record(layout, random),
            _ => add_wire(layout),
        }
    }
}

fn items<'a>(value: &'a mut Value, key: &str) -> &'a mut Vec<Value> {
    value[key].as_array_mut().expect("a list")
}

/// Renames a field in all wire versions and in the grammars.
fn rename_field(layout: &mut Value, random: &mut Random) {
    let records = items(layout, "records");
    let at = random.below(records.len());
    let record = &mut records[at];
    let known: Vec<String> = items(record, "layouts")
        .iter()
        .flat_map(|own| own["fields"].as_array().expect("fields"))
        .map(|field| field["name"].as_str().expect("a name").to_owned())
        .collect();
    let (old, new) = (known[random.below(known.len())].clone(), name(random));
    let trimmed = |name: &str| name.trim_start_matches('_').to_owned();
    let is_kept = KEPT.split_whitespace().any(|kept| kept == old);
    if is_kept
        || trimmed(&old).starts_with("reserved")
        || known.iter().any(|own| trimmed(own) == trimmed(&new))
    {
        return;
    }
    for own in items(record, "layouts") {
        for field in items(own, "fields") {
            if field["name"] == *old && field["known_as"].is_null() {
                field["name"] = new.clone().into();
            }
        }
    }
    let name = record["name"].clone();
    for grammar in items(layout, "grammars") {
        let roles: Vec<Value> = items(grammar, "records")
            .iter()
            .filter(|role| role["record"] == name)
            .map(|role| role["role"].clone())
            .collect();
        rename_in(grammar, &roles, &old, &new);
    }
}

fn rename_in(value: &mut Value, roles: &[Value], old: &str, new: &str) {
    match value {
        Value::Object(members) => {
            if members.get("field").is_some_and(|field| field == old)
                && members.get("role").is_some_and(|role| roles.contains(role))
            {
                members.insert("field".to_owned(), new.into());
            }
            members
                .values_mut()
                .for_each(|own| rename_in(own, roles, old, new));
        }
        Value::Array(items) => items
            .iter_mut()
            .for_each(|own| rename_in(own, roles, old, new)),
        _ => {}
    }
}

fn rename_members(layout: &mut Value, random: &mut Random) {
    let enums = items(layout, "enums");
    let at = random.below(enums.len());
    let mut names = BTreeSet::new();
    for member in items(&mut enums[at], "members") {
        let name = name(random);
        let name = name.trim_start_matches('_').to_owned();
        // Writers set that flag.
        let is_kept = member["name"] == "has_detail_file";
        if !is_kept && names.insert(name.clone()) {
            member["name"] = name.into();
        }
    }
}

fn texts(layout: &mut Value, random: &mut Random) {
    for record in items(layout, "records") {
        record["doc"] = text(random).into();
        for own in items(record, "layouts") {
            for field in items(own, "fields") {
                field["doc"] = text(random).into();
            }
        }
    }
    for own in items(layout, "enums") {
        own["doc"] = text(random).into();
        items(own, "members")
            .iter_mut()
            .for_each(|member| member["doc"] = text(random).into());
    }
    for grammar in items(layout, "grammars") {
        grammar["doc"] = text(random).into();
        items(grammar, "functions")
            .iter_mut()
            .for_each(|own| own["doc"] = text(random).into());
    }
}

/// Puts fields of all widths, one of them an array, before a footer's reserved bytes.
fn split_reserved(layout: &mut Value, random: &mut Random) {
    for record in items(layout, "records") {
        let name = name(random);
        // In half of the records, only one wire version has the fields.
        let wires = if random.below(2) == 0 { 1 } else { usize::MAX };
        for own in items(record, "layouts").iter_mut().take(wires) {
            let fields = items(own, "fields");
            let Some(last) = fields.last_mut().filter(|last| last["type"] == "u8[24]") else {
                continue;
            };
            let start = last["offset"].as_u64().expect("an offset");
            (last["offset"], last["type"]) = ((start + 15).into(), "u8[9]".into());
            let types = [(0, "u64"), (8, "u16[2]"), (12, "u16"), (14, "u8")];
            let at = fields.len() - 1;
            for (index, (offset, ty)) in types.into_iter().enumerate() {
                let name = format!("{}_{index}", name.trim_start_matches('_'));
                let field = json!({
                    "name": name, "offset": start + offset, "type": ty, "doc": "", "sources": [],
                });
                fields.insert(at + index, field);
            }
        }
    }
}

fn add_record(layout: &mut Value, random: &mut Random) {
    let mut records = items(layout, "records").iter();
    if records.any(|own| own["name"] == "vendor_class") {
        return;
    }
    let wires = layout["wires"].as_array().expect("wires").clone();
    let field = |name: &str, offset: u32, ty: &str| {
        json!({
            "name": name, "offset": offset, "type": ty, "doc": "", "sources": ["S0"],
            "reserved": name.starts_with('_'),
        })
    };
    let first = name(random);
    let layouts = wires.iter().map(|wire| {
        let fields = [
            field(&format!("{first}_a"), 0, "u32"),
            field("_reserved", 4, "u8[3]"),
            field(&format!("{first}_b"), 7, "u8"),
            field("list", 8, "u32[4]"),
        ];
        json!({ "wire": wire, "fields": fields })
    });
    let layouts: Vec<_> = layouts.collect();
    items(layout, "records").push(json!({
        "name": "vendor_class", "c_name": "AtfVendorClass", "title": "Vendor \"record\"",
        "file": "index.atf", "doc": "A record of its own.", "size": 24, "layouts": layouts,
    }));
}

/// Adds wire version 3, which is version 1 with another number.
fn add_wire(layout: &mut Value) {
    let wires = items(layout, "wires");
    if wires.len() > 2 {
        return;
    }
    wires.push(3.into());
    for record in items(layout, "records") {
        let layouts = items(record, "layouts");
        let mut own = layouts[0].clone();
        own["wire"] = 3.into();
        for field in items(&mut own, "fields") {
            if field["name"] == "version" {
                field["value"] = 3.into();
            }
        }
        layouts.push(own);
    }
    for constant in items(layout, "constants") {
        let values = items(constant, "values");
        let mut own = values[0].clone();
        own["wire"] = 3.into();
        values.push(own);
    }
}

fn spec() -> (Value, ManifestFile) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec");
    let compiled = atf_spec::compile(&folder);
    let layout = serde_json::to_value(compiled.layout().expect("no faults")).expect("plain data");
    (layout, compiled.spec.expect("a spec").manifest)
}

fn changed<'a>(real: &Value, changes: impl Iterator<Item = &'a Change>) -> Result<Layout, String> {
    let mut layout = real.clone();
    changes.for_each(|change| change.apply(&mut layout));
    serde_json::from_value(layout).map_err(|error| error.to_string())
}

/// Generates and compiles everything from the changed layout. Returns the first failure.
fn attempt(changes: &[Change], real: &Value, manifest: &ManifestFile) -> Result<(), String> {
    // The spec's compiler refuses keywords of C as names of fields.
    let no_renamed_field = changes.iter().filter(|change| change.what > 2);
    compile_c(&changed(real, no_renamed_field)?)?;
    let layout = changed(real, changes.iter())?;
    let folder = TempDir::new().expect("a temporary folder");
    let files = files(&layout, folder.path())?;
    for language in readers::languages() {
        let own = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../readers")
            .join(language);
        let out = folder.path().join("readers").join(language);
        // Tests know real names.
        let typed = atf_samples::tree(&own)
            .expect("a folder of readers")
            .into_iter();
        for (path, bytes) in typed.filter(|(path, _)| !path.ends_with("_test.go")) {
            write(&out.join(path), &bytes);
        }
        for file in readers::render(language, &layout, manifest) {
            write(&folder.path().join(file.path), file.text.as_bytes());
        }
        let programs = PROGRAMS.iter().filter(|own| own.language == language);
        for program in programs.filter(|own| has(own.tool)) {
            run(Command::new("sh")
                .args(["-c", program.build])
                .current_dir(&out))?;
            program.check(&layout, &out, &files)?;
        }
    }
    let template = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/lua/atf.lua.jinja");
    let text = fs::read_to_string(template).expect("the example");
    let templates = BTreeMap::from([("atf.lua.jinja".to_owned(), text)]);
    for file in folder::render(&templates, &layout, manifest, "").map_err(|e| e.to_string())? {
        write(&folder.path().join(file.path), file.text.as_bytes());
    }
    check_lua(folder.path(), &files)
}

/// Compiles the C headers, and expects the compiler's layout to be the spec's.
fn compile_c(layout: &Layout) -> Result<(), String> {
    if !has("gcc") {
        return Ok(());
    }
    let folder = TempDir::new().expect("a temporary folder");
    for file in c::headers(layout).into_iter().chain([c::probe(layout)]) {
        let name = file.path.rsplit('/').next().unwrap_or(&file.path);
        write(&folder.path().join(name), file.text.as_bytes());
    }
    let script = "gcc -std=c11 -Wall -Wextra -Werror -o probe probe.c && ./probe";
    let found = run(Command::new("sh").args(["-c", script]).current_dir(&folder))?;
    let found: BTreeSet<&str> = found.lines().collect();
    for record in &layout.records {
        for own in &record.layouts {
            for field in &own.fields {
                let (name, offset, size) = (&field.name, field.offset, field.ty.size());
                let line = format!("v{} {}.{name} {offset} {size}", own.wire, record.name);
                if !found.contains(&*line) {
                    return Err(format!("the C headers lack {line}"));
                }
            }
        }
    }
    Ok(())
}

/// A language's testee: the generated files with a program that prints what they read.
struct Program {
    language: &'static str,
    tool: &'static str,
    /// The script that compiles it in its folder.
    build: &'static str,
    start: &'static [&'static str],
}

const PROGRAMS: &[Program] = &[
    Program {
        language: "cpp",
        tool: "g++",
        build: "g++ -std=c++17 -Wall -Wextra -Werror -Iinclude -o testee testee.cpp",
        start: &["./testee"],
    },
    Program {
        language: "go",
        tool: "go",
        build: "go vet ./... && go build -o testee ./cmd/testee",
        start: &["./testee"],
    },
    Program {
        language: "java",
        tool: "javac",
        build: "javac -J-XX:TieredStopAtLevel=1 -J-XX:+UseSerialGC --release 17 -Xlint:all -Werror \
            -d build $(find src -name '*.java') Testee.java",
        start: &["sh", "testee"],
    },
    Program {
        language: "python",
        tool: "python3",
        build: r#"python3 -c '
import inspect, sys
sys.path.insert(0, "src")
from adatrace_reader import records
from adatrace_reader.writers import ThreadWriter
names = {name.strip("_") for name in inspect.signature(ThreadWriter.event).parameters}
for fields in records.IndexEvent.LAYOUTS.values():
    own = {field.name.strip("_") for field in fields if "[" not in field.type}
    assert own - names <= {"thread_id", "detail_seq"}, own - names'"#,
        start: &["python3", "testee.py"],
    },
    Program {
        language: "typescript",
        tool: "tsc",
        build: "tsc --skipLibCheck",
        start: &["node", "dist/testee.js"],
    },
];

impl Program {
    fn command(&self, folder: &Path) -> Command {
        let mut command = Command::new(self.start[0]);
        command.args(&self.start[1..]);
        command.current_dir(folder);
        command
    }

    fn check(&self, layout: &Layout, folder: &Path, files: &[Read]) -> Result<(), String> {
        let is_writer = is_writer(folder).expect("a testee");
        let plain = serde_json::to_value(layout).expect("plain data");
        let named = |why| format!("{}: {why}", self.language);
        accessors::check(&mut self.command(folder), is_writer, &plain).map_err(named)?;
        let paths = files.iter().map(|file| format!("{:?}\n", file.path));
        let answers = answers(self.command(folder).arg("serve"), paths.collect()).map_err(named)?;
        let mut wrong = answers.iter().zip(files);
        let wrong = wrong.find(|(answer, file)| **answer != file.document);
        match wrong {
            None if answers.len() == files.len() => Ok(()),
            None => Err(named(format!(
                "{} answers of {}",
                answers.len(),
                files.len()
            ))),
            Some((answer, file)) => Err(named(format!("{answer}\ninstead of\n{}", file.document))),
        }
    }
}

/// A file, and the interpreter's answer for it.
struct Read {
    path: PathBuf,
    document: Value,
    /// The rule of a file that is refused.
    rule: Option<String>,
}

/// Writes whole and cut files.
fn files(layout: &Layout, folder: &Path) -> Result<Vec<Read>, String> {
    let thread = atf_samples::folder().join("sample-crashed/session_20260105_101500/pid_4243");
    let mut files = Vec::new();
    for (number, (name, bytes)) in atf_samples::tree(&thread)
        .expect("a sample")
        .iter()
        .enumerate()
    {
        let kind = ["index", "detail"]
            .into_iter()
            .find(|kind| name.ends_with(&format!("{kind}.atf")));
        let Some(kind) = kind else { continue };
        for size in [bytes.len(), bytes.len() * 2 / 3, 70, 9] {
            let bytes = &bytes[..size.min(bytes.len())];
            let path = folder.join(format!("{number}-{size}-{kind}.atf"));
            write(&path, bytes);
            let grammar = grammar_of(layout, bytes).ok_or("no grammar")?;
            let (document, rule) = match File::open(layout, grammar, bytes) {
                Ok(file) => (file.document(), None),
                Err(refusal) => (
                    json!({"kind": kind, "verdict": "reject"}),
                    Some(refusal.requirement.rule.clone()),
                ),
            };
            files.push(Read {
                path,
                document,
                rule,
            });
        }
    }
    Ok(files)
}

/// Reads files with the reader in Lua, and expects as many events, and the same rules.
fn check_lua(folder: &Path, files: &[Read]) -> Result<(), String> {
    if !has("lua5.4") {
        return Ok(());
    }
    let answer = lua::read(folder, files.iter().map(|file| file.path.as_path()))?;
    let expected = files.iter().map(|file| {
        let events = file.document["events"].as_array().map_or(0, Vec::len);
        let rule = file.rule.clone();
        rule.unwrap_or(events.to_string()) + "\n"
    });
    let expected: String = expected.collect();
    if answer != expected {
        return Err(format!("Lua read\n{answer}instead of\n{expected}"));
    }
    Ok(())
}

fn write(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a temporary folder");
    fs::write(path, bytes).expect("a temporary file");
}

/// Tries a random spec. If it fails, returns the changes that are needed for the failure, and why.
fn reduced(seed: u64, real: &Value, manifest: &ManifestFile) -> Result<(), String> {
    let random = &mut Random::new(seed);
    let count = 2 + random.below(12);
    let mut changes: Vec<_> = (0..count)
        .map(|_| Change {
            what: random.below(8),
            seed: random.below(1 << 30) as u64,
        })
        .collect();
    let Err(mut why) = attempt(&changes, real, manifest) else {
        return Ok(());
    };
    let mut at = 0;
    while at < changes.len() {
        let mut fewer = changes.clone();
        fewer.remove(at);
        match attempt(&fewer, real, manifest) {
            Err(still) => (changes, why) = (fewer, still),
            Ok(()) => at += 1,
        }
    }
    Err(format!("seed {seed}, {changes:?}:\n{why}\n"))
}

#[test]
fn every_target_compiles_and_reads_by_random_specs() {
    let range = std::env::var("ATF_SPECS").unwrap_or("1".to_owned());
    let (first, end) = range.split_once("..").unwrap_or(("0", &range));
    let number = |text: &str| text.parse::<u64>().expect("ATF_SPECS: a number or a range");
    let seeds = number(first)..number(end);
    let (real, manifest) = spec();
    // The first one is the spec itself.
    let specs = Mutex::new([None].into_iter().chain(seeds.map(Some)));
    let failures = Mutex::new(String::new());
    let work = || {
        while let Some(spec) = { specs.lock().expect("specs").next() } {
            let result = match spec {
                None => attempt(&[], &real, &manifest),
                Some(seed) => reduced(seed, &real, &manifest),
            };
            if let Err(why) = result {
                failures.lock().expect("failures").push_str(&why);
            }
        }
    };
    thread::scope(|scope| {
        let count = thread::available_parallelism().map_or(1, NonZero::get);
        (0..count).for_each(|_| drop(scope.spawn(work)));
    });
    let failures = failures.into_inner().expect("failures");
    assert!(failures.is_empty(), "{failures}");
}

/// Otherwise, a new language would not be tested.
#[test]
fn every_language_has_a_check() {
    let folder: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../readers");
    for language in readers::languages().filter(|own| folder.join(own).join("Makefile").is_file()) {
        assert!(
            PROGRAMS.iter().any(|own| own.language == language),
            "{language}"
        );
    }
}

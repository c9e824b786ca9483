//! Tests `recover`, `convert`, `scrub` and `synth`: reads their output back, and asserts that
//! existing files are not modified.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use super::{atf, clean, expected, lines, number, texts, written};
use atf_samples::files::{IndexFile, patched};

const SMALL: &str = "sample-small/session_20260105_101500/pid_4242";

/// Returns all files below a folder with their bytes.
fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    atf_samples::tree(folder).unwrap()
}

fn dump(folder: &Path, path: &str) -> Vec<Value> {
    lines(&written(folder, &["dump", "--json", "--details", path]))
}

fn without(mut event: Value, keys: &[&str]) -> Value {
    for key in keys {
        event.as_object_mut().unwrap().remove(*key);
    }
    event
}

#[test]
fn recovered_samples_are_finalized_and_have_all_their_events() {
    for (session, expected) in expected() {
        let folder = TempDir::new().unwrap();
        let out = folder.path().join("out");
        let path = atf_samples::folder().join(&session);
        let before = tree(&path);
        let paths = [path.to_str().unwrap(), "--out", "out"];
        let text = clean(folder.path(), &[&["recover"], &paths[..]].concat());
        assert!(text.contains("thread_0"), "{text}");
        assert_eq!(tree(&path), before);

        let text = clean(folder.path(), &["info", "--verify", "--json", "out"]);
        let info: Value = serde_json::from_str(&text).unwrap();
        for thread in info["threads"].as_array().unwrap() {
            let expected = &expected["threads"][format!("thread_{}", thread["id"])];
            let index = &thread["index"];
            assert_eq!(number(&index["event_count"]), expected["events"]);
            assert_eq!(index["completeness"]["state"], "finalized");
            assert_eq!(index["checksum"]["state"], "good");
            let links = expected["links"].as_u64().unwrap();
            let dangling = expected["dangling_links"].as_u64().unwrap_or(0);
            assert_eq!(number(&index["contents"]["links"]), links - dangling);
        }
        // Recovering again changes nothing.
        let again = ["recover", "--json", "out", "--out", "again"];
        let report: Value = serde_json::from_str(&clean(folder.path(), &again)).unwrap();
        assert_eq!(report["sessions"][0]["changed"], false);
        assert_eq!(tree(&folder.path().join("again")), tree(&out));
    }
}

#[test]
fn a_converted_trace_has_the_same_events_except_for_missing_fields() {
    let folder = TempDir::new().unwrap();
    let small = atf_samples::folder().join(SMALL);
    let small = small.to_str().unwrap();
    clean(
        folder.path(),
        &["convert", "--wire", "2", small, "--out", "two"],
    );
    clean(
        folder.path(),
        &["convert", "--wire", "1", "two", "--out", "one"],
    );
    let original = dump(folder.path(), small);
    let two = dump(folder.path(), "two");
    let lacks = |mut event: Value| {
        if let Some(detail) = event.get_mut("detail") {
            detail.as_object_mut().unwrap().remove("thread_id");
        }
        without(event, &["call_depth", "thread_id"])
    };
    let expected: Vec<_> = original.iter().cloned().map(lacks).collect();
    assert!(two == expected);
    // All calls were recorded, so the computed depths are the recorded ones.
    assert!(dump(folder.path(), "one") == original);
}

#[test]
fn a_scrubbed_trace_has_everything_but_registers() {
    let folder = TempDir::new().unwrap();
    let small = atf_samples::folder().join(SMALL);
    let small = small.to_str().unwrap();
    clean(
        folder.path(),
        &["scrub", "--module-names-only", small, "--out", "scrubbed"],
    );
    let original = dump(folder.path(), small);
    let scrubbed = dump(folder.path(), "scrubbed");
    let events = |events: &[Value]| {
        let bare = events
            .iter()
            .map(|event| without(event.clone(), &["detail"]));
        bare.collect::<Vec<_>>()
    };
    assert!(events(&scrubbed) == events(&original));
    let details: Vec<_> = scrubbed
        .iter()
        .filter(|event| event["detail"].is_object())
        .collect();
    assert_eq!(details.len(), 155);
    for event in details {
        let payload = &event["detail"]["function"];
        let registers = payload["x_regs"].as_array().unwrap();
        assert!(
            registers.iter().all(|register| register == "0"),
            "{payload}"
        );
        assert_eq!(
            (&payload["sp"], &payload["stack"]),
            (&"0".into(), &"".into())
        );
        assert_eq!(payload["function_id"], event["function_id"]);
    }
    let manifest = fs::read_to_string(folder.path().join("scrubbed/manifest.json")).unwrap();
    assert!(
        manifest.contains("\"Demo\"") && !manifest.contains("/Applications"),
        "{manifest}"
    );
    clean(
        folder.path(),
        &["scrub", "--drop-details", small, "--out", "bare"],
    );
    let bare = dump(folder.path(), "bare");
    assert!(bare.iter().all(|event| event["detail_seq"].is_null()));
    assert_eq!(bare.len(), original.len());
}

#[test]
fn names_can_be_taken_from_another_manifest() {
    let folder = TempDir::new().unwrap();
    let crashed = "sample-crashed-nomanifest/session_20260105_101500/pid_4244";
    let crashed = atf_samples::folder().join(crashed);
    let manifest = atf_samples::folder().join(SMALL).join("manifest.json");
    let arguments = ["recover", crashed.to_str().unwrap(), "--out", "out"];
    let symbols = ["--symbols", manifest.to_str().unwrap()];
    clean(folder.path(), &[&arguments[..], &symbols].concat());
    let events = dump(folder.path(), "out");
    assert_eq!(events.len(), 3 * 382);
    assert!(events.iter().all(|event| event["function"].is_string()));
}

#[test]
fn losses_set_the_exit_status() {
    let folder = TempDir::new().unwrap();
    let thread = |id: u32, bytes: &[u8]| {
        let thread = folder.path().join(format!("session/thread_{id}"));
        fs::create_dir_all(&thread).unwrap();
        fs::write(thread.join("index.atf"), bytes).unwrap();
    };
    let whole = IndexFile {
        flags: 0,
        ..IndexFile::finalized(1, 4)
    };
    thread(7, &whole.bytes());
    let recover = |out: &str| {
        let output = atf(folder.path(), &["recover", "session", "--out", out]);
        let (status, text, messages) = texts(&output);
        assert_eq!(messages, "");
        (status, text.to_owned())
    };
    assert_eq!(recover("a").0, 0);
    // Write events after a gap.
    thread(7, &patched(&whole.bytes(), 96, &[0; 32]));
    let (status, text) = recover("b");
    assert_eq!(status, 1, "{text}");
    thread(7, &whole.bytes());
    // Make details unreadable or missing.
    let detail = folder.path().join("session/thread_7/detail.atf");
    fs::write(&detail, [7; 100]).unwrap();
    let (status, text) = recover("details");
    assert_eq!(status, 1, "{text}");
    fs::write(&detail, [7; 63]).unwrap();
    assert_eq!(recover("cut").0, 0);
    fs::remove_file(&detail).unwrap();
    // Replace a ring with one that belongs to other files.
    let ring = folder.path().join("session/thread_7/ring.atf");
    fs::write(&ring, "no ring").unwrap();
    assert_eq!(recover("left over").0, 0);
    thread(7, &whole.without_footer());
    let (status, text) = recover("foreign");
    assert_eq!(status, 1, "{text}");
    fs::remove_file(&ring).unwrap();
    // Add an unreadable thread.
    thread(8, b"no index file");
    let (status, text) = recover("c");
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("thread_8"), "{text}");
    let kept = folder.path().join("c/unreadable/thread_8/index.atf");
    assert_eq!(fs::read(kept).unwrap(), b"no index file");
}

#[test]
fn existing_files_are_never_overwritten() {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("there")).unwrap();
    fs::write(folder.path().join("there/x"), "x").unwrap();
    let before = tree(folder.path());
    let small = atf_samples::folder().join(SMALL);
    let small = small.to_str().unwrap();
    let file = atf_samples::folder().join(SMALL).join("thread_0/index.atf");
    for (path, out) in [
        (small, "there"),
        (small, "there/x"),
        (small, "no such folder/out"),
        (file.to_str().unwrap(), "out"),
        ("there", "out"),
        ("nothing", "out"),
    ] {
        for command in [&["recover"][..], &["convert", "--wire", "2"], &["scrub"]] {
            let output = atf(folder.path(), &[command, &[path, "--out", out]].concat());
            let (status, text, messages) = texts(&output);
            assert_eq!(
                (status, text),
                (2, ""),
                "{command:?} {path} {out}: {messages}"
            );
            assert!(messages.starts_with("atf: "), "{messages}");
        }
    }
    assert_eq!(tree(folder.path()), before);
}

#[test]
fn a_seed_determines_the_trace() {
    let folder = TempDir::new().unwrap();
    let synth = |out: &str, more: &[&str]| {
        let arguments = ["synth", "--events", "200", "--threads", "3", "--out", out];
        clean(folder.path(), &[&arguments[..], more].concat());
        tree(&folder.path().join(out))
    };
    let trace = synth("a", &[]);
    assert_eq!(synth("b", &[]), trace);
    assert_ne!(synth("c", &["--seed", "1"]), trace);
    for (out, shape) in [
        ("d", "random"),
        ("e", "interleave"),
        ("f", "runs=10..20"),
        ("g", "active=2"),
    ] {
        assert_ne!(synth(out, &["--shape", shape]), trace, "{shape}");
    }
    assert_eq!(dump(folder.path(), "a").len(), 600);
    let text = clean(folder.path(), &["info", "--verify", "a"]);
    assert!(text.contains("3 threads, 600 events"), "{text}");
    synth("h", &["--wire", "2", "--details", "0"]);
    let events = dump(folder.path(), "h");
    assert!(events.iter().all(|event| event.get("call_depth").is_none()));
    assert!(events.iter().all(|event| event["detail_seq"].is_null()));
    for wrong in ["runs=5..2", "active=0", "star", "runs=a..b"] {
        let output = atf(folder.path(), &["synth", "--out", "x", "--shape", wrong]);
        assert_eq!(texts(&output).0, 2, "{wrong}");
    }
    // The session already exists.
    let output = atf(folder.path(), &["synth", "--out", "a"]);
    assert_eq!(texts(&output).0, 2);
    assert_eq!(tree(&folder.path().join("a")), trace);
}

/// Runs `recover session --out out` under limits that a shell sets first.
#[cfg(unix)]
fn limited(folder: &Path, limits: &str) -> std::process::Output {
    let script = format!("{limits} && exec \"$0\" recover session --out out");
    std::process::Command::new("sh")
        .args(["-c", &script, env!("CARGO_BIN_EXE_atf")])
        .current_dir(folder)
        .output()
        .unwrap()
}

#[test]
#[cfg(unix)]
fn a_full_disk_leaves_no_partial_output() {
    let folder = TempDir::new().unwrap();
    let synth = ["synth", "--events", "200", "--threads", "2"];
    clean(folder.path(), &[&synth[..], &["--out", "session"]].concat());
    fs::remove_file(folder.path().join("session/manifest.json")).unwrap();
    let before = tree(folder.path());
    let names = |folder: &Path| -> Vec<_> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name()).collect()
    };
    let mut refused = 0;
    // Limits of 0, 512, 1024 … bytes: writing fails in every block of every file.
    for blocks in 0.. {
        // A write beyond the limit fails, as if the disk were full.
        let output = limited(folder.path(), &format!("ulimit -f {blocks}"));
        let (status, text, messages) = texts(&output);
        if status == 0 {
            break;
        }
        assert_eq!((status, text), (2, ""), "{messages}");
        let message = "atf: out: cannot be written: ";
        assert!(messages.starts_with(message), "{messages}");
        assert!(messages.ends_with("; no output was left\n"), "{messages}");
        assert_eq!(names(folder.path()), ["session"], "{blocks} blocks");
        assert!(tree(folder.path()) == before);
        refused += 1;
    }
    assert!(refused > 10, "{refused}");
    assert_eq!(dump(folder.path(), "out").len(), 400);
}

#[test]
#[cfg(unix)]
fn a_thousand_threads_need_few_open_files() {
    let folder = TempDir::new().unwrap();
    let synth = ["synth", "--events", "4", "--threads", "1000"];
    clean(folder.path(), &[&synth[..], &["--out", "session"]].concat());
    // Truncate one of the threads.
    let cut = folder.path().join("session/thread_500/index.atf");
    let bytes = fs::read(&cut).unwrap();
    fs::write(&cut, &bytes[..64 + 3 * 32 + 5]).unwrap();
    // Each core recovers one thread at a time.
    let cores = std::thread::available_parallelism().unwrap();
    let output = limited(folder.path(), &format!("ulimit -n {}", 8 + 8 * cores.get()));
    let (status, text, messages) = texts(&output);
    // The last event counts as lost, because it is included in the header's count.
    assert_eq!((status, messages), (1, ""));
    let first = text.lines().next().unwrap();
    assert!(
        first.starts_with("session: recovered, 3999 events and "),
        "{first}"
    );
    let end = " of 1000 threads; 1 event is missing";
    assert!(first.ends_with(end), "{first}");
    assert_eq!(text.lines().last(), Some("written to out"));
    assert_eq!(
        tree(&folder.path().join("out")).len(),
        tree(&folder.path().join("session")).len() + 1
    );
}

#[test]
fn a_session_without_readable_events_is_reported() {
    let folder = TempDir::new().unwrap();
    let thread = folder.path().join("session/thread_7");
    fs::create_dir_all(&thread).unwrap();
    fs::write(thread.join("index.atf"), "x").unwrap();
    let output = atf(folder.path(), &["recover", "session", "--out", "out"]);
    let (status, text, messages) = texts(&output);
    assert_eq!((status, messages), (1, ""));
    let expected = "\
session: recovered, no events; 1 thread could not be read
  thread_7: cannot be read: index.atf: header: truncated: 1 of 64 bytes (at 0x1) \
[ATF-IHDR-001]; a copy is in unreadable/
  manifest.json: 0 modules, 0 symbols
    mended: the original had no manifest: manifest.json [ATF-MANI-001]
written to out
";
    assert_eq!(text, expected);
    assert_eq!(
        fs::read(folder.path().join("out/unreadable/thread_7/index.atf")).unwrap(),
        b"x"
    );
    // If the thread is recovered on its own, nothing can be kept.
    let output = atf(
        folder.path(),
        &["recover", "session/thread_7", "--out", "b"],
    );
    assert_eq!(texts(&output).0, 2);
    assert!(!folder.path().join("b").exists());
}

#[test]
fn a_manifest_without_names_is_refused_and_a_faulty_one_is_partly_used() {
    let folder = TempDir::new().unwrap();
    let crashed = "sample-crashed-nomanifest/session_20260105_101500/pid_4244";
    let crashed = atf_samples::folder().join(crashed);
    let crashed = crashed.to_str().unwrap();
    fs::write(folder.path().join("empty"), "{}").unwrap();
    fs::write(folder.path().join("text"), "no JSON").unwrap();
    for command in [&["recover"][..], &["convert", "--wire", "2"]] {
        for symbols in ["nothing", "empty", "text", "."] {
            let arguments = [crashed, "--out", "out", "--symbols", symbols];
            let output = atf(folder.path(), &[command, &arguments].concat());
            let (status, text, messages) = texts(&output);
            assert_eq!((status, text), (2, ""), "{symbols}: {messages}");
            assert!(
                messages.starts_with(&format!("atf: {symbols}: ")),
                "{messages}"
            );
            assert!(!folder.path().join("out").exists());
        }
    }
    let faulty = r#"{"symbols": [{"function_id": "0x0644400000000001", "name": "main"}, 5]}"#;
    fs::write(folder.path().join("faulty"), faulty).unwrap();
    let arguments = ["recover", crashed, "--out", "out", "--symbols", "faulty"];
    let output = atf(folder.path(), &arguments);
    let (status, text, messages) = texts(&output);
    assert_eq!(status, 0, "{messages}");
    assert!(messages.contains("atf: faulty: symbols[1]"), "{messages}");
    assert!(
        text.contains("1 symbol (1 from the other manifest)"),
        "{text}"
    );
}

/// Runs as `nobody`, who cannot read root's files.
#[test]
#[cfg(unix)]
fn unreadable_files_do_not_prevent_recovery_of_others() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;

    const NOBODY: u32 = 65534;
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    let close = |name: &str, mode| {
        fs::set_permissions(path(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    let synth = ["synth", "--events", "50", "--threads", "5"];
    clean(
        folder.path(),
        &[&synth[..], &["--out", "in/session"]].concat(),
    );
    fs::write(path("in/session/thread_0/orphans.atf"), "x").unwrap();
    fs::create_dir(path("in/other")).unwrap();
    fs::create_dir(path("in/session/thread_old")).unwrap();
    let closed = [
        "other",
        "session/manifest.json",
        "session/thread_0/orphans.atf",
        "session/thread_1",
        "session/thread_old",
        "session/thread_2/index.atf",
        "session/thread_3/detail.atf",
    ];
    for name in closed {
        close(&format!("in/{name}"), 0);
    }
    // Its files can be read, but not listed.
    close("in/session/thread_4", 0o711);
    close("", 0o777);
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_atf"));
    command
        .args(["recover", "in", "--out", "out"])
        .current_dir(folder.path());
    if fs::metadata("/proc/self").is_ok_and(|metadata| metadata.uid() == 0) {
        command.uid(NOBODY).gid(NOBODY);
    }
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => {
            atf_samples::tools::skip(format_args!("nobody may not run atf: {error}"));
            return;
        }
    };
    for name in closed.into_iter().chain(["session/thread_4"]) {
        close(&format!("in/{name}"), 0o777);
    }
    let (status, text, messages) = texts(&output);
    assert_eq!((status, messages), (1, ""), "{text}");
    let denied = "Permission denied (os error 13)";
    for line in [
        "session: recovered, 150 events and ".to_owned(),
        format!("  thread_1: cannot be read: index.atf: {denied}\n"),
        format!(
            "  thread_2: cannot be read: index.atf: {denied}; a copy of the rest is in unreadable/\n"
        ),
        format!("    lost: all details: their file cannot be read: detail.atf: {denied}"),
        format!("  thread_0/orphans.atf: not copied: cannot be read: {denied}"),
        format!("  thread_1: not copied: cannot be read: {denied}"),
        format!("  thread_4: not copied: any other files in it cannot be read: {denied}"),
        format!("  thread_old: not copied: cannot be read: {denied}"),
        format!("  thread_2/index.atf: not copied: cannot be read: {denied}"),
        format!("  thread_3/detail.atf: not copied: cannot be read: {denied}"),
        format!("  manifest.json: not copied: cannot be read: {denied}"),
        format!("other: not copied: cannot be read: {denied}"),
    ] {
        assert!(
            text.split_inclusive('\n')
                .any(|found| found.starts_with(&line)),
            "{line}\n{text}"
        );
    }
    let found = tree(&path("out/session"));
    for thread in [0, 3, 4] {
        assert!(
            found.contains_key(&format!("thread_{thread}/index.atf")),
            "{text}"
        );
    }
    let detail = fs::read(path("in/session/thread_2/detail.atf")).unwrap();
    assert_eq!(found["unreadable/thread_2/detail.atf"], detail);
    assert_eq!(dump(folder.path(), "out/session").len(), 150);
}

#[test]
fn a_copy_next_to_its_process_is_pointed_out() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for pid in ["pid_7", "lone"] {
        clean(folder.path(), &["synth", "--events", "5", "--out", pid]);
    }
    let messages = |from: &str, out: &str| {
        let output = atf(folder.path(), &["recover", from, "--out", out]);
        let (status, _, messages) = texts(&output);
        assert_eq!(status, 0, "{messages}");
        messages.to_owned()
    };
    assert_eq!(
        messages("pid_7", "copy"),
        "atf: copy is next to pid_7: commands on their folder read both\n"
    );
    assert_eq!(messages("lone", "other"), "");
    fs::create_dir(path("elsewhere")).unwrap();
    assert_eq!(messages("pid_7", "elsewhere/pid_7"), "");
}

//! `export` and `flamegraph`: where they write and how they report missing events.

use std::fs;

use atf::EventKind;
use atf::write::{Event, ThreadWriter, WriteOptions};
use serde_json::Value;
use tempfile::TempDir;

use super::{atf, clean, expected, lines, texts, written};

pub(crate) const FORMS: [&str; 6] = [
    "chrome",
    "perfetto",
    "speedscope",
    "firefox",
    "folded",
    "csv",
];

/// Runs `atf export` on a sample, and returns its status and messages.
fn export(form: &str, out: &str, path: &str) -> (i32, String) {
    let arguments = ["export", "--format", form, "--out", out, path];
    let output = atf(&atf_samples::folder(), &arguments);
    let (status, _, messages) = texts(&output);
    (status, messages.to_owned())
}

#[test]
fn each_form_has_the_calls_that_the_report_counts() {
    for (path, _) in expected() {
        let report = atf(&atf_samples::folder(), &["report", "--json", &path]);
        let totals = lines(texts(&report).1)[0]["totals"].clone();
        let count = |key: &str| totals[key].as_str().unwrap().parse::<usize>().unwrap();
        let of = |form: &str| {
            let output = atf(
                &atf_samples::folder(),
                &["export", "--format", form, "--out", "-", &path],
            );
            let (status, text, _) = texts(&output);
            assert_eq!(Some(status), report.status.code(), "{path} {form}");
            text.to_owned()
        };
        let csv = of("csv");
        let calls = csv.lines().skip(1).filter(|row| row.ends_with(','));
        assert_eq!(calls.count(), count("calls"), "{path}");
        let events: Value = serde_json::from_str(&of("chrome")).unwrap();
        let events = events.as_array().unwrap();
        let calls = events.iter().filter(|event| event["ph"] == "B").count();
        let ends = events.iter().filter(|event| event["ph"] == "E").count();
        assert_eq!(
            (calls, calls - ends),
            (count("calls"), count("open")),
            "{path}"
        );
    }
}

#[test]
fn a_damaged_trace_is_exported_with_status_1() {
    let folder = TempDir::new().unwrap();
    for form in FORMS {
        let out = folder.path().join(form);
        let (status, messages) = export(form, out.to_str().unwrap(), "sample-crashed");
        assert_eq!(status, 1, "{form}");
        assert!(messages.contains("2 calls open at the end"), "{messages}");
        assert!(
            messages.contains("no footer: the file was not finalized"),
            "{messages}"
        );
        assert!(fs::metadata(out).unwrap().len() > 1000, "{form}");
    }
}

#[cfg(unix)]
#[test]
fn a_file_replaces_an_older_one_and_a_failure_keeps_it() {
    use std::os::unix::fs::PermissionsExt;

    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    fs::write(&out, "older").unwrap();
    let mode = fs::Permissions::from_mode(0o600);
    fs::set_permissions(&out, mode.clone()).unwrap();
    let (status, _) = export("csv", out.to_str().unwrap(), "no-such-trace");
    assert_eq!((status, fs::read(&out).unwrap()), (2, b"older".to_vec()));
    let (status, messages) = export("csv", out.to_str().unwrap(), "sample-small");
    assert_eq!((status, messages.as_str()), (0, ""));
    let found = fs::metadata(&out).unwrap().permissions().mode() & 0o777;
    assert_eq!(found, mode.mode());
    assert!(
        fs::read_to_string(&out)
            .unwrap()
            .starts_with("process,thread,")
    );
    let names = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    assert_eq!(
        names.collect::<Vec<_>>(),
        ["out"],
        "no temporary file is left"
    );
}

#[test]
fn an_output_among_the_trace_files_is_refused() {
    let folder = TempDir::new().unwrap();
    let thread = folder.path().join("thread_0");
    fs::create_dir(&thread).unwrap();
    let (index, manifest) = (
        thread.join("index.atf"),
        folder.path().join("manifest.json"),
    );
    fs::write(&index, "an index").unwrap();
    let recovery = folder.path().join("recovery.json");
    for out in [index, manifest, recovery] {
        let (status, messages) = export("csv", out.to_str().unwrap(), "sample-small");
        assert_eq!(status, 2);
        assert!(messages.contains("a trace's own file"), "{messages}");
        let left = fs::read(&out).unwrap_or_default();
        assert!(matches!(&left[..], b"an index" | b""), "{}", out.display());
    }
}

#[test]
fn an_output_that_is_an_input_by_any_name_is_refused() {
    let folder = TempDir::new().unwrap();
    let index = folder.path().join("index.atf");
    let names = ["odd", "hard", "symbols.json"].map(|name| folder.path().join(name));
    let [odd, hard, symbols] = names.each_ref();
    let sample = atf_samples::folder().join("sample-small/session_20260105_101500/pid_4242");
    fs::copy(sample.join("thread_0/index.atf"), odd).unwrap();
    fs::copy(sample.join("manifest.json"), symbols).unwrap();
    fs::copy(odd, &index).unwrap();
    fs::hard_link(&index, hard).unwrap();
    let mut cases = vec![(odd, odd), (odd, symbols)];
    if cfg!(unix) {
        cases.push((&index, hard));
    }
    for (input, out) in cases {
        let before = fs::read(out).unwrap();
        for command in [&["export", "--format", "csv"][..], &["flamegraph"]] {
            let [input, out] = [input, out].map(|path| path.to_str().unwrap());
            let more = ["--symbols", symbols.to_str().unwrap(), "--out", out, input];
            let output = atf(folder.path(), &[command, &more].concat());
            let (status, _, messages) = texts(&output);
            assert_eq!(status, 2, "{messages}");
            assert!(messages.contains("one of the files to read"), "{messages}");
        }
        assert_eq!(fs::read(out).unwrap(), before);
    }
}

#[cfg(unix)]
#[test]
fn a_symlink_to_a_trace_file_is_replaced_and_the_file_kept() {
    let folder = TempDir::new().unwrap();
    let (index, out) = (folder.path().join("index.atf"), folder.path().join("out"));
    fs::write(&index, "an index").unwrap();
    std::os::unix::fs::symlink(&index, &out).unwrap();
    assert_eq!(
        export("csv", out.to_str().unwrap(), "sample-small"),
        (0, String::new())
    );
    assert_eq!(fs::read(&index).unwrap(), b"an index");
    assert!(fs::symlink_metadata(&out).unwrap().is_file());
}

#[cfg(target_os = "linux")]
#[test]
fn a_device_is_written_and_a_full_one_is_an_error() {
    assert_eq!(
        export("csv", "/dev/null", "sample-small"),
        (0, String::new())
    );
    let (status, messages) = export("csv", "/dev/full", "sample-small");
    assert_eq!(status, 2);
    assert!(messages.contains("No space left"), "{messages}");
}

#[test]
fn threads_and_times_select_calls() {
    let csv = |arguments: &[&str]| {
        let export = ["export", "--format", "csv", "--out", "-", "sample-small"];
        clean(&atf_samples::folder(), &[&export, arguments].concat())
    };
    let thread_1 = csv(&["--thread", "1"]);
    assert_eq!(thread_1.lines().count(), 351, "350 calls");
    assert!(
        thread_1
            .lines()
            .skip(1)
            .all(|row| row.starts_with("4242,1,"))
    );
    assert_eq!(csv(&["--to", "+0"]).lines().count(), 2, "the first call");
}

#[test]
fn names_come_from_another_manifest_if_one_is_given() {
    let folder = TempDir::new().unwrap();
    let names = folder.path().join("names.json");
    // The first function of the sample.
    let manifest = r#"{"symbols": [{"function_id": "0x06444fc10000000f", "name": "another"}]}"#;
    fs::write(&names, manifest).unwrap();
    let export = ["export", "--format", "folded", "--out", "-", "sample-small"];
    let symbols = ["--symbols", names.to_str().unwrap()];
    let folded = clean(&atf_samples::folder(), &[&export[..], &symbols].concat());
    assert!(
        folded.lines().any(|line| line.starts_with("another ")),
        "{folded}"
    );
    assert!(!folded.contains("Demo"), "{folded}");
}

#[test]
fn a_flame_graph_has_all_hot_functions_and_a_difference_names_both_times() {
    let svg = clean(
        &atf_samples::folder(),
        &["flamegraph", "--title", "T", "sample-small"],
    );
    assert!(svg.starts_with("<svg ") && svg.contains(">T</text>"));
    assert!(svg.contains("_$s4Demo1parse9"));
    let diff = ["flamegraph", "--diff", "sample-small", "sample-small"];
    let same = clean(&atf_samples::folder(), &diff);
    assert!(same.contains("before: total"));
    assert!(!same.contains("rgb(245,60,60)"), "nothing changed");
}

#[test]
fn a_difference_from_a_trace_with_too_deep_stacks_has_status_1() {
    let folder = TempDir::new().unwrap();
    let calls = (0..2_000).map(|at| Event::new(at, 1, EventKind::CALL, 1));
    let returns = (2_000..4_000).map(|at| Event::new(at, 1, EventKind::RETURN, 1));
    let mut thread = ThreadWriter::create(folder.path(), 0, &WriteOptions::default()).unwrap();
    for event in calls.chain(returns) {
        thread.write(&event).unwrap();
    }
    thread.finalize().unwrap();
    let deep = folder.path().to_str().unwrap();
    for (before, path) in [(deep, "sample-small"), ("sample-small", deep)] {
        let arguments = ["flamegraph", "--diff", before, "--out", "-", path];
        let output = atf(&atf_samples::folder(), &arguments);
        let (status, _, messages) = texts(&output);
        assert!(
            messages.contains("some calls are not told apart"),
            "{messages}"
        );
        assert_eq!(status, 1, "{before} {path}");
    }
}

#[cfg(unix)]
#[test]
fn an_error_names_the_output_and_no_hidden_file() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("missing").join("out");
    let expected = format!(
        "atf: {}: No such file or directory (os error 2)\n",
        out.display()
    );
    let (status, messages) = export("csv", out.to_str().unwrap(), "sample-small");
    assert_eq!((status, messages), (2, expected));
}

/// Each export fails after half of its bytes, because the test limits the size of files.
#[cfg(unix)]
#[test]
fn an_output_that_fails_in_the_middle_leaves_no_file_and_keeps_an_older_one() {
    let folder = TempDir::new().unwrap();
    let synth = [
        "synth",
        "--events",
        "20000",
        "--functions",
        "500",
        "--out",
        "s",
    ];
    written(folder.path(), &synth);
    let out = folder.path().join("out");
    let exports = FORMS.map(|form| vec!["export", "--format", form]);
    for command in exports.into_iter().chain([vec!["flamegraph"]]) {
        let arguments = [&command[..], &["--out", "out", "s"]].concat();
        written(folder.path(), &arguments);
        let size = fs::metadata(&out).unwrap().len();
        assert!(size > 8192, "{command:?}: {size}");
        fs::remove_file(&out).unwrap();
        for older in [None, Some("older")] {
            older.map_or(Ok(()), |text| fs::write(&out, text)).unwrap();
            // The shell's unit is 512 or 1024 bytes.
            let script = format!("ulimit -f {} && exec \"$0\" \"$@\"", size / 2048);
            let output = std::process::Command::new("sh")
                .args(["-c", &script, env!("CARGO_BIN_EXE_atf")])
                .args(&arguments)
                .current_dir(folder.path())
                .output()
                .unwrap();
            let (status, _, messages) = texts(&output);
            assert_eq!(status, 2, "{command:?}: {messages}");
            assert!(messages.contains("out: File too large"), "{messages}");
            assert_eq!(
                fs::read_to_string(&out).ok().as_deref(),
                older,
                "{command:?}"
            );
            let names = fs::read_dir(folder.path()).unwrap();
            assert_eq!(
                names.count(),
                1 + usize::from(older.is_some()),
                "{command:?}"
            );
        }
        fs::remove_file(&out).unwrap();
    }
}

/// Runs a command with this folder for temporary files, and returns its status and messages.
fn with_temporary_folder(folder: &str, arguments: &[&str]) -> (i32, String) {
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin("atf"));
    command.args(arguments).current_dir(atf_samples::folder());
    let output = command.env("TMPDIR", folder).output().unwrap();
    let (status, _, messages) = texts(&output);
    (status, messages.to_owned())
}

#[test]
fn an_error_of_a_temporary_file_names_its_folder_and_not_the_output() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out.json");
    let out = out.to_str().unwrap();
    let missing = "/nowhere/temporary";
    let export = [
        "export",
        "--format",
        "firefox",
        "--out",
        out,
        "sample-small",
    ];
    let to_stdout = [
        "export",
        "--format",
        "firefox",
        "--out",
        "-",
        "sample-small",
    ];
    let open = ["open", "--port", "0", "sample-small"];
    for arguments in [&export[..], &to_stdout, &open] {
        let (status, messages) = with_temporary_folder(missing, arguments);
        let expected = format!("atf: temporary file in {missing}: ");
        assert_eq!(status, 2, "{messages}");
        assert!(messages.starts_with(&expected), "{messages}");
        assert!(!messages.contains("out.json"), "{messages}");
    }
}

/// A name that begins with `-` is one of Objective-C; `change_ns` may be negative.
#[test]
fn every_csv_escapes_formulas_on_request_and_never_numbers() {
    let folder = TempDir::new().unwrap();
    for (run, end_ns) in [("=before", 1_000), ("=after", 10)] {
        let writer =
            atf::write::SessionWriter::create(folder.path().join(run), &Default::default());
        let writer = writer.unwrap();
        let mut thread = writer.thread(0).unwrap();
        for (time, kind) in [(0, EventKind::CALL), (end_ns, EventKind::RETURN)] {
            thread.write(&Event::new(time, 7, kind, 1)).unwrap();
        }
        thread.finalize().unwrap();
        writer.set_symbols(vec![atf::manifest::Symbol::new(7, "-[Row show]")]);
        writer.finalize().unwrap();
    }
    let export = ["export", "--format", "csv", "--out", "-", "=after"];
    let report = ["report", "--csv", "=after"];
    let tree = ["report", "--tree", "--csv", "=after"];
    let histogram = ["report", "--histogram", "show", "--csv", "=after"];
    let callers = ["report", "--callers", "show", "--csv", "=after"];
    let diff = ["diff", "--csv", "=before", "=after"];
    for arguments in [&export[..], &report, &tree, &histogram, &callers, &diff] {
        let raw = clean(folder.path(), arguments);
        let escaped = [arguments, &["--escape-formulas"]].concat();
        let escaped = clean(folder.path(), &escaped);
        assert!(
            raw.contains(",-[Row show],") || raw.contains("\n-[Row show],"),
            "{raw}"
        );
        assert!(!raw.contains('\''), "{raw}");
        let expected = raw.replace("-[Row show]", "'-[Row show]");
        assert_eq!(escaped, expected.replace("\n=after", "\n'=after"));
    }
    assert!(clean(folder.path(), &diff).contains(",-990,"), "a number");
    let not_csv = [
        "export",
        "--format",
        "folded",
        "--out",
        "-",
        "--escape-formulas",
        "=after",
    ];
    assert_eq!(texts(&atf(folder.path(), &not_csv)).0, 2);
    let no_csv = ["report", "--escape-formulas", "=after"];
    assert_eq!(texts(&atf(folder.path(), &no_csv)).0, 2);
}

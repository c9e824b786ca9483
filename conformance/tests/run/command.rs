//! Tests the exit codes of `run`, and how it selects cases.

use std::fs;
use std::path::PathBuf;

use assert_cmd::Command;

use crate::support::Bench;

fn run(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_atf-conformance"));
    command
        .arg("run")
        .args(arguments)
        .args(["--time-limit", "60"]);
    command
}

/// Runs a command. Returns its exit code, output and messages.
fn texts(command: &mut Command) -> (Option<i32>, String, String) {
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

#[test]
fn without_a_manifest_the_reference_is_graded_in_every_role() {
    let (code, out, _) = texts(run(&["--case", "v1/iftr-013-*"]).args([
        "--case",
        "v1/write-no-event",
        "--report",
        "tap",
    ]));
    assert_eq!(code, Some(0), "{out}");
    for role in ["read", "validate", "write"] {
        assert!(out.contains(&format!("atf {role} ")), "{role}: {out}");
    }
}

#[test]
fn a_run_selects_cases_and_roles() {
    let count = |arguments: &[&str]| {
        let (code, out, _) = texts(run(arguments).args(["--report", "json"]));
        assert_eq!(code, Some(0), "{out}");
        let results: serde_json::Value = serde_json::from_str(&out).unwrap();
        results["cases"].as_array().unwrap().len()
    };
    let case = "v?/iftr-013-*";
    let both = count(&["--case", case]);
    let reads = count(&["--case", case, "--role", "read"]);
    assert_eq!(both, 2 * reads);
    assert_eq!(
        count(&["--case", "v1/iftr-013-*", "--role", "read"]),
        reads / 2
    );
}

#[test]
fn a_usage_error_is_exit_code_2_even_if_its_message_cannot_be_written() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_atf-conformance"));
    let status = command.args(["run", "--nonsense"]).stderr(writer).status();
    assert_eq!(status.unwrap().code(), Some(2));
}

#[test]
fn usage_errors_are_exit_code_2() {
    for arguments in [
        &["--case", "no-such-case"][..],
        &["--rule", "ATF-NONE-001"],
        &["--case", "v1/["],
        &["--time-limit", "0"],
        &["--memory-limit", "0"],
        &["--jobs", "0"],
        &["--role", "judge"],
        &["--report", "morse"],
        &["--update"],
        &["--reason", "later"],
        &["--deny", "must"],
    ] {
        let (code, out, error) = texts(
            Command::new(env!("CARGO_BIN_EXE_atf-conformance"))
                .arg("run")
                .args(arguments),
        );
        assert_eq!(
            (code, out.as_str()),
            (Some(2), ""),
            "{arguments:?}: {error}"
        );
        assert!(!error.is_empty(), "{arguments:?}");
    }
}

#[test]
fn a_run_that_grades_nothing_is_no_success() {
    let bench = Bench::new();
    // The implementation has no validator.
    let kit = env!("CARGO_BIN_EXE_atf-conformance");
    bench.reader("reads", &format!("{kit} testee read \"$1\""));
    let mut command = run(&["--role", "validate"]);
    let (code, out, error) = texts(command.arg(bench.path().join("reads.toml")));
    assert_eq!(code, Some(2), "{out}{error}");
    assert!(out.contains("Nothing was graded"), "{out}");
}

#[test]
fn an_unwritable_report_is_an_error_before_the_run_and_an_old_one_stays_until_its_end() {
    let folder = tempfile::TempDir::new().unwrap();
    let old = folder.path().join("old.tap");
    fs::write(&old, "old").unwrap();
    let reports = |second: &str| {
        let mut command = run(&["--case", "v1/iftr-013-*"]);
        command
            .arg("--report")
            .arg(format!("tap={}", old.display()));
        command.args(["--report", second]).current_dir(&folder);
        texts(&mut command)
    };
    let (code, out, error) = reports("html=none/page.html");
    // Nothing was graded, so there is no report on standard output.
    assert_eq!((code, out.as_str()), (Some(2), ""), "{error}");
    assert!(error.contains("none/page.html"), "{error}");
    assert_eq!(fs::read_to_string(&old).unwrap(), "old");
    let (code, _, error) = reports("html=page.html");
    assert_eq!(code, Some(0), "{error}");
    assert_ne!(fs::read_to_string(&old).unwrap(), "old");
}

#[test]
fn without_a_report_its_file_is_not_created() {
    let folder = tempfile::TempDir::new().unwrap();
    let page = folder.path().join("page.html");
    let link = folder.path().join("link.json");
    std::os::unix::fs::symlink("target.json", &link).unwrap();
    let mut command = run(&["--rule", "NOPE", "--report", "html=page.html"]);
    command.args(["--report", "json=link.json"]);
    let (code, _, error) = texts(command.current_dir(&folder));
    assert_eq!(code, Some(2), "{error}");
    assert!(error.contains("NOPE: no such rule"), "{error}");
    assert!(!page.exists(), "an empty report");
    assert!(link.is_symlink() && !link.exists(), "an empty report");
}

#[test]
fn two_reports_to_one_file_are_a_usage_error_however_it_is_spelled() {
    let folder = tempfile::TempDir::new().unwrap();
    fs::write(folder.path().join("old"), "").unwrap();
    std::os::unix::fs::symlink("old", folder.path().join("link")).unwrap();
    for (one, two) in [("new", "./new"), ("old", "link")] {
        let mut command = run(&["--case", "v1/iftr-013-*"]);
        command.args(["--report", &format!("json={one}")]);
        command.args(["--report", &format!("tap={two}")]);
        let (code, _, error) = texts(command.current_dir(&folder));
        assert_eq!(code, Some(2), "{error}");
        let message = format!("two reports go to {two}");
        assert!(error.contains(&message), "{error}");
    }
}

#[test]
fn a_report_can_go_to_a_fifo() {
    let folder = tempfile::TempDir::new().unwrap();
    let kit = env!("CARGO_BIN_EXE_atf-conformance");
    let script = "mkfifo pipe; cat pipe > copy & \
                  \"$1\" run --case 'v1/iftr-013-*' --report json=pipe >/dev/null; wait";
    let mut command = Command::new("timeout");
    command.args(["60", "sh", "-c", script, "sh", kit]);
    let (code, _, error) = texts(command.current_dir(&folder));
    assert_eq!(code, Some(0), "{error}");
    let text = fs::read_to_string(folder.path().join("copy")).unwrap();
    assert!(text.starts_with('{'), "{text}");
}

#[test]
fn the_reason_why_a_program_does_not_answer_includes_its_messages() {
    let bench = Bench::new();
    let script = "seq 9 >&2; echo >&2; echo \"cannot open $1\" >&2; exit 2";
    bench.reader("silent", script);
    for command in ["smoke", "run"] {
        let mut kit = Command::new(env!("CARGO_BIN_EXE_atf-conformance"));
        let (code, out, _) = texts(kit.arg(command).arg(bench.path().join("silent.toml")));
        assert_eq!(code, Some(3), "{out}");
        let message = "exit code 2, which the protocol does not define; \
                       standard error ends with: 8; 9; cannot open …";
        assert!(out.contains(message), "{out}");
    }
}

#[test]
fn a_program_is_found_in_a_relative_folder_on_path() {
    let bench = Bench::new();
    let kit = env!("CARGO_BIN_EXE_atf-conformance");
    let bin = bench.path().join("bin");
    fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink(kit, bin.join("my-reader")).unwrap();
    let text = "protocol = 1\nname = 'on-path'\nversion = '1'\nwire = [1]\n\
                read = ['my-reader', 'testee', 'read', '{path}']\nfeatures = ['index']\n";
    fs::write(bench.path().join("on-path.toml"), text).unwrap();
    let path = std::env::var("PATH").unwrap();
    let mut smoke = Command::new(kit);
    smoke.args(["smoke", "on-path.toml", "--time-limit", "60"]);
    smoke.env("PATH", format!("bin:{path}"));
    let (code, out, error) = texts(smoke.current_dir(bench.path()));
    assert_eq!((code, out.as_str()), (Some(0), "on-path: ok\n"), "{error}");
}

/// Writes the manifest of a correct reader with a failure list, and returns the manifest's path.
fn good_with_list(bench: &Bench, list: &str) -> PathBuf {
    let kit = env!("CARGO_BIN_EXE_atf-conformance");
    bench.reader("good", &format!("exec {kit} testee read \"$1\""));
    let path = bench.path().join("good.toml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{text}failures = '{list}'\n")).unwrap();
    path
}

#[test]
fn an_update_of_selected_cases_keeps_the_known_failures_of_the_others() {
    let bench = Bench::new();
    let path = good_with_list(&bench, "link.txt");
    let list = bench.path().join("known.txt");
    let link = bench.path().join("link.txt");
    let known = "# Not yet.\ncrash {v1/ihdr-002-*,v?/iftr-013-*} pending, #12\n";
    fs::write(&list, known).unwrap();
    std::os::unix::fs::symlink("known.txt", &link).unwrap();
    let update = |rule: &str| {
        let arguments = [path.to_str().unwrap(), "--rule", rule, "--update"];
        let (code, out, error) = texts(&mut run(&arguments));
        assert_eq!(code, Some(0), "{out}{error}");
        fs::read_to_string(&list).unwrap()
    };
    let left = update("ATF-IHDR-002");
    assert!(left.starts_with("# Not yet.\ncrash "), "{left}");
    assert!(!left.contains("ihdr-002"), "{left}");
    assert!(left.contains(" v1/iftr-013-"), "{left}");
    assert!(!left.contains(" v2/"), "not supported: {left}");
    assert!(left.ends_with(" pending, #12\n"), "{left}");
    assert_eq!(update("ATF-IFTR-013"), "");
    assert!(link.is_symlink());
}

#[test]
fn an_update_that_fails_leaves_the_list_unchanged() {
    let bench = Bench::new();
    good_with_list(&bench, "known.txt");
    let list = bench.path().join("known.txt");
    let known = format!(
        "{}\ncrash v1/ihdr-002-ati1 gone\n",
        "# Long.\n".repeat(100_000)
    );
    fs::write(&list, &known).unwrap();
    let script = "trap '' XFSZ; ulimit -f 1000; \
                  exec \"$1\" run good.toml --rule ATF-IHDR-002 --update --time-limit 60";
    let mut shell = Command::new("sh");
    shell.args(["-c", script, "sh", env!("CARGO_BIN_EXE_atf-conformance")]);
    let (code, out, error) = texts(shell.current_dir(bench.path()));
    assert_eq!(code, Some(2), "{out}{error}");
    assert!(error.contains("known.txt: File too large"), "{error}");
    assert!(fs::read_to_string(&list).unwrap() == known);
    let names = fs::read_dir(bench.path()).unwrap().flatten();
    let names: Vec<_> = names.map(|entry| entry.file_name()).collect();
    assert_eq!(names.len(), 4, "{names:?}");
}

#[test]
fn a_line_about_a_script_may_be_about_the_files_of_a_writer_that_is_not_in_the_run() {
    let bench = Bench::new();
    let kit = env!("CARGO_BIN_EXE_atf-conformance");
    let make = |name: &str, more: &str| {
        let text = format!(
            "protocol = 1\nname = '{name}'\nversion = '1'\nwire = [1]\nfeatures = ['index']\n\
             write = ['{kit}', 'testee', 'write', '{{script}}', '{{out}}']\n{more}"
        );
        fs::write(bench.path().join(format!("{name}.toml")), text).unwrap();
    };
    let read = format!("read = ['{kit}', 'testee', 'read', '{{path}}']\nfailures = 'known.txt'\n");
    make("both", &read);
    make("writer", "failures = 'empty.txt'\n");
    fs::write(bench.path().join("empty.txt"), "").unwrap();
    let list = bench.path().join("known.txt");
    let known = "crash v1/write-one-event files of another writer, #12\n";
    let update = |manifests: &[&str]| {
        fs::write(&list, known).unwrap();
        let mut results = Vec::new();
        for more in [&[][..], &["--update"]] {
            let case = ["--case", "v1/write-one-event"];
            let arguments = [manifests, &case, more].concat();
            let (code, out, error) = texts(run(&arguments).current_dir(bench.path()));
            results.push(code.unwrap_or_else(|| panic!("{out}{error}")));
        }
        (results, fs::read_to_string(&list).unwrap())
    };
    assert_eq!(update(&["both.toml"]), (vec![0, 0], known.to_owned()));
    let joint = update(&["both.toml", "writer.toml"]);
    assert_eq!(joint, (vec![4, 0], String::new()));
}

#[test]
fn a_time_limit_applies_to_each_process() {
    let bench = Bench::new();
    let kit = env!("CARGO_BIN_EXE_atf-conformance");
    // The reader answers in the smoke test, but hangs whenever it must reject a file.
    bench.reader(
        "slow",
        &format!("{kit} testee read \"$1\" || exec sleep 1000"),
    );
    let path = bench.path().join("slow.toml");
    let mut command = Command::new(kit);
    let arguments = [
        "--case",
        "v1/ihdr-002-ati1",
        "--time-limit",
        "10",
        "--report",
        "tap",
    ];
    let (code, out, _) = texts(command.arg("run").arg(path).args(arguments));
    assert_eq!(code, Some(1), "{out}");
    let told = out.split_once("still running after ").expect(&out).1;
    let (told, _) = told.split_once(" s").unwrap();
    let told: f64 = told.parse().unwrap();
    assert!((10.0..1000.0).contains(&told), "{out}");
}

#[test]
fn a_manifest_is_found_from_where_the_command_runs() {
    let bench = Bench::new();
    let kit = env!("CARGO_BIN_EXE_atf-conformance");
    bench.reader("good", &format!("exec {kit} testee read \"$1\""));
    let mut command = run(&["good.toml", "--case", "v1/iftr-013-*"]);
    let (code, out, error) = texts(command.current_dir(bench.path()));
    assert_eq!(code, Some(0), "{out}{error}");
}

#[test]
fn two_implementations_of_one_name_are_a_usage_error() {
    let bench = Bench::new();
    bench.reader("same", "exit 77");
    let path = bench.path().join("same.toml");
    let path = path.to_str().unwrap();
    let (code, _, error) = texts(&mut run(&[path, path]));
    assert_eq!(code, Some(2));
    assert!(
        error.contains("two implementations are named same"),
        "{error}"
    );
}

#[test]
fn unlisted_failures_are_1_and_stale_lists_are_4() {
    let bench = Bench::new();
    // The reader answers correctly in the smoke test but crashes on all broken files.
    bench.reader(
        "crashes",
        &format!(
            "case \"$1\" in *) {} testee read \"$1\" || kill -9 $$;; esac",
            env!("CARGO_BIN_EXE_atf-conformance")
        ),
    );
    let path = bench.path().join("crashes.toml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{text}failures = 'known.txt'\n")).unwrap();
    let list = bench.path().join("known.txt");
    let path = path.to_str().unwrap();
    let with = |known: &str, more: &[&str]| {
        fs::write(&list, known).unwrap();
        let arguments = [&[path, "--case", "v1/ihdr-00[23]-*"], more].concat();
        texts(&mut run(&arguments))
    };
    let arguments = [path, "--case", "v1/ihdr-002-*"];
    let (code, out, _) = texts(&mut run(&arguments));
    assert_eq!(code, Some(4), "a missing list: {out}");
    assert!(out.contains("known.txt: No such file"), "{out}");

    // The first update creates the list.
    let (code, out, _) = texts(run(&arguments).arg("--update"));
    assert_eq!(code, Some(4), "reasons are missing: {out}");
    let made = fs::read_to_string(&list).unwrap();
    assert!(made.contains("crash         v1/ihdr-002-"), "{made}");

    let (code, out, _) = with("", &["--details"]);
    assert_eq!(code, Some(1), "{out}");
    assert!(out.contains("killed by signal 9 (SIGKILL)"), "{out}");

    // Pairs do not run here, so their lines are not stale.
    let all = "crash v1/ihdr-00[23]-* x\ncrash v1/pair-ihdr-002-* y\n";
    let (code, out, _) = with(all, &[]);
    assert_eq!(code, Some(0), "{out}");

    let (code, out, _) = with("# Mine.\n\ntimeout v1/ihdr-002-* slow\n", &[]);
    assert_eq!(code, Some(4), "{out}");
    assert!(out.contains("fails as crash, not timeout"), "{out}");

    // An updated list is invalid until its entries have reasons.
    let (code, _, _) = with("# Mine.\n\ntimeout v1/ihdr-002-* slow\n", &["--update"]);
    assert_eq!(code, Some(4));
    let updated = fs::read_to_string(&list).unwrap();
    assert!(updated.starts_with("# Mine.\n\n# killed by"), "{updated}");
    let with_reasons: String = updated
        .lines()
        .map(|line| {
            if line.is_empty() || line.starts_with('#') {
                format!("{line}\n")
            } else {
                format!("{line} no footer is read yet\n")
            }
        })
        .collect();
    let (code, out, _) = with(&with_reasons, &[]);
    assert_eq!(code, Some(0), "{out}");
}

#[test]
fn a_listed_failure_that_passes_and_a_line_that_matches_nothing_are_4() {
    let bench = Bench::new();
    let path = good_with_list(&bench, "known.txt");
    let path = path.to_str().unwrap();
    for (known, code, why) in [
        ("# None.\n", 0, " 0 failed"),
        (
            "crash v1/ihdr-002-* was fixed\n",
            4,
            "known.txt:1: v1/ihdr-002-",
        ),
        ("crash v1/ihdr-002-* was fixed\n", 4, " passes\n"),
        (
            "crash v1/gone-* why\n",
            4,
            "known.txt:1: v1/gone-* matches no case\n",
        ),
        ("crash v1/ihdr-002-*\n", 4, "known.txt:1: no reason\n"),
    ] {
        fs::write(bench.path().join("known.txt"), known).unwrap();
        let (found, out, _) = texts(&mut run(&[path, "--case", "v1/ihdr-002-*", "--details"]));
        assert_eq!(found, Some(code), "{known}{out}");
        assert!(out.contains(why), "{known}{out}");
    }
}

#[test]
fn an_unusable_manifest_is_3_with_a_reason() {
    let bench = Bench::new();
    let path = bench.path().join("bad.toml");
    fs::write(&path, "protocol = 1\nname = 'bad'\ncolour = 'red'\n").unwrap();
    let path = path.to_str().unwrap();
    let (code, out, _) = texts(&mut run(&[path, "--rule", "ATF-IFTR-013"]));
    assert_eq!(code, Some(3), "{out}");
    assert!(out.contains("bad.toml:3:1: unknown key `colour`"), "{out}");
    let mut smoke = Command::new(env!("CARGO_BIN_EXE_atf-conformance"));
    let (code, out, _) = texts(smoke.args(["smoke", path]));
    assert_eq!(code, Some(3));
    assert!(out.contains("unknown key `colour`"), "{out}");
    for (text, expected) in [
        ("protocol = 1\n", "bad.toml:1:1: the key `name` is missing"),
        (
            "features = ['indx']\n",
            "bad.toml:1:13: unknown value `indx`, expected one of `index`, `detail`, ",
        ),
    ] {
        fs::write(path, text).unwrap();
        let (code, out, _) = texts(&mut run(&[path, "--rule", "ATF-IFTR-013"]));
        assert_eq!(code, Some(3), "{out}");
        assert!(out.contains(expected), "{out}");
    }
}

#[test]
fn a_rule_without_cases_has_a_reason() {
    let (code, _, error) = texts(&mut run(&["--rule", "ATF-WRTR-002"]));
    assert_eq!(code, Some(2));
    let reason =
        "ATF-WRTR-002 has no case: The order of writes leaves no trace in a finalized file.";
    assert!(error.contains(reason), "{error}");
    let (code, _, error) = texts(&mut run(&["--rule", "ATF-RDER-004", "--role", "write"]));
    assert_eq!(code, Some(2));
    let reason = "no case matches; ATF-RDER-004 has cases for read, validate";
    assert!(error.contains(reason), "{error}");
}

#[test]
fn pairs_are_graded_only_on_request() {
    let pair = "v1/pair-iftr-002-one-too-many+iftr-007-*";
    let (code, out, error) = texts(&mut run(&["--pairs", "--case", pair]));
    assert_eq!(code, Some(0), "{out}{error}");
    assert!(out.contains("All 2 passed"), "{out}");
    let (code, _, error) = texts(&mut run(&["--case", pair]));
    assert_eq!(code, Some(2));
    assert!(error.contains("no case matches"), "{error}");
}

#[test]
fn nothing_that_a_manifest_or_an_answer_contains_controls_the_terminal() {
    let bench = Bench::new();
    let answer = r#"echo '{"kind": "\u009b2J", "verdict": "accept"}'"#;
    bench.reader("steers", answer);
    let path = bench.path().join("steers.toml");
    let text = fs::read_to_string(&path).unwrap();
    let steers = text.replace("'steers'", r#""\u001b[31m\u009b1m""#);
    fs::write(&path, &steers).unwrap();
    let path = path.to_str().unwrap();
    let kit = || Command::new(env!("CARGO_BIN_EXE_atf-conformance"));
    let name = "\\u{1b}[31m\\u{9b}1m";

    let (code, out, _) = texts(kit().args(["smoke", path]));
    assert_eq!(code, Some(3), "{out}");
    assert!(out.starts_with(&format!("{name}: read: v1/")), "{out}");
    assert!(out.contains("\\u{9b}2J"), "{out}");

    let (code, _, error) = texts(kit().args(["run", path, "--update"]));
    assert_eq!(code, Some(2));
    let message = format!("atf-conformance: {name}: nothing to update");
    assert!(error.starts_with(&message), "{error}");

    fs::write(path, format!("{steers}\"\u{9b}\" = 1\n")).unwrap();
    let (code, out, _) = texts(kit().args(["smoke", path]));
    assert_eq!(code, Some(3), "{out}");
    assert!(out.contains("unknown key `\\u{9b}`"), "{out}");
}

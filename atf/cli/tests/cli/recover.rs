//! `recover` reports files that it is not allowed to read.

use std::fs;

use tempfile::TempDir;

use super::{clean, lines, texts, written};

/// Runs as `nobody`, who cannot read root's files.
#[test]
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
    let found = atf_samples::tree(&path("out/session")).unwrap();
    for thread in [0, 3, 4] {
        assert!(
            found.contains_key(&format!("thread_{thread}/index.atf")),
            "{text}"
        );
    }
    let detail = fs::read(path("in/session/thread_2/detail.atf")).unwrap();
    assert_eq!(found["unreadable/thread_2/detail.atf"], detail);
    let events = written(folder.path(), &["dump", "--json", "out/session"]);
    assert_eq!(lines(&events).len(), 150);
}

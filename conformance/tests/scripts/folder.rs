//! Tests which files a session must have.

use std::fs;
use std::path::Path;

use atf_conformance::results::{Failure, Outcome};
use atf_conformance::scripts::Scripted;
use atf_conformance::written::{Documents, Graded, grade};

use super::{failure, graded, scripted, with_files, written};

const TWO: &str = "\
open thread=1 wire=1 clock=3 arch=2 os=4
open thread=2 wire=1 clock=3 arch=2 os=4
index thread=1 ts=1000 fn=1 kind=1 depth=1 detail=0
detail thread=1 index=0 ts=1000 type=3 flags=0 payload=
finalize thread=1
finalize thread=2
";

#[test]
fn an_empty_or_missing_folder_is_caught() {
    let scripted = scripted(TWO);
    let out = tempfile::tempdir().unwrap();
    for path in [out.path().to_owned(), out.path().join("missing")] {
        let (class, message, _) = failure(graded(&scripted, &path));
        assert_eq!(class, Failure::WrongFile);
        assert_eq!(message, "thread_1/index.atf is missing");
    }
}

#[test]
fn missing_and_surplus_files_and_threads_are_reported() {
    let scripted = scripted(TWO);
    for (file, class, message) in [
        ("thread_1/detail.atf", Failure::Rule, "ATF-"),
        ("thread_1/index.atf", Failure::Rule, "ATF-SESS-002"),
        ("thread_2/index.atf", Failure::Rule, "ATF-SESS-002"),
        (
            "manifest.json",
            Failure::WrongFile,
            "manifest.json is missing",
        ),
    ] {
        let out = written(&scripted.script);
        fs::remove_file(out.path().join(file)).unwrap();
        let (found, text, _) = failure(graded(&scripted, out.path()));
        assert_eq!(found, class, "{file}: {text}");
        assert!(text.starts_with(message), "{file}: {text}");
    }
    let out = written(&scripted.script);
    let at = |path: &str| out.path().join(path);
    fs::remove_file(at("manifest.json")).unwrap();
    fs::create_dir(at("thread_3")).unwrap();
    let mut bytes = fs::read(at("thread_2/index.atf")).unwrap();
    for (id, class, start) in [
        (2, Failure::Rule, "ATF-"),
        (3, Failure::WrongFile, "thread_3 is not in the script"),
    ] {
        bytes[12] = id;
        fs::write(at("thread_3/index.atf"), &bytes).unwrap();
        let (found, message, _) = failure(graded(&scripted, out.path()));
        assert_eq!(found, class, "{message}");
        assert!(message.starts_with(start), "{message}");
    }
}

#[test]
fn a_file_whose_name_begins_like_a_thread_is_not_a_thread() {
    let (scripted, out) = with_files(scripted(TWO));
    fs::write(out.path().join("thread_names.json"), "{}").unwrap();
    let Graded { outcome, notes, .. } = graded(&scripted, out.path());
    assert_eq!((outcome, notes), (Outcome::Passed, Vec::new()));
    // Readers list a file with the name of a thread's folder.
    fs::write(out.path().join("thread_9"), "").unwrap();
    let (class, message, _) = failure(graded(&scripted, out.path()));
    assert_eq!(class, Failure::Rule);
    assert!(message.starts_with("ATF-SESS-002"), "{message}");
    fs::remove_file(out.path().join("thread_9")).unwrap();
    fs::create_dir(out.path().join("thread_x")).unwrap();
    let (_, message, _) = failure(graded(&scripted, out.path()));
    assert!(
        message.starts_with("thread_x is not in the script"),
        "{message}"
    );
}

#[test]
fn oversized_output_is_rejected_before_it_is_read() {
    let open = scripted(&TWO.replace("finalize thread=1\nfinalize thread=2\n", "abort\n"));
    // The five files of the session contain 7 headers and footers, an event and a detail.
    let most = (64_u64 << 20) + 2 * 4 * 64 + 32 + 24;
    for (file, size, limit) in [
        ("thread_1/index.atf", 4 << 40, most),
        ("thread_1/detail.atf", 4 << 40, most),
        ("thread_2/ring.atf", 4 << 40, most),
        ("thread_3/a/index.atf", 4 << 40, most),
        ("notes", 4 << 40, most),
        ("manifest.json", 6 << 30, 16 << 20),
    ] {
        let out = written(&open.script);
        let path = out.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        // A sparse file takes no space on the disk.
        let sparse = fs::OpenOptions::new().create(true).append(true).open(&path);
        sparse.unwrap().set_len(size).unwrap();
        for limit_of_disk in [None, Some(1 << 20)] {
            let scripted = Scripted {
                limit: limit_of_disk,
                ..open.clone()
            };
            let (class, message, _) = failure(graded(&scripted, out.path()));
            assert_eq!(class, Failure::WrongFile);
            let start = format!("{file} has {size} bytes; the limit ");
            assert!(message.starts_with(&start), "{message}");
            assert!(message.ends_with(&format!(" is {limit}")), "{message}");
        }
    }
}

#[test]
fn too_many_or_too_deep_folders_are_rejected() {
    let scripted = scripted(TWO);
    let refused = |change: &dyn Fn(&Path)| {
        let out = written(&scripted.script);
        change(out.path());
        failure(graded(&scripted, out.path())).1
    };
    let deep = refused(&|out| fs::create_dir_all(out.join("d/".repeat(17))).unwrap());
    let folders = ["d"; 17].join("/");
    assert_eq!(deep, format!("{folders} is nested deeper than 16 folders"));
    let many = refused(&|out| (0..1000).for_each(|n| drop(fs::write(out.join(n.to_string()), ""))));
    assert_eq!(many, "{out} has more than 1000 files and folders");
    #[cfg(unix)]
    {
        let elsewhere = refused(&|out| {
            fs::remove_dir_all(out).unwrap();
            std::os::unix::fs::symlink("/", out).unwrap();
        });
        assert_eq!(elsewhere, "{out} is not a folder");
    }
}

#[test]
fn only_a_writer_of_sessions_needs_a_manifest() {
    let (scripted, out) = with_files(scripted(TWO));
    fs::remove_file(out.path().join("manifest.json")).unwrap();
    let features = ["index", "detail"].map(str::to_owned);
    let Graded { outcome, notes, .. } = grade(&scripted, &features, out.path());
    assert_eq!((outcome, notes), (Outcome::Passed, Vec::new()));
}

#[test]
fn a_detail_file_without_events_passes_if_the_flag_is_set() {
    let (scripted, out) = with_files(scripted(TWO));
    fs::remove_file(out.path().join("manifest.json")).unwrap();
    let mut detail = [0; 128];
    detail[..8].copy_from_slice(b"ATD2\x01\x01\x02\x04");
    detail[12] = 2;
    detail[20] = 64;
    detail[64..68].copy_from_slice(b"2DTA");
    fs::write(out.path().join("thread_2/detail.atf"), detail).unwrap();
    let features = ["index".to_owned(), "detail".to_owned()];
    let (class, message, _) = failure(grade(&scripted, &features, out.path()));
    // No rule is broken, because a header that counts no events looks like a placeholder.
    assert_eq!(class, Failure::WrongFile);
    let expected = "thread_2/index.atf: header.flags: 0, expected 1 (at 0x8)";
    assert_eq!(message, expected);
    let path = out.path().join("thread_2/index.atf");
    let mut index = fs::read(&path).unwrap();
    index[8] = 1;
    fs::write(path, index).unwrap();
    let graded = grade(&scripted, &features, out.path());
    assert_eq!(graded.outcome, Outcome::Passed);
}

#[cfg(unix)]
#[test]
fn only_regular_files_are_read() {
    let (scripted, out) = with_files(scripted(TWO));
    let index = out.path().join("thread_1/index.atf");
    fs::remove_file(&index).unwrap();
    let mut mkfifo = std::process::Command::new("mkfifo");
    assert!(mkfifo.arg(&index).status().unwrap().success());
    let (class, message, _) = failure(graded(&scripted, out.path()));
    assert_eq!(class, Failure::WrongFile);
    assert_eq!(message, "thread_1/index.atf: not a regular file");
}

#[test]
fn an_aborted_thread_without_events_may_have_no_file() {
    let open = "open thread=1 wire=1 clock=3 arch=2 os=4\n";
    let out = tempfile::tempdir().unwrap();
    let outcome = |text: &str| graded(&scripted(&format!("{open}{text}\n")), out.path()).outcome;
    assert_eq!(outcome("abort"), Outcome::Passed);
    assert_ne!(outcome("finalize thread=1"), Outcome::Passed);
    let event = "index thread=1 ts=1 fn=1 kind=1 depth=1 detail=-\n";
    assert_ne!(outcome(&format!("{event}abort")), Outcome::Passed);
    assert_ne!(
        outcome(&format!("{event}finalize thread=1")),
        Outcome::Passed
    );
}

#[test]
fn a_missing_file_has_no_document_and_an_inaccessible_or_changed_one_is_an_error() {
    let scripted = scripted(TWO);
    let out = tempfile::tempdir().unwrap();
    let read = || Documents::read(&scripted.script, out.path());
    assert_eq!(read().unwrap().files, []);
    fs::write(out.path().join("thread_1"), "").unwrap();
    let message = read().unwrap_err();
    let start = "thread_1/index.atf: Not a directory";
    assert!(message.starts_with(start), "{message}");
    // A file may change after it was graded.
    let out = written(&scripted.script);
    let path = out.path().join("thread_2/index.atf");
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
    let message = Documents::read(&scripted.script, out.path()).unwrap_err();
    assert_eq!(message, "thread_2/index.atf: truncated");
}

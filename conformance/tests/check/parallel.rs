//! Checks many sessions in parallel.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::support::{DETAIL, INDEX, Trace};
use crate::{check, texts};

/// Writes an empty folder and forty sessions, some damaged and some with unreadable files.
fn forest(folder: &Path) {
    for seq in 0..40 {
        let path = folder.join(format!("group_{}/session_{seq}", seq % 3));
        let mut trace = Trace::clean(1 + u8::from(seq % 2 == 1));
        match seq % 5 {
            1 => trace.patch(INDEX, 261, &[1]),
            2 => trace.cut(DETAIL, 400),
            _ => {}
        }
        trace.write(&path).unwrap();
        if seq % 7 == 0 {
            fs::create_dir(path.join("stray.atf")).unwrap();
            fs::write(path.join("odd.atf"), "no trace").unwrap();
        }
    }
    fs::create_dir(folder.join("empty")).unwrap();
    crowd(&folder.join("group_2/crowd"));
}

/// Writes a session of twelve threads that all have the same id, regardless of their folders'
/// names. Two of them use a different clock. The first thread has no header, and one folder has no
/// files.
fn crowd(path: &Path) {
    for thread in 0..12 {
        let mut trace = Trace::clean(1);
        match thread {
            0 => trace.cut(INDEX, 10),
            2 | 7 => trace.patch(INDEX, 16, &[1]),
            _ => {}
        }
        let folder = path.join("other");
        trace.write(&folder).unwrap();
        let own = folder.join(INDEX);
        let name = format!("thread_{thread}");
        fs::rename(own.parent().unwrap(), path.join(name)).unwrap();
        fs::remove_dir_all(folder).unwrap();
    }
    fs::create_dir(path.join("thread_12")).unwrap();
}

#[test]
fn threads_are_compared_with_the_first_readable_one() {
    let folder = TempDir::new().unwrap();
    crowd(folder.path());
    let output = check(folder.path(), &["--jobs", "3", "."]);
    let (status, text, _) = texts(&output);
    assert_eq!(status, 1, "{text}");
    assert_eq!(text.matches("ATF-SESS-005").count(), 2, "{text}");
    assert_eq!(text.matches("but thread 1 has 3").count(), 2, "{text}");
}

#[test]
fn the_report_does_not_depend_on_the_number_of_jobs() {
    let folder = TempDir::new().unwrap();
    forest(folder.path());
    let paths = ["group_2", "nothing", "empty", "."];
    let forms = [
        &[][..],
        &["--json"],
        &["--report", "tap"],
        &["--report", "junit"],
        &["--report", "html"],
    ];
    for form in forms {
        let run = |jobs: &str| {
            let output = check(folder.path(), &[form, &["--jobs", jobs], &paths].concat());
            let (status, text, messages) = texts(&output);
            assert_eq!(messages, "");
            (status, text.to_owned())
        };
        let one = run("1");
        assert_eq!(one.0, 2);
        assert!(one.1.lines().count() > 200, "{}", one.1);
        for jobs in ["2", "3", "16"] {
            assert!(one == run(jobs), "{jobs} jobs");
        }
    }
}

//! Tests that the cases' folders are private, and that all of them are removed.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
use tempfile::TempDir;

use atf_conformance::run::folder::{Cases, create, remove};

#[test]
fn a_runs_folders_are_private_unique_and_removed_together() {
    let folder = TempDir::new().unwrap();
    let cases = Cases::new_in(folder.path()).unwrap();
    let run = cases.run().to_str().unwrap().to_owned();
    // Someone else's file and folder.
    fs::write(format!("{run}-0"), "").unwrap();
    fs::create_dir(format!("{run}0")).unwrap();
    let one = cases.next();
    assert_eq!(one.to_str(), Some(&*format!("{run}-1")));
    create(&one).unwrap();
    let mode = fs::metadata(&one).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    drop(cases);
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().flatten().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(left[0].path().to_str(), Some(&*format!("{run}0")));
}

#[test]
fn folders_nested_deeper_than_the_longest_path_are_removed() {
    let folder = TempDir::new().unwrap();
    let name = "n".repeat(200);
    let mut deepest = openat(CWD, folder.path(), OFlags::DIRECTORY, Mode::empty()).unwrap();
    for _ in 0..300 {
        mkdirat(&deepest, &name, Mode::RWXU).unwrap();
        deepest = openat(&deepest, &name, OFlags::DIRECTORY, Mode::empty()).unwrap();
    }
    remove(folder.path()).unwrap();
    assert!(!folder.path().exists());
}

#[test]
fn permissions_names_and_symlinks_do_not_matter() {
    let folder = TempDir::new().unwrap();
    let outside = folder.path().join("outside");
    let cases = folder.path().join("cases");
    fs::create_dir_all(cases.join("a/b/c")).unwrap();
    fs::create_dir_all(cases.join(format!("left-{}-0/d", std::process::id()))).unwrap();
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("kept"), "").unwrap();
    symlink(&outside, cases.join("a/b/c/link")).unwrap();
    fs::write(cases.join("a/b/file"), "").unwrap();
    for path in ["a/b/c", "a/b", "a"] {
        fs::set_permissions(cases.join(path), fs::Permissions::from_mode(0o000)).unwrap();
    }
    remove(&cases).unwrap();
    assert!(fs::symlink_metadata(&cases).is_err());
    // Removing a folder that no longer exists succeeds, and removing a symlink does not follow
    // it.
    remove(&cases).unwrap();
    symlink(&outside, &cases).unwrap();
    remove(&cases).unwrap();
    assert!(fs::symlink_metadata(&cases).is_err());
    assert!(outside.join("kept").exists());
}

#[test]
fn a_path_that_cannot_be_removed_does_not_keep_others() {
    let folder = TempDir::new().unwrap();
    // No matter where this folder is moved, its path is too long.
    let mut long = folder.path().to_owned();
    while long.as_os_str().len() < 3830 {
        long.push("l".repeat(100));
    }
    let cases = long.join("cases");
    fs::create_dir_all(cases.join("a/b")).unwrap();
    let deepest = fs::File::open(cases.join("a/b")).unwrap();
    let name = "n".repeat(255);
    mkdirat(&deepest, &name, Mode::RWXU).unwrap();
    fs::write(cases.join("a/file"), "").unwrap();
    let error = remove(&cases).unwrap_err();
    assert!(error.to_string().starts_with(&name), "{error}");
    assert!(!cases.join("a").exists());
}

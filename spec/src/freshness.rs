//! Detects a resolved layout that is older than its YAML files.

use crate::layout::Layout;

/// Returns the 32-bit FNV-1a hash of each line of a file, in eight hexadecimal digits. The hashes
/// show which line was edited. They do not protect against tampering.
#[must_use]
pub fn fingerprint(text: &str) -> String {
    text.lines().map(line_digest).collect()
}

/// Returns the number of the first line, counted from 1, that differs from a fingerprint.
#[must_use]
pub fn first_changed_line(fingerprint: &str, text: &str) -> Option<usize> {
    let mut known = fingerprint.as_bytes().chunks(8);
    let mut count = 0;
    for line in text.lines() {
        count += 1;
        if known.next() != Some(line_digest(line).as_bytes()) {
            return Some(count);
        }
    }
    known.next().map(|_| count.max(1))
}

/// Compares a layout with the spec's files and returns the first change in each file in the form
/// `path:line: text of the line`. `read` must return the text of the file at a path in the spec's
/// folder.
pub fn changes(layout: &Layout, read: impl Fn(&str) -> std::io::Result<String>) -> Vec<String> {
    let change = |(path, known): (&String, &String)| match read(path) {
        Err(error) => Some(format!("{path}: {error}")),
        Ok(text) => first_changed_line(known, &text).map(|line| {
            let text = text.lines().nth(line - 1).unwrap_or_default().trim();
            format!("{path}:{line}: `{text}`")
        }),
    };
    layout.inputs.iter().filter_map(change).collect()
}

fn line_digest(line: &str) -> String {
    let mix = |hash: u32, byte: &u8| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
    format!("{:08x}", line.as_bytes().iter().fold(0x811c_9dc5, mix))
}

#[cfg(test)]
mod tests {
    use super::{changes, fingerprint, first_changed_line};
    use crate::layout::Layout;

    #[test]
    fn the_first_edited_inserted_or_missing_line_is_named() {
        let known = fingerprint("one\ntwo\nthree\n");
        assert_eq!(first_changed_line(&known, "one\ntwo\nthree\n"), None);
        assert_eq!(first_changed_line(&known, "one\nTwo\nthree\n"), Some(2));
        assert_eq!(
            first_changed_line(&known, "one\ntwo\n2.5\nthree\n"),
            Some(3)
        );
        assert_eq!(first_changed_line(&known, "one\ntwo\n"), Some(2));
        assert_eq!(
            first_changed_line(&known, "one\ntwo\nthree\nfour\n"),
            Some(4)
        );
        assert_eq!(first_changed_line(&known, ""), Some(1));
    }

    /// The expected hashes were published by FNV's authors.
    #[test]
    fn lines_are_digested_with_fnv_1a() {
        assert_eq!(fingerprint("a\nfoobar"), "e40c292cbf9cf968");
    }

    #[test]
    fn changes_name_the_changed_line_or_the_read_error() {
        let inputs = ["same.yaml", "changed.yaml", "gone.yaml"];
        let layout = Layout {
            inputs: inputs
                .map(|path| (path.to_owned(), fingerprint("one\n  two\n")))
                .into(),
            ..Layout::default()
        };
        let read = |path: &str| match path {
            "same.yaml" => Ok("one\n  two\n".to_owned()),
            "changed.yaml" => Ok("one\n  2\n".to_owned()),
            _ => Err(std::io::Error::other("not there")),
        };
        assert_eq!(
            changes(&layout, read),
            ["changed.yaml:2: `2`", "gone.yaml: not there"]
        );
    }
}

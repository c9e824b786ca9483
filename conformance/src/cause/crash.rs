//! Finds where a program crashed, from its standard error.

/// Extensions of source files.
const SOURCES: [&str; 12] = [
    "c", "cc", "cpp", "cxx", "go", "h", "hpp", "java", "js", "py", "rs", "swift",
];

/// Shortens the description of how a program ended: `killed by signal 11 (SIGSEGV)` becomes
/// `SIGSEGV`.
pub(super) fn how(message: &str) -> &str {
    let message = message.split(", ").next().unwrap_or(message);
    match message.split_once('(') {
        Some((_, name)) => name.trim_end_matches(')'),
        None => message.strip_prefix("killed by ").unwrap_or(message),
    }
}

/// Returns the source file and line of the crash: the last location in a Python traceback or, if
/// there is no traceback, the first location in the text.
pub(super) fn place(stderr: &str) -> Option<String> {
    let mut lines = stderr.lines().rev();
    let of_python = lines.find_map(|line| {
        let (file, rest) = line
            .trim()
            .strip_prefix("File \"")?
            .split_once("\", line ")?;
        let line = rest.split(',').next()?;
        source(file, line)
    });
    of_python.or_else(|| {
        let mut words = stderr.split(|letter: char| letter.is_whitespace() || letter == '(');
        words.find_map(|word| {
            let (file, rest) = word.split_once(':')?;
            source(file, rest.split(':').next()?)
        })
    })
}

fn source(file: &str, line: &str) -> Option<String> {
    let name = file.rsplit(['/', '\\']).next()?;
    let (_, end) = name.rsplit_once('.')?;
    let is_line = !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit());
    (SOURCES.contains(&end) && is_line).then(|| format!("{name}:{line}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crash_is_located_in_the_output_of_each_language() {
        let python = "Traceback (most recent call last):\n  File \"/a/testee.py\", line 70, in main\n    \
                      main()\n  File \"/a/index.py\", line 12, in read\n    x[5]\nIndexError: out of range\n";
        let rust = "\nthread 'main' (12) panicked at src/read.rs:120:9:\nindex out of bounds\n";
        let assertion = "reader: reader.c:88: read_all: Assertion `size >= 64' failed.\n";
        let sanitizer = "==1==ERROR: AddressSanitizer: SEGV on unknown address\n    #0 0x55 in walk /src/detail.cpp:41:7\n";
        let go = "panic: runtime error\n\ngoroutine 1 [running]:\nmain.read(...)\n\t/src/read.go:17 +0x1d\n";
        for (stderr, expected) in [
            (python, Some("index.py:12")),
            (rust, Some("read.rs:120")),
            (assertion, Some("reader.c:88")),
            (sanitizer, Some("detail.cpp:41")),
            (go, Some("read.go:17")),
            ("warning: footer\nhttp://x.org:80/ at 12:30:00\n", None),
            ("", None),
        ] {
            assert_eq!(place(stderr).as_deref(), expected, "{stderr}");
        }
    }

    #[test]
    fn how_it_ended_is_a_word_or_two() {
        assert_eq!(how("killed by signal 11 (SIGSEGV)"), "SIGSEGV");
        assert_eq!(how("killed by signal 31"), "signal 31");
        assert_eq!(how("exit code 101, which has no meaning"), "exit code 101");
    }
}

//! Finds where a program crashed, from its standard error.

/// Extensions of source files.
const SOURCES: [&str; 12] = [
    "c", "cc", "cpp", "cxx", "go", "h", "hpp", "java", "js", "py", "rs", "swift",
];

/// Shortens the description of how a program ended: `killed by signal 11 (SIGSEGV)` becomes
/// `SIGSEGV`.
#[must_use]
pub fn how(message: &str) -> &str {
    let message = message.split(", ").next().unwrap_or(message);
    match message.split_once('(') {
        Some((_, name)) => name.trim_end_matches(')'),
        None => message.strip_prefix("killed by ").unwrap_or(message),
    }
}

/// Returns the source file and line of the crash: the last location in a Python traceback or, if
/// there is no traceback, the first location in the text.
#[must_use]
pub fn place(stderr: &str) -> Option<String> {
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

//! The module that each changed crate is given: it asks the environment which mutant is on.

/// The variable with the number of the mutant that is on.
pub(crate) const ACTIVE: &str = "ATF_MUTANT";

/// The variable with the file to which the numbers are added that a test asks for.
pub(crate) const REACHED: &str = "ATF_MUTANTS_REACHED";

/// The module's text, for numbers below `count`.
#[must_use]
pub(crate) fn module(count: usize) -> String {
    format!(
        r#"
#[doc(hidden)]
#[allow(missing_docs, clippy::all)]
pub mod mutant_switch {{
    use std::io::Write as _;
    use std::sync::LazyLock;
    use std::sync::atomic::{{AtomicBool, Ordering}};

    static ACTIVE: LazyLock<usize> = LazyLock::new(|| {{
        if std::env::var_os("{REACHED}").is_some() {{ return usize::MAX; }}
        std::env::var("{ACTIVE}").ok().and_then(|text| text.parse().ok()).unwrap_or(usize::MAX - 1)
    }});
    static SEEN: [AtomicBool; {count}] = [const {{ AtomicBool::new(false) }}; {count}];

    #[inline]
    pub fn on(number: usize) -> bool {{
        let active = *ACTIVE;
        if active == usize::MAX {{ seen(number); }}
        active == number
    }}

    #[cold]
    fn seen(number: usize) {{
        if !SEEN[number].swap(true, Ordering::Relaxed) {{
            let path = std::env::var_os("{REACHED}").unwrap();
            let mut file = std::fs::OpenOptions::new().append(true).open(path).unwrap();
            file.write_all(format!("{{number}}\n").as_bytes()).unwrap();
        }}
    }}
}}
"#
    )
}

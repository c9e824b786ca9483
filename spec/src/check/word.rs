//! Checks the form of names, so that generated code compiles.

/// Returns whether a name is a lower-case field name in C, C++ and Rust: words of letters and
/// digits, separated by single underscores. A leading underscore marks padding.
pub(super) fn is_identifier(name: &str) -> bool {
    is_lower_case(name.strip_prefix('_').unwrap_or(name))
}

/// Returns whether a name is in lower case and starts with a letter.
pub(super) fn is_lower_case(name: &str) -> bool {
    is_words(name, '_', |letter| letter.is_ascii_lowercase())
}

/// Returns whether a name is valid in C, in upper or lower case.
pub(super) fn is_c_name(name: &str) -> bool {
    name.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && name
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// Returns whether a name is valid for a macro in C: in capitals, so that it replaces no field.
pub(super) fn is_macro_name(name: &str) -> bool {
    is_c_name(name) && !name.contains(|letter: char| letter.is_ascii_lowercase())
}

/// Returns whether a name is a macro of GCC or Clang on some target, of a standard header whose
/// macros are not in capitals, or of `<windows.h>`.
pub(super) fn is_predefined(name: &str) -> bool {
    let standard = "complex errno noreturn stderr stdin stdout";
    let targets = "i386 linux mips sparc unix";
    let windows = "cdecl environ far hyper interface near pascal s_addr small";
    [standard, targets, windows]
        .iter()
        .any(|words| is_listed(words, name))
}

/// Returns whether `<stddef.h>` or `<stdint.h>`, which the headers include, may define a name.
pub(super) fn is_standard(name: &str) -> bool {
    let is_of = |starts: &[&str], ends: &[&str]| {
        starts.iter().any(|start| name.starts_with(start))
            && ends.iter().any(|end| name.ends_with(end))
    };
    let names = ["NULL", "max_align_t", "offsetof", "ptrdiff_t", "size_t"];
    let limited = ["PTRDIFF", "SIG_ATOMIC", "SIZE", "WCHAR", "WINT"];
    let limits = ["_MAX", "_MIN", "_WIDTH"];
    names.contains(&name)
        || is_of(&["int", "uint"], &["_t"])
        || is_of(&["INT", "UINT"], &["_C", "_MAX", "_MIN", "_WIDTH"])
        || limited.iter().any(|start| {
            let end = name.strip_prefix(start);
            end.is_some_and(|end| limits.contains(&end))
        })
}

/// Returns whether a name is a valid rule prefix: words in capitals, separated by single hyphens.
pub(super) fn is_prefix(name: &str) -> bool {
    is_words(name, '-', |letter| letter.is_ascii_uppercase())
}

/// Returns whether a name is valid for a source, which documents cite in tables and links.
pub(super) fn is_source_id(name: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-.".contains(letter);
    !name.is_empty() && name.chars().all(is_plain)
}

pub(super) fn is_keyword(name: &str) -> bool {
    is_listed(KEYWORDS, name)
}

/// Returns whether a word is in a list of words with spaces between them.
fn is_listed(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|known| known == word)
}

fn is_words(name: &str, separator: char, is_letter: impl Fn(char) -> bool) -> bool {
    let is_inner = |letter: char| is_letter(letter) || letter.is_ascii_digit();
    let is_word = |word: &str| !word.is_empty() && word.chars().all(is_inner);
    name.starts_with(&is_letter) && name.split(separator).all(is_word)
}

/// The lower-case keywords of C (up to C23), C++ (up to C++20) and Rust (up to edition 2024).
const KEYWORDS: &str = "\
    abstract alignas alignof and and_eq as asm async auto await become bitand bitor bool box \
    break case catch char char16_t char32_t char8_t class co_await co_return co_yield compl \
    concept const const_cast consteval constexpr constinit continue crate decltype default \
    delete do double dyn dynamic_cast else enum explicit export extern false final float fn \
    for friend gen goto if impl in inline int let long loop macro match mod move mut mutable \
    namespace new noexcept not not_eq nullptr operator or or_eq override priv private \
    protected pub public ref register reinterpret_cast requires restrict return self short \
    signed sizeof static static_assert static_cast struct super switch template this \
    thread_local throw trait true try type typedef typeid typename typeof typeof_unqual \
    union unsafe unsigned unsized use using virtual void volatile wchar_t where while xor \
    xor_eq yield";

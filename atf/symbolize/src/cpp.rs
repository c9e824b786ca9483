//! Demangles C++ names into the form that `nm -C` and `c++filt` print, by correcting the output of
//! `cpp_demangle`.

use std::fmt::{self, Write};

/// The maximum length of a demangled name in bytes. Without a limit, a short mangled name could
/// expand to gigabytes.
const LONGEST: usize = 1 << 16;

/// The maximum depth of recursion, which suffices for 255 nested templates, the maximum that
/// `c++filt` reads. The deepest names take 7 MiB of stack, or 57 MiB without the compiler's
/// optimizations.
const DEEPEST: u32 = 1300;

/// The maximum product of a name's length and the number of places where types may begin. Each
/// place is tried: a name of 2 KiB has up to 200 places, and trying all of them takes 0.1 s.
const MOST: usize = 1 << 19;

/// The maximum number of attempts to find the ends of all types in a name: see [`with_members`].
const MOST_ATTEMPTS: usize = 256;

/// The mangled prefix of each kind of thunk, the number of offsets after it (each ends with `_`),
/// and the demangled prefix.
const THUNKS: [(&str, usize, &str); 4] = [
    ("_ZTh", 1, "non-virtual thunk to "),
    ("_ZTv", 2, "virtual thunk to "),
    ("_ZTW", 0, "TLS wrapper function for "),
    ("_ZTH", 0, "TLS init function for "),
];

/// The types that `cpp_demangle` writes before a number, each with its C++ suffix.
const SUFFIXES: [(&str, &str); 5] = [
    ("(unsigned int)", "u"),
    ("(unsigned long)", "ul"),
    ("(unsigned long long)", "ull"),
    ("(long)", "l"),
    ("(long long)", "ll"),
];

/// Demangles an Itanium name. Returns `None` if it is damaged or too long.
pub(crate) fn demangle(name: &str) -> Option<String> {
    let (name, clones) = name.split_at(name.find('.').unwrap_or(name.len()));
    let thunk = THUNKS.into_iter().find_map(|(begin, offsets, text)| {
        let rest = name.strip_prefix(begin)?;
        let function = rest.splitn(offsets.saturating_add(1), '_').nth(offsets)?;
        Some((format!("_Z{function}"), text))
    });
    let (name, before) = thunk.unwrap_or_else(|| (name.to_owned(), ""));
    let demangled = raw(&with_return_types(with_members(name)))?;
    let mut whole = before.to_owned();
    whole.push_str(&with_suffixes(&without_empty_packs(&with_qualifiers_last(
        &demangled,
    ))));
    add_clones(clones, &mut whole)?;
    Some(whole)
}

fn raw(name: &str) -> Option<String> {
    let mut out = Limited(String::new());
    let options = cpp_demangle::ParseOptions::default().recursion_limit(DEEPEST);
    let symbol = cpp_demangle::Symbol::new_with_options(name.as_bytes(), &options).ok()?;
    let options = cpp_demangle::DemangleOptions::new().recursion_limit(DEEPEST);
    symbol.structured_demangle(&mut out, &options).ok()?;
    Some(out.0)
}

/// Rewrites each member of a type that depends on a template's arguments, such as
/// `std::is_array<T>::value`. GCC writes `sr`, the type and the member's name, which `cpp_demangle`
/// cannot read if the type begins with `S` or `N`. The nested name `L_ZN…EE` has the same meaning.
fn with_members(name: String) -> String {
    let has_members = name.contains("srS") || name.contains("srN");
    if !has_members || raw(&name).is_some() {
        return name;
    }
    let mut attempts = MOST_ATTEMPTS.min(MOST.checked_div(name.len()).unwrap_or(0));
    rewritten(&name, 0, &mut attempts).map_or(name, |(name, _)| name)
}

/// Rewrites the members after `start`. The type ends at a place where a name follows an `E`: tries
/// each such place until the whole name can be demangled. Returns the name in both forms.
fn rewritten(name: &str, start: usize, attempts: &mut usize) -> Option<(String, String)> {
    *attempts = attempts.checked_sub(1)?;
    let mut found = name.get(start..)?.match_indices("sr");
    let found = found.find_map(|(place, _)| {
        let place = start.saturating_add(place);
        let (before, member) = name.split_at_checked(place)?;
        let kind = member.strip_prefix("sr")?;
        kind.starts_with(['S', 'N']).then_some((before, kind))
    });
    let Some((before, kind)) = found else {
        return raw(name).map(|demangled| (name.to_owned(), demangled));
    };
    let next = before.len().saturating_add(2);
    let with_end = |(place, _): (usize, &str)| {
        let (whole, tail) = kind.split_at_checked(place.saturating_add(1))?;
        let digits = tail.find(|digit: char| !digit.is_ascii_digit())?;
        let length: usize = tail.get(..digits)?.parse().ok()?;
        let (member, after) = tail.split_at_checked(digits.checked_add(length)?)?;
        // A nested name already has an `N` and an `E`.
        let nested = whole.strip_prefix('N').and_then(|it| it.strip_suffix('E'));
        let path = nested.unwrap_or(whole);
        let candidate = format!("{before}L_ZN{path}{member}EE{after}");
        Some((candidate, format!("::{}(", member.get(digits..)?)))
    };
    let mut candidates = kind.match_indices('E').filter_map(with_end);
    let with = candidates.find_map(|(candidate, function)| {
        // If this place is wrong, the member may seem to have parameters.
        let found = rewritten(&candidate, next, attempts);
        found.filter(|(_, demangled)| !demangled.contains(&function))
    });
    with.or_else(|| rewritten(name, next, attempts))
}

/// Adds a return type to each template of a constructor or a conversion. These have no return type,
/// but `cpp_demangle` mistakes the first parameter for one and omits it.
///
/// To find where the parameters of such a function begin, inserts a type at each possible place,
/// which is after template arguments at the end of a name. At the correct place, the inserted type
/// does not appear in the demangled name, no matter which type it is. Starts with the last place,
/// since the parameters come last and each attempt takes time in proportion to the name's depth.
fn with_return_types(mut name: String) -> String {
    let templates: Vec<usize> = ["C1", "C2", "C3", "CI", "cv"]
        .iter()
        .flat_map(|kind| name.match_indices(kind))
        .filter(|(place, kind)| is_template(kind, &name, *place))
        .map(|(place, _)| place)
        .collect();
    let first = templates.iter().min().copied().unwrap_or(name.len());
    let ends = (first..name.len()).rev();
    let places: Vec<usize> = ends
        .filter(|place| name.get(..*place).is_some_and(|it| it.ends_with("EE")))
        .collect();
    if places.len().saturating_mul(name.len()) > MOST {
        return name;
    }
    let mut left = templates.len();
    for place in places {
        let with = |kind: &str| {
            let (before, after) = name.split_at_checked(place)?;
            Some(format!("{before}{kind}{after}"))
        };
        let demangled = |kind: &str| raw(&with(kind)?);
        let Some(longer) = demangled("v") else {
            continue;
        };
        if demangled("i").is_some_and(|other| other == longer)
            && let Some(with) = with("v")
        {
            name = with;
            left = left.saturating_sub(1);
        }
        if left == 0 {
            break;
        }
    }
    name
}

/// Returns whether template arguments may follow a constructor or a conversion at `place`.
fn is_template(kind: &str, name: &str, place: usize) -> bool {
    let after = place.saturating_add(kind.len());
    let mut rest = name.get(after..).unwrap_or_default();
    if !kind.starts_with('C') || kind == "CI" {
        return true;
    }
    // Tags such as `B5cxx11` precede the arguments.
    while let Some(tag) = rest.strip_prefix('B') {
        let digits = tag
            .len()
            .saturating_sub(tag.trim_start_matches(|it: char| it.is_ascii_digit()).len());
        let (length, text) = tag.split_at_checked(digits).unwrap_or_default();
        let length = length.parse().unwrap_or(usize::MAX);
        rest = text.get(length..).unwrap_or_default();
    }
    rest.starts_with('I')
}

/// Removes the text that `cpp_demangle` writes for an empty parameter pack at the end of template
/// arguments or parameters.
fn without_empty_packs(name: &str) -> String {
    let mut name = name.to_owned();
    for (empty, without) in [(", >", ">"), (", &&)", ")")] {
        while name.contains(empty) {
            name = name.replace(empty, without);
        }
    }
    name
}

/// Moves the qualifiers of a type to its end: `cpp_demangle` writes `A const::B&` and `A&::B`
/// instead of `A::B const&` and `A::B&`.
fn with_qualifiers_last(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(place) = rest.find("::") {
        let (before, inner) = rest.split_at(place);
        out.push_str(before);
        let mut kind = out.as_str();
        while let Some(shorter) = ["&", "*", " const", " volatile"]
            .into_iter()
            .find_map(|qualifier| kind.strip_suffix(qualifier))
        {
            kind = shorter;
        }
        // A function's qualifiers follow its parameters.
        let is_type = kind.ends_with(|last: char| last.is_alphanumeric() || "_>".contains(last));
        let length = if is_type { kind.len() } else { out.len() };
        let qualifiers = out.split_off(length);
        let (path, tail) = inner.split_at(if qualifiers.is_empty() {
            "::".len()
        } else {
            length_of_path(inner)
        });
        out.push_str(path);
        out.push_str(&qualifiers);
        rest = tail;
    }
    out.push_str(rest);
    out
}

/// Returns the length of a sequence of `::` and names with their template arguments.
fn length_of_path(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut last = ' ';
    for (place, next) in text.char_indices() {
        match next {
            '<' | '(' | '{' if depth > 0 || next == '<' || last == ':' => {
                depth = depth.saturating_add(1);
            }
            '>' | ')' | '}' if depth > 0 => depth = depth.saturating_sub(1),
            _ if depth > 0 || next.is_alphanumeric() || "_:$~".contains(next) => {}
            _ => return place,
        }
        last = next;
    }
    text.len()
}

/// Writes the numbers in template arguments the way C++ does.
fn with_suffixes(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(start) = rest.find('(') {
        let (before, after) = rest.split_at(start);
        out.push_str(before);
        let number = SUFFIXES.into_iter().find_map(|(kind, suffix)| {
            let number = after.strip_prefix(kind)?;
            let digits = number.strip_prefix('-').unwrap_or(number);
            let tail = digits.trim_start_matches(|digit: char| digit.is_ascii_digit());
            let length = number.len().saturating_sub(tail.len());
            let number = number.get(..length).filter(|_| tail.len() < digits.len())?;
            Some((number, suffix, tail))
        });
        let tail = match number {
            Some((number, suffix, tail)) => {
                out.push_str(number);
                out.push_str(suffix);
                tail
            }
            None => {
                out.push('(');
                after.get(1..).unwrap_or_default()
            }
        };
        rest = tail;
    }
    out.push_str(rest);
    out
}

/// Adds the suffixes that compilers append to the names of a function's copies and parts: words,
/// each with its numbers.
fn add_clones(clones: &str, out: &mut String) -> Option<()> {
    let mut is_open = false;
    for part in clones.split('.').skip(1) {
        if part.is_empty() {
            return None;
        }
        let is_number = part.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number || !is_open {
            out.push_str(if is_open { "] [clone " } else { " [clone " });
        }
        is_open = true;
        out.push('.');
        out.push_str(part);
    }
    if is_open {
        out.push(']');
    }
    Some(())
}

/// A string of limited length.
pub(crate) struct Limited(pub(crate) String);

impl Write for Limited {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if text.len() > LONGEST.saturating_sub(self.0.len()) {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::demangle;

    #[track_caller]
    fn check(mangled: &str, name: &str) {
        assert_eq!(demangle(mangled).as_deref(), Some(name));
    }

    #[test]
    fn template_constructors_and_conversions_keep_all_parameters() {
        check("_ZN1XC2IiEET_", "X::X<int>(int)");
        check("_ZN1XC1IidEET_T0_", "X::X<int, double>(int, double)");
        check("_ZN1XC1B5cxx11IiEET_", "X::X[abi:cxx11]<int>(int)");
        check(
            "_ZN1XIcEC1IS_IiEEERKT_",
            "X<char>::X<X<int> >(X<int> const&)",
        );
        check("_ZN1XcvT_IiEEv", "X::operator int<int>()");
        check(
            "_ZZN1XC1IiEET_ENKUlvE_clEv",
            "X::X<int>(int)::{lambda()#1}::operator()() const",
        );
        check("_ZN2C1C1IiEET_.cold", "C1::C1<int>(int) [clone .cold]");
    }

    #[test]
    fn other_names_get_no_return_type() {
        check("_ZN2C11fIiEEvT_", "void C1::f<int>(int)");
        check("_ZN2C13fEEEi", "C1::fEE(int)");
        check("_ZN2cv1fI1AIiEEEvT_", "void cv::f<A<int> >(A<int>)");
        check("_ZN2C1C1ERKS_", "C1::C1(C1 const&)");
    }

    #[test]
    fn template_arguments_match_the_source() {
        check("_Z1fI1AILj8EEEvv", "void f<A<8u> >()");
        check("_Z1fI1AILm8ELln1EEEvv", "void f<A<8ul, -1l> >()");
        check("_Z1f1AIiJEE", "f(A<int>)");
        check("_Z1fIJEEviDpOT_", "void f<>(int)");
        check("_ZN1XclEjm", "X::operator()(unsigned int, unsigned long)");
    }

    #[test]
    fn qualifiers_follow_the_whole_name_of_a_type() {
        check("_ZN1A1fEPKN1B1DERNS1_1CE", "A::f(B::D const*, B::D::C&)");
        check(
            "_ZN1A1fEPKN1B1DERKNS1_1CIiE1EE",
            "A::f(B::D const*, B::D::C<int>::E const&)",
        );
        check(
            "_ZZNK1A1fEvENKUlvE_clEv",
            "A::f() const::{lambda()#1}::operator()() const",
        );
        check("_ZN1A1fEM1BFivE", "A::f(int (B::*)())");
    }

    #[test]
    fn members_of_dependent_types_are_demangled() {
        check(
            "_ZSt3cosIiEN9__gnu_cxx11__enable_ifIXsrSt12__is_integerIT_E7__valueEdE6__typeES3_",
            "__gnu_cxx::__enable_if<std::__is_integer<int>::__value, double>::__type std::cos<int>(int)",
        );
        check(
            "_ZN1A1fIiEENSt9enable_ifIXsrNS_1BIT_EE5valueES3_E4typeEv",
            "std::enable_if<A::B<int>::value, int>::type A::f<int>()",
        );
        check(
            "_Z1fIiENSt9enable_ifIXaasrSt1AIT_E5valuesrSt1BIS2_E5valueEvE4typeEv",
            "std::enable_if<std::A<int>::value&&std::B<int>::value, void>::type f<int>()",
        );
        check(
            "_Z1fIiENSt9enable_ifIXsrSt1AINSt1BIT_E4typeEE5valueEvE4typeEv",
            "std::enable_if<std::A<std::B<int>::type>::value, void>::type f<int>()",
        );
        let damaged = format!("_Z1fI{}E", "srSE1".repeat(2000));
        assert_eq!(demangle(&damaged), None);
    }

    #[test]
    fn thunks_and_clones_are_named_as_in_other_tools() {
        check("_ZThn80_N1XD0Ev", "non-virtual thunk to X::~X()");
        check("_ZTv0_n24_N1X1fEv", "virtual thunk to X::f()");
        check("_ZTW1x", "TLS wrapper function for x");
        check("_Z1fv.isra.0.cold", "f() [clone .isra.0] [clone .cold]");
        check(
            "_Z1fv.llvm.14282278982495473457",
            "f() [clone .llvm.14282278982495473457]",
        );
        assert_eq!(demangle("_Z1fv."), None);
    }
}

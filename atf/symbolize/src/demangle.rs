//! Converts mangled names to the form in the program's source.

use std::fmt::Write;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::cpp::{self, Limited};

/// The maximum length of a C++ name to demangle, in bytes.
const LONGEST_CPP: usize = 1 << 14;

/// The time limit for one C++ name: a damaged one of 90 bytes can take hours, a real one takes 10
/// µs.
const PATIENCE: Duration = Duration::from_secs(1);

/// Demangles the names in one file. A separate thread demangles C++ names. If one takes too long,
/// all further C++ names stay mangled, and the thread is abandoned.
#[derive(Debug, Default)]
pub(crate) struct Demangler(Mutex<State>);

#[derive(Debug, Default)]
enum State {
    #[default]
    Idle,
    Working(Sender<String>, Receiver<Option<String>>),
    GaveUp,
}

impl Demangler {
    /// Demangles a Rust name (legacy or v0, without the hash) or a C++ name (Itanium). Returns all
    /// other names unchanged, including damaged and overlong ones.
    pub(crate) fn demangle(&self, name: &str) -> String {
        demangle_with(name, |name| self.cpp(name)).unwrap_or_else(|| name.to_owned())
    }

    fn cpp(&self, name: &str) -> Option<String> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*state, State::Idle) {
            *state = start();
        }
        let State::Working(names, results) = &*state else {
            return None;
        };
        let result = names.send(name.to_owned()).ok();
        let result = result.and_then(|()| results.recv_timeout(PATIENCE).ok());
        if result.is_none() {
            *state = State::GaveUp;
        }
        result?
    }
}

/// Demangles a Rust name (legacy or v0, without the hash) or a C++ name (Itanium). Returns `None`
/// for all other names, including damaged and overlong ones.
///
/// A damaged C++ name of 90 bytes can take hours, so call this only where a delay does no harm.
#[must_use]
pub fn demangle(name: &str) -> Option<String> {
    demangle_with(name, cpp::demangle)
}

fn demangle_with(name: &str, cpp: impl FnOnce(&str) -> Option<String>) -> Option<String> {
    let demangled = if let Ok(rust) = rustc_demangle::try_demangle(name) {
        let mut out = Limited(String::new());
        write!(out, "{rust:#}").ok().map(|()| out.0)
    } else if name.starts_with("_Z") && name.len() <= LONGEST_CPP {
        cpp(name)
    } else {
        None
    };
    demangled.filter(|demangled| !demangled.is_empty())
}

/// Returns a demangled C++ name without return type and parameters. Returns `None` for names
/// without parameters.
pub(crate) fn short(name: &str) -> Option<&str> {
    let (list, qualifiers) = name.rsplit_once(')')?;
    // `<fn(i32) as T>::f` is a Rust name.
    if !qualifiers.is_empty() && !qualifiers.starts_with(' ') || qualifiers.contains('>') {
        return None;
    }
    let mut open = 1_u32;
    let (parameters, _) = list.rmatch_indices(['(', ')']).find(|(_, bracket)| {
        open = match *bracket {
            ")" => open.saturating_add(1),
            _ => open.saturating_sub(1),
        };
        open == 0
    })?;
    let name = list.get(..parameters)?;
    // The return type ends at the last space outside brackets and before `operator`.
    let (mut brackets, mut start, mut word) = (Vec::new(), 0, 0);
    for (at, character) in name.char_indices() {
        if character.is_alphanumeric() || character == '_' {
            continue;
        }
        let is_operator = name.get(word..at) == Some("operator");
        if is_operator && brackets.is_empty() {
            break;
        }
        word = at.saturating_add(character.len_utf8());
        match character {
            '(' | '{' | '[' => brackets.push(character),
            '<' if !is_operator => brackets.push(character),
            '>' if brackets.last() == Some(&'<') && !name.get(..at)?.ends_with('-') => {
                brackets.pop();
            }
            // A comparison may have left a `<`.
            ')' | '}' | ']' => while brackets.pop() == Some('<') {},
            ' ' if brackets.is_empty() => start = word,
            _ => {}
        }
    }
    name.get(start..).filter(|name| !name.is_empty())
}

fn start() -> State {
    let (names, inbox) = mpsc::channel::<String>();
    let (outbox, results) = mpsc::channel();
    let work = move || {
        for name in inbox {
            if outbox.send(cpp::demangle(&name)).is_err() {
                return;
            }
        }
    };
    match thread::Builder::new().spawn(work) {
        Ok(_) => State::Working(names, results),
        Err(_) => State::GaveUp,
    }
}

#[cfg(test)]
mod tests {
    use super::{Demangler, short};

    fn demangle(name: &str) -> String {
        Demangler::default().demangle(name)
    }

    #[test]
    fn a_name_that_takes_hours_ends_the_demangling_of_cpp() {
        let demangler = Demangler::default();
        assert_eq!(demangler.demangle("_Z1fv"), "f()");
        let slow = format!("_Z1fDv{}", "nw".repeat(40));
        assert_eq!(demangler.demangle(&slow), slow);
        assert_eq!(demangler.demangle("_Z1fv"), "_Z1fv");
        assert_eq!(demangler.demangle("_RNvC1a1b"), "a::b");
    }

    #[test]
    fn names_of_rust_and_cpp_are_demangled_and_others_kept() {
        for (mangled, name) in [
            (
                "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE",
                "core::fmt::Write::write_fmt",
            ),
            (
                "_RNvCskwGfYPst2Cb_3foo16example_function",
                "foo::example_function",
            ),
            ("_ZN5shape4areaEid", "shape::area(int, double)"),
            ("_ZN3FooC1Ev", "Foo::Foo()"),
            (
                "_Z3addIiET_S0_S0_.cold",
                "int add<int>(int, int) [clone .cold]",
            ),
            ("main", "main"),
            ("$s4Demo0load0", "$s4Demo0load0"),
            ("_Z", "_Z"),
            ("_ZN", "_ZN"),
            ("_RNvC", "_RNvC"),
        ] {
            assert_eq!(demangle(mangled), name);
        }
    }

    #[test]
    fn a_short_name_of_a_huge_one_stays_mangled() {
        // Each type is a pair of the previous type, referred to by its substitution number.
        let mut mangled = "_Z1fP1AIiiE".to_owned();
        for last in "13579BDFHJLNPRTVX".chars() {
            mangled.push_str(&format!("1BIS{last}_S{last}_E"));
        }
        assert_eq!(demangle(&mangled), mangled);
    }

    #[test]
    fn damaged_names_are_kept_or_demangled_without_a_panic() {
        let whole = "_ZNKSt6vectorIN5shape3BoxIiEESaIS2_EE5beginEvPFvRKT_DpOT0_EXadL_Z1fvEE";
        let demangler = Demangler::default();
        let mut seed = 7_u64;
        for _ in 0..20_000 {
            let mut bytes = whole.as_bytes().to_vec();
            for _ in 0..3 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let place = usize::try_from(seed >> 33).unwrap() % bytes.len();
                bytes[place] = whole.as_bytes()[usize::try_from(seed >> 12 & 63).unwrap()];
            }
            let name = String::from_utf8(bytes).unwrap();
            assert!(!demangler.demangle(&name).is_empty());
        }
    }

    #[test]
    fn short_names_have_no_return_type_and_no_parameters() {
        for (name, expected) in [
            ("job::fib(int)", Some("job::fib")),
            ("int twice<int>(int)", Some("twice<int>")),
            (
                "(anonymous namespace)::hidden(int)",
                Some("(anonymous namespace)::hidden"),
            ),
            ("M::get() const &", Some("M::get")),
            ("f(int) [clone .cold]", Some("f")),
            ("A::operator()(int) const", Some("A::operator()")),
            (
                "bool operator< <int>(A<int>, A<int>)",
                Some("operator< <int>"),
            ),
            ("A::operator->() const", Some("A::operator->")),
            (
                "A::operator unsigned long()",
                Some("A::operator unsigned long"),
            ),
            ("operator new(unsigned long)", Some("operator new")),
            (
                "unsigned long max<(A)1, int (*)(int)>(int (*)(int))",
                Some("max<(A)1, int (*)(int)>"),
            ),
            (
                "decltype (x->y()) f<A<(1)>(2)>>(int)",
                Some("f<A<(1)>(2)>>"),
            ),
            (
                "main::{lambda(int)#1}::operator()(int) const",
                Some("main::{lambda(int)#1}::operator()"),
            ),
            (
                "auto f()::{lambda(auto:1)#1}::operator()<int>(int) const",
                Some("f()::{lambda(auto:1)#1}::operator()<int>"),
            ),
            ("cooperator::f(int)", Some("cooperator::f")),
            ("<impl Fn(i32)>::call", None),
            ("<fn(i32) as T>::f", None),
            ("core::ptr::read", None),
        ] {
            assert_eq!(short(name), expected, "{name}");
        }
    }
}

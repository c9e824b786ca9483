//! Names as written in the program's source.

use std::fmt::{self, Write};

/// The longest demangled name in bytes: a short mangled one can stand for gigabytes.
const LONGEST: usize = 1 << 16;
/// The longest C++ name that is demangled, since the time to parse one may grow faster than its size.
const LONGEST_CPP: usize = 1 << 14;

/// Demangles a name of Rust (legacy and v0, without the hash) or C++ (Itanium). Returns all others
/// unchanged, also those that are damaged or too long.
#[must_use]
pub fn demangle(name: &str) -> String {
    let mut out = Limited(String::new());
    let is_written = if let Ok(rust) = rustc_demangle::try_demangle(name) {
        write!(out, "{rust:#}").is_ok()
    } else if name.starts_with("_Z") && name.len() <= LONGEST_CPP {
        let options = cpp_demangle::DemangleOptions::new();
        let symbol = cpp_demangle::Symbol::new(name.as_bytes());
        symbol.is_ok_and(|symbol| symbol.structured_demangle(&mut out, &options).is_ok())
    } else {
        false
    };
    if is_written && !out.0.is_empty() {
        out.0
    } else {
        name.to_owned()
    }
}

struct Limited(String);

impl fmt::Write for Limited {
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
        // Each type is a pair of the previous one, the substitution with that number.
        let mut mangled = "_Z1fP1AIiiE".to_owned();
        for last in "13579BDFHJLNPRTVX".chars() {
            mangled.push_str(&format!("1BIS{last}_S{last}_E"));
        }
        assert_eq!(demangle(&mangled), mangled);
    }

    #[test]
    fn damaged_names_are_kept_or_demangled_without_a_panic() {
        let whole = "_ZNKSt6vectorIN5shape3BoxIiEESaIS2_EE5beginEvPFvRKT_DpOT0_EXadL_Z1fvEE";
        let mut seed = 7_u64;
        for _ in 0..20_000 {
            let mut bytes = whole.as_bytes().to_vec();
            for _ in 0..3 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let place = usize::try_from(seed >> 33).unwrap() % bytes.len();
                bytes[place] = whole.as_bytes()[usize::try_from(seed >> 12 & 63).unwrap()];
            }
            let name = String::from_utf8(bytes).unwrap();
            assert!(!demangle(&name).is_empty());
        }
    }
}

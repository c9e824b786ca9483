//! Converts mangled names to the form used in the program's source code.

use std::fmt::Write;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::cpp::{self, Limited};

/// The maximum length of a C++ name to demangle, in bytes.
const LONGEST_CPP: usize = 1 << 14;

/// The time limit for one C++ name: a corrupt 90-byte name can take hours, while a valid one takes
/// about 10 µs.
const PATIENCE: Duration = Duration::from_secs(1);

/// The time limit for all C++ names of a [`Budget`], to which each name adds [`PER_BYTE`].
const PATIENCE_FOR_ALL: Duration = Duration::from_secs(10);

/// The time that each byte of a C++ name adds. A valid name takes about 0.1 µs per byte, and about
/// 3 µs without the compiler's optimizations.
const PER_BYTE: Duration = Duration::from_micros(10);

/// The size in bytes of the stack that a [`Spawn`] needs. Few names use more than a page of it.
pub const STACK: usize = 64 << 20;

/// A function that starts a thread for work that may take a very long time and needs [`STACK`]
/// bytes of stack. Nothing waits for the thread to end.
pub type Spawn = fn(Box<dyn FnOnce() + Send>) -> io::Result<()>;

/// Starts a standard library thread.
pub(crate) fn spawn(work: Box<dyn FnOnce() + Send>) -> io::Result<()> {
    let thread = thread::Builder::new().stack_size(STACK);
    thread.spawn(work).map(drop)
}

/// The time left for C++ names, which the files of one [`Search`](crate::Search) share.
#[derive(Debug, Clone)]
pub(crate) struct Budget(Arc<Mutex<Duration>>);

impl Budget {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(PATIENCE_FOR_ALL)))
    }

    /// Calls `work` with the time that it may take for a name of this length.
    fn spend<T>(&self, length: usize, work: impl FnOnce(Duration) -> T) -> T {
        let more = PER_BYTE.saturating_mul(u32::try_from(length).unwrap_or(u32::MAX));
        let mut left = lock(&self.0);
        *left = left.saturating_add(more);
        let start = Instant::now();
        let result = work(PATIENCE.min(*left));
        *left = left.saturating_sub(start.elapsed());
        result
    }
}

/// A demangler for the names in one file. A separate thread demangles C++ names. If one takes too
/// long, all later C++ names stay mangled, and the thread is abandoned.
#[derive(Debug)]
pub(crate) struct Demangler {
    spawn: Spawn,
    budget: Budget,
    state: Mutex<State>,
}

#[derive(Debug)]
enum State {
    Idle,
    Working(Arc<Exchange>),
    GaveUp,
}

/// An exchange that passes names to the thread and results back. A channel would not work, because
/// channels use thread-local variables with destructors, which some [`Spawn`] threads must not
/// have.
#[derive(Debug)]
struct Exchange {
    turn: Mutex<Turn>,
    changed: Condvar,
}

#[derive(Debug)]
enum Turn {
    Asked(String),
    Working,
    Answered(Option<String>),
    /// No more names will be requested.
    Over,
}

impl Demangler {
    pub(crate) fn new(spawn: Spawn, budget: Budget) -> Self {
        Self {
            spawn,
            budget,
            state: Mutex::new(State::Idle),
        }
    }

    /// Demangles a Rust name (legacy or v0, without the hash) or a C++ name (Itanium). Returns
    /// `None` for all other names, including damaged and overlong ones.
    pub(crate) fn demangle(&self, name: &str) -> Option<String> {
        let demangled = if let Ok(rust) = rustc_demangle::try_demangle(name) {
            let mut out = Limited(String::new());
            write!(out, "{rust:#}").ok().map(|()| out.0)
        } else if name.starts_with("_Z") && name.len() <= LONGEST_CPP {
            self.cpp(name)
        } else {
            None
        };
        demangled.filter(|demangled| !demangled.is_empty())
    }

    /// Returns whether a name that could not be demangled is a mangled one: C++ (Itanium) or Rust
    /// (v0). Swift's names always stay mangled, so users know them in this form.
    pub(crate) fn is_mangled(name: &str) -> bool {
        let rust = name.strip_prefix("_R").unwrap_or_default();
        name.starts_with("_Z") || rust.starts_with(['C', 'M', 'X', 'Y', 'N', 'I', 'B'])
    }

    /// Returns whether a C++ name took too long.
    pub(crate) fn gave_up(&self) -> bool {
        matches!(*lock(&self.state), State::GaveUp)
    }

    fn cpp(&self, name: &str) -> Option<String> {
        let mut state = lock(&self.state);
        let asked = Turn::Asked(name.to_owned());
        let exchange = match &*state {
            State::Idle => Exchange::start(self.spawn, asked),
            State::Working(exchange) => {
                exchange.set(asked);
                Some(Arc::clone(exchange))
            }
            State::GaveUp => None,
        };
        let result = self
            .budget
            .spend(name.len(), |patience| exchange.as_ref()?.result(patience));
        *state = match (exchange, &result) {
            (Some(exchange), Some(_)) => State::Working(exchange),
            _ => State::GaveUp,
        };
        result?
    }
}

impl Drop for Demangler {
    fn drop(&mut self) {
        if let State::Working(exchange) = &*lock(&self.state) {
            exchange.set(Turn::Over);
        }
    }
}

impl Exchange {
    /// Starts a thread and passes the first name to it.
    fn start(spawn: Spawn, first: Turn) -> Option<Arc<Self>> {
        let exchange = Arc::new(Self {
            turn: Mutex::new(first),
            changed: Condvar::new(),
        });
        let theirs = Arc::clone(&exchange);
        let spawned = spawn(Box::new(move || theirs.work()));
        spawned.is_ok().then_some(exchange)
    }

    fn set(&self, turn: Turn) {
        *lock(&self.turn) = turn;
        self.changed.notify_one();
    }

    /// Waits for the result of a name. Returns `None` if demangling takes too long; the thread then
    /// ends after this name.
    fn result(&self, patience: Duration) -> Option<Option<String>> {
        let is_missing = |turn: &mut Turn| !matches!(turn, Turn::Answered(_));
        let turn = lock(&self.turn);
        let waited = self.changed.wait_timeout_while(turn, patience, is_missing);
        let mut turn = waited.unwrap_or_else(PoisonError::into_inner).0;
        match std::mem::replace(&mut *turn, Turn::Over) {
            Turn::Answered(result) => {
                *turn = Turn::Answered(None);
                Some(result)
            }
            _ => None,
        }
    }

    /// Demangles names until no more are requested.
    fn work(&self) {
        let is_idle = |turn: &mut Turn| matches!(turn, Turn::Answered(_));
        let mut turn = lock(&self.turn);
        while let Turn::Asked(name) = std::mem::replace(&mut *turn, Turn::Working) {
            drop(turn);
            let result = cpp::demangle(&name);
            turn = lock(&self.turn);
            if matches!(*turn, Turn::Over) {
                return;
            }
            *turn = Turn::Answered(result);
            self.changed.notify_one();
            let waited = self.changed.wait_while(turn, is_idle);
            turn = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns a demangled C++ name without return type and parameters. Returns `None` for names
/// without parameters.
pub(crate) fn short(name: &str) -> Option<&str> {
    let (list, qualifiers) = name.rsplit_once(')')?;
    // Reject Rust names such as `<fn(i32) as T>::f`.
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
            // A comparison may have left a `<` on the stack.
            ')' | '}' | ']' => while brackets.pop() == Some('<') {},
            ' ' if brackets.is_empty() => start = word,
            _ => {}
        }
    }
    name.get(start..).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Budget, Demangler, lock, short, spawn};

    fn demangle(name: &str) -> Option<String> {
        Demangler::new(spawn, Budget::new()).demangle(name)
    }

    #[test]
    fn a_name_that_takes_hours_to_demangle_stops_cpp_demangling() {
        let demangler = Demangler::new(spawn, Budget::new());
        let demangle = |name: &str| demangler.demangle(name);
        assert_eq!(demangle("_Z1fv").as_deref(), Some("f()"));
        assert!(!demangler.gave_up());
        assert_eq!(demangle(&format!("_Z1fDv{}", "nw".repeat(40))), None);
        assert!(demangler.gave_up());
        assert_eq!(demangle("_Z1fv"), None);
        assert_eq!(demangle("_RNvC1a1b").as_deref(), Some("a::b"));
    }

    #[test]
    fn files_share_a_time_limit_but_a_slow_file_does_not_stop_the_next() {
        let budget = Budget::new();
        let slow = format!("_Z1fDv{}", "nw".repeat(40));
        let gave_up = || {
            let demangler = Demangler::new(spawn, budget.clone());
            let text = demangler.demangle("_Z1fv");
            assert_eq!(
                (demangler.demangle(&slow), demangler.gave_up()),
                (None, true)
            );
            text
        };
        assert_eq!(gave_up().as_deref(), Some("f()"));
        *lock(&budget.0) = Duration::from_millis(20);
        assert_eq!(gave_up().as_deref(), Some("f()"));
        // Each name now has only its own 10 µs per byte.
        assert_eq!(*lock(&budget.0), Duration::ZERO);
    }

    #[test]
    fn templates_can_be_nested_as_deeply_as_in_other_tools() {
        for depth in [17, 100, 255] {
            let (mangled, close) = ("1AI".repeat(depth), "E".repeat(depth));
            let name = format!("{}int{}", "A<".repeat(depth), " >".repeat(depth));
            let name = name.replacen(" >", ">", 1);
            let function = demangle(&format!("_Z1f{mangled}i{close}"));
            assert_eq!(function, Some(format!("f({name})")));
            let constructor = demangle(&format!("_ZN1XC1I{mangled}i{close}EET_"));
            assert_eq!(constructor, Some(format!("X::X<{name} >({name})")));
        }
        assert_eq!(demangle(&format!("_Z1f{}i", "P".repeat(1 << 13))), None);
    }

    #[test]
    fn only_rust_and_cpp_names_are_demangled() {
        for names in [
            "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE core::fmt::Write::write_fmt",
            "_RNvCskwGfYPst2Cb_3foo16example_function foo::example_function",
            "_ZN5shape4areaEid shape::area(int, double)",
            "_ZN3FooC1Ev Foo::Foo()",
            "_Z3addIiET_S0_S0_.cold int add<int>(int, int) [clone .cold]",
        ] {
            let (mangled, name) = names.split_once(' ').unwrap();
            assert_eq!(demangle(mangled).as_deref(), Some(name));
        }
        for other in ["main", "$s4Demo0load0", "_Z", "_ZN", "_RNvC"] {
            assert_eq!(demangle(other), None);
        }
    }

    #[test]
    fn a_short_name_that_expands_to_a_huge_one_stays_mangled() {
        // Each type is a pair of the previous type, to which it refers by substitution number.
        let mut mangled = "_Z1fP1AIiiE".to_owned();
        for last in "13579BDFHJLNPRTVX".chars() {
            mangled.push_str(&format!("1BIS{last}_S{last}_E"));
        }
        assert_eq!(demangle(&mangled), None);
    }

    #[test]
    fn damaged_names_are_refused_or_demangled_without_a_panic() {
        let whole = "_ZNKSt6vectorIN5shape3BoxIiEESaIS2_EE5beginEvPFvRKT_DpOT0_EXadL_Z1fvEE";
        let demangler = Demangler::new(spawn, Budget::new());
        let mut seed = 7_u64;
        for _ in 0..20_000 {
            let mut bytes = whole.as_bytes().to_vec();
            for _ in 0..3 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let place = usize::try_from(seed >> 33).unwrap() % bytes.len();
                bytes[place] = whole.as_bytes()[usize::try_from(seed >> 12 & 63).unwrap()];
            }
            let name = String::from_utf8(bytes).unwrap();
            assert_ne!(demangler.demangle(&name).as_deref(), Some(""));
        }
    }

    #[test]
    fn short_names_have_no_return_type_and_no_parameters() {
        for names in [
            "job::fib(int) | job::fib",
            "int twice<int>(int) | twice<int>",
            "(anonymous namespace)::hidden(int) | (anonymous namespace)::hidden",
            "M::get() const & | M::get",
            "f(int) [clone .cold] | f",
            "A::operator()(int) const | A::operator()",
            "bool operator< <int>(A<int>, A<int>) | operator< <int>",
            "A::operator->() const | A::operator->",
            "A::operator unsigned long() | A::operator unsigned long",
            "operator new(unsigned long) | operator new",
            "unsigned long max<(A)1, int (*)(int)>(int (*)(int)) | max<(A)1, int (*)(int)>",
            "decltype (x->y()) f<A<(1)>(2)>>(int) | f<A<(1)>(2)>>",
            "main::{lambda(int)#1}::operator()(int) const | main::{lambda(int)#1}::operator()",
            "auto f()::{lambda(auto:1)#1}::operator()<int>(int) const \
             | f()::{lambda(auto:1)#1}::operator()<int>",
            "cooperator::f(int) | cooperator::f",
        ] {
            let (name, expected) = names.split_once(" | ").unwrap();
            assert_eq!(short(name), Some(expected), "{name}");
        }
        for name in [
            "<impl Fn(i32)>::call",
            "<fn(i32) as T>::f",
            "core::ptr::read",
        ] {
            assert_eq!(short(name), None, "{name}");
        }
    }
}

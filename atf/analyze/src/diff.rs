//! Compares runs of a program, function by function.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use atf::manifest::Module;
use atf::symbols::Function;

use crate::table::Times;
use crate::{Functions, ThreadTotals, Totals};

/// The functions in one run of a program, over all sessions of the run. A run has one session per
/// process.
#[derive(Debug, Default)]
pub struct Run {
    functions: BTreeMap<Subject, Times>,
    threads: Vec<ThreadTotals>,
}

/// A function, identified in a way that works across runs. Ids differ between builds, so a named
/// function is identified by its name and its module's file name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Subject {
    /// A named function: all functions with this name in modules with this file name.
    Named {
        /// Its name.
        name: String,
        /// The file name of its module, if known.
        module: Option<String>,
    },
    /// A function without a name.
    Unnamed {
        /// Its id.
        id: u64,
        /// The file name of its module, if known.
        module: Option<String>,
    },
    /// All functions beyond [`max_functions`](crate::Options::max_functions).
    Others,
}

/// A comparison of runs, from [`diff`].
#[derive(Debug)]
#[non_exhaustive]
pub struct Diff {
    /// The functions, sorted by change in self time (largest first), then by name.
    pub changes: Vec<Change>,
    /// The totals of each earlier run.
    pub before: Vec<Totals>,
    /// The totals of each later run.
    pub after: Vec<Totals>,
}

/// A function's figures in earlier and later runs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// The function.
    pub subject: Subject,
    /// Its figures in the earlier runs.
    pub before: Figures,
    /// Its figures in the later runs.
    pub after: Figures,
    /// Whether both its calls and its self time are within the noise: see [`diff`].
    pub is_noise: bool,
}

/// A function's figures in all earlier or all later runs, 0 for runs without the function.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Figures {
    /// The numbers of calls.
    pub calls: Spread,
    /// The self times in nanoseconds.
    pub self_ns: Spread,
    /// The total times in nanoseconds. Times of functions with the same name are added up.
    pub total_ns: Spread,
}

/// How a figure varies between runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Spread {
    /// The least value.
    pub min: u64,
    /// The middle value; for an even number of runs, the lower of the two middle values.
    pub median: u64,
    /// The largest value.
    pub max: u64,
}

/// Compares runs, function by function.
///
/// # Noise
///
/// A difference is *noise* if two runs of the same program can differ by that much.
///
/// - With several runs on a side, a difference is noise if the two sides' ranges, from the least to
///   the largest value, overlap. [`luck`](Diff::luck) returns how often the ranges are disjoint by
///   chance.
/// - With a single run on each side, the variation between runs is unknown. A difference is then
///   noise if it is at most `noise_percent` of the greater value. This limit is an assumption, not
///   a measurement.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # for (name, id, end_ns) in [("before", 7, 250), ("after", 9, 900)] {
/// #     let writer = atf::write::SessionWriter::create(folder.path().join(name), &Default::default())?;
/// #     let mut thread = writer.thread(0)?;
/// #     for (timestamp_ns, event_kind) in [(100, atf::EventKind::CALL), (end_ns, atf::EventKind::RETURN)] {
/// #         thread.write(&atf::write::Event::new(timestamp_ns, id, event_kind, 1))?;
/// #     }
/// #     thread.finalize()?;
/// #     writer.set_symbols(vec![atf::manifest::Symbol::new(id, "parse")]);
/// #     writer.finalize()?;
/// # }
/// use atf::session::SessionReader;
/// use atf_analyze::Run;
///
/// let run = |name: &str| {
///     let session = SessionReader::open(folder.path().join(name))?;
///     let functions = atf_analyze::functions(&session, &atf_analyze::Options::default());
///     let mut run = Run::default();
///     run.add(&functions, |id| session.symbols().function(id));
///     Ok::<_, atf::Error>(run)
/// };
/// let diff = atf_analyze::diff(&[run("before")?], &[run("after")?], 10);
/// let change = &diff.changes[0];
/// assert_eq!(change.subject.to_string(), "parse");
/// assert_eq!((change.change_ns(), change.is_noise), (650, false));
/// # Ok::<(), atf::Error>(())
/// ```
#[must_use]
pub fn diff(before: &[Run], after: &[Run], noise_percent: u32) -> Diff {
    let subjects: BTreeSet<&Subject> = before
        .iter()
        .chain(after)
        .flat_map(|run| run.functions.keys())
        .collect();
    let noise = match (before, after) {
        ([_], [_]) => Noise::Percent(noise_percent),
        _ => Noise::Ranges,
    };
    let change = |subject: &Subject| {
        let [before, after] = [before, after].map(|runs| Figures::new(runs, subject));
        Change {
            subject: subject.clone(),
            before,
            after,
            is_noise: noise.covers(&before.self_ns, &after.self_ns)
                && noise.covers(&before.calls, &after.calls),
        }
    };
    let mut changes: Vec<_> = subjects.into_iter().map(change).collect();
    // The sort is stable: equal changes stay sorted by name.
    changes.sort_by_key(|it| Reverse(it.before.self_ns.median.abs_diff(it.after.self_ns.median)));
    let totals = |runs: &[Run]| runs.iter().map(Run::totals).collect();
    Diff {
        changes,
        before: totals(before),
        after: totals(after),
    }
}

impl Run {
    /// Adds a session's functions. `known` returns the name and module for a function id.
    pub fn add<'s>(&mut self, functions: &Functions, known: impl Fn(u64) -> Function<'s>) {
        let called = functions.functions.iter();
        for row in called.filter(|row| !row.times.is_empty()) {
            let subject = Subject::new(&known(row.function_id));
            self.functions.entry(subject).or_default().add(&row.times);
        }
        if let Some(others) = &functions.others {
            let all = self.functions.entry(Subject::Others).or_default();
            all.add(&others.times);
        }
        self.threads.extend_from_slice(&functions.threads);
    }

    /// Returns the totals over all threads.
    #[must_use]
    pub fn totals(&self) -> Totals {
        Totals::sum(&self.threads)
    }
}

impl Diff {
    /// Returns the probability that the ranges of an unchanged function are disjoint by chance, as
    /// at most `.0` in `.1`. The second number saturates.
    ///
    /// If nothing changed, every order of the runs' values is equally likely. There are C(n + m, n)
    /// ways to choose n out of n + m values, and in 2 of them, the n values are the n smallest or
    /// the n largest.
    #[must_use]
    pub fn luck(&self) -> (u64, u64) {
        let (before, after) = (self.before.len() as u64, self.after.len() as u64);
        let choices = (1..=u128::from(before)).fold(1_u128, |choices, at| {
            let choices = choices.saturating_mul(at.saturating_add(after.into()));
            choices.checked_div(at).unwrap_or(choices)
        });
        (2, u64::try_from(choices).unwrap_or(u64::MAX))
    }
}

impl Change {
    /// Returns the change in self time, in nanoseconds: the difference of the medians, which is
    /// negative if the time decreased.
    #[must_use]
    pub fn change_ns(&self) -> i128 {
        let [before, after] = [self.before, self.after].map(|side| side.self_ns.median.into());
        i128::saturating_sub(after, before)
    }

    /// Returns whether the function is absent from all earlier runs.
    #[must_use]
    pub fn appeared(&self) -> bool {
        self.before == Figures::default()
    }

    /// Returns whether the function is absent from all later runs.
    #[must_use]
    pub fn vanished(&self) -> bool {
        self.after == Figures::default()
    }
}

impl Subject {
    fn new(function: &Function<'_>) -> Self {
        let module = function.module_file().map(str::to_owned);
        match function.name {
            Some(name) => Self::Named {
                name: name.to_owned(),
                module,
            },
            None => Self::Unnamed {
                id: function.id,
                module,
            },
        }
    }

    /// Returns the file name of the function's module, if known.
    #[must_use]
    pub fn module(&self) -> Option<&str> {
        match self {
            Self::Named { module, .. } | Self::Unnamed { module, .. } => module.as_deref(),
            Self::Others => None,
        }
    }
}

/// Like [`Function`], displays a named function without its module.
impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named { name, .. } => f.write_str(name),
            Self::Unnamed { id, module } => {
                let module = module.as_ref().map(|file| Module::new(0).path(file));
                let mut function = Function::new(*id, None);
                function.module = module.as_ref();
                function.fmt(f)
            }
            Self::Others => f.write_str("functions beyond the limit, together"),
        }
    }
}

impl Figures {
    fn new(runs: &[Run], subject: &Subject) -> Self {
        let spread = |figure: fn(&Times) -> u64| {
            let figures = runs.iter().map(|run| run.functions.get(subject));
            Spread::new(figures.map(|times| times.map_or(0, figure)).collect())
        };
        Self {
            calls: spread(|times| times.calls),
            self_ns: spread(|times| times.self_ns),
            total_ns: spread(|times| times.total_ns),
        }
    }
}

impl Spread {
    /// Returns how these values vary; all zeros if there are none.
    #[must_use]
    pub fn new(mut values: Vec<u64>) -> Self {
        values.sort_unstable();
        let middle = values.len().saturating_sub(1) / 2;
        let value = |value: Option<&u64>| value.copied().unwrap_or_default();
        Self {
            min: value(values.first()),
            median: value(values.get(middle)),
            max: value(values.last()),
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Noise {
    Ranges,
    Percent(u32),
}

impl Noise {
    fn covers(self, before: &Spread, after: &Spread) -> bool {
        match self {
            Self::Ranges => before.min <= after.max && after.min <= before.max,
            Self::Percent(percent) => {
                let scaled = |value: u64, by: u32| u128::from(value).saturating_mul(by.into());
                let greater = before.median.max(after.median);
                let difference = before.median.abs_diff(after.median);
                scaled(difference, 100) <= scaled(greater, percent)
            }
        }
    }
}

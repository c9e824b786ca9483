//! `run`: grades implementations with the corpus.

mod watch;

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, SystemTime};

use atf_conformance::corpus::large_names;
use atf_conformance::corpus::pairs::{is_pair, pair_cases};
use atf_conformance::protocol::Manifest;
use atf_conformance::report;
use atf_conformance::results::{Grading, Made, Results, Role};
use atf_conformance::rules;
use atf_conformance::run::warden::contained;
use atf_conformance::run::{
    Candidate, Failures, Limits, Pool, Scope, Select, Shard, Smoke, exit_code, readings,
    run as grade, tasks,
};
use atf_report::{Form, Printable, Target};
use clap::builder::{PathBufValueParser, StringValueParser, TypedValueParser};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::interrupt::Interrupt;
use super::one_of;

const AFTER_HELP: &str = "\
Without a TESTEE.toml, grades the built-in reference implementation, through the same processes as
any other. docs/conformance explains how to connect an implementation and what TESTEE.toml contains.

Exit status: 0 all results as expected; 1 unexpected results; 2 usage error, or nothing was graded;
3 an implementation cannot be started or fails its smoke test (the others are reported in full);
4 a failure list is stale. If several apply: 3, then 4, then 1.

Example:
  $ atf-conformance run my-reader/TESTEE.toml --rule ATF-IFTR-004";

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Options {
    #[command(flatten)]
    testees: Testees,
    /// Only cases whose names match; * also matches /
    #[arg(long = "case", value_name = "GLOB")]
    cases: Vec<String>,
    /// Only cases about this rule, such as ATF-IFTR-004 or iftr-004
    #[arg(long = "rule", value_name = "ID", value_parser = StringValueParser::new().map(|id| rule_id(&id)))]
    rules: Vec<String>,
    /// Only this role
    #[arg(long = "role", value_name = "ROLE", value_parser = one_of(Role::ALL, Role::name))]
    roles: Vec<Role>,
    /// Only pairs of faults: files that break two rules, composed from the corpus's faults. Other
    /// runs do not include them
    #[arg(long)]
    pairs: bool,
    /// Only part I of N: all parts together run each case once
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// Run each case N times, and list those whose answers differ
    #[arg(long, value_name = "N", default_value = "1")]
    repeat: NonZero<u32>,
    /// Selects which passes of persistent processes are repeated in a separate process
    #[arg(long, value_name = "N", default_value = "1")]
    seed: u64,
    /// Grade data and labels, or only data (events and their values, without what a reader reports
    /// about them)
    #[arg(long, value_name = "GRADE", default_value = "all")]
    #[arg(value_parser = one_of(Grading::ALL, Grading::name))]
    grade: Grading,
    #[arg(long = "report", value_name = "FORM[=FILE]", help = Form::help())]
    reports: Vec<Target>,
    /// Also write the failures to standard error as annotations for this CI service, at the
    /// TESTEE.toml
    #[arg(long, value_name = "SERVICE")]
    annotate: Option<Service>,
    /// Run again whenever a file next to a TESTEE.toml changes: first the failed cases, and all
    /// cases once these pass
    #[arg(long, requires = "manifests", conflicts_with_all = ["update", "shard"])]
    watch: bool,
    /// Print every failure in full, not just scores and causes
    #[arg(long)]
    details: bool,
    /// Count a writer's broken SHOULDs as failures
    #[arg(long, value_name = "WHAT")]
    deny: Option<Deny>,
    /// Rewrite the failure lists: remove entries that no longer apply, with their comments, and add
    /// new failures, with --reason or an empty reason for you to fill in
    #[arg(long)]
    update: bool,
    /// The reason for added failures
    #[arg(long, value_name = "TEXT", requires = "update")]
    reason: Option<String>,
}

/// The implementations under test and their limits, shared by `run` and `smoke`.
#[derive(clap::Args)]
pub(super) struct Testees {
    /// Manifests of the implementations under test, or the folders that contain them
    #[arg(value_name = "TESTEE.toml", value_parser = PathBufValueParser::new().map(in_folder))]
    manifests: Vec<PathBuf>,
    /// Time limit for each case
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds)]
    time_limit: Duration,
    /// Limit on resident memory
    #[arg(long, value_name = "MIB", default_value = "1024")]
    memory_limit: NonZero<u32>,
    /// Run this many cases in parallel [default: number of processors]
    #[arg(long, short, value_name = "N")]
    jobs: Option<NonZero<usize>>,
}

/// The kinds of notes on a writer that can make a run fail.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Deny {
    Should,
}

/// A CI service that shows annotations.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Service {
    Github,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|limit| !limit.is_zero())
        .ok_or_else(|| "must be greater than 0".to_owned())
}

fn rule_id(id: &str) -> String {
    let id = id.to_ascii_uppercase();
    if id.starts_with("ATF-") {
        id
    } else {
        format!("ATF-{id}")
    }
}

fn in_folder(path: PathBuf) -> PathBuf {
    if path.is_dir() {
        path.join("TESTEE.toml")
    } else {
        path
    }
}

impl Testees {
    /// Opens the manifests and returns the candidates and the run's options.
    pub(super) fn open(&self) -> Result<(Vec<Candidate>, atf_conformance::run::Options), String> {
        let kit = kit().map_err(|error| format!("cannot find this program: {error}"))?;
        let candidates = match self.manifests.as_slice() {
            [] => vec![Candidate::Manifest(Box::new(Manifest::reference(&kit)))],
            paths => paths.iter().map(|path| candidate(path)).collect(),
        };
        let mut names = BTreeSet::new();
        for candidate in &candidates {
            if let Candidate::Manifest(manifest) = candidate
                && !names.insert(manifest.name.as_str())
            {
                let name = Printable(&manifest.name);
                return Err(format!("two implementations are named {name}"));
            }
        }
        let limits = Limits {
            time: self.time_limit,
            memory: u64::from(self.memory_limit.get()) << 20,
            ..Limits::default()
        };
        let processors = || thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
        let jobs = self.jobs.unwrap_or_else(processors);
        let options = atf_conformance::run::Options {
            kit,
            folder: std::env::temp_dir(),
            jobs,
            repeat: NonZero::<u32>::MIN,
            seed: 1,
            limits,
            grading: Grading::All,
            interrupt: Arc::default(),
        };
        Ok((candidates, options))
    }
}

/// Calls `ask` for each usable implementation, which returns whether it passed, and prints why the
/// others are unusable. Returns the exit status: 0, or 3 if one did not pass.
pub(super) fn each(
    testees: &Testees,
    ask: impl Fn(&Pool<'_>, &Manifest, &mut dyn Write) -> io::Result<bool>,
) -> io::Result<u8> {
    let (candidates, options) = testees.open().map_err(io::Error::other)?;
    let interrupt = Interrupt::listen(&options.interrupt)?;
    let all = contained(|| -> io::Result<u8> {
        let pool = Pool::new(&options)?;
        let mut out = anstream::AutoStream::auto(io::stdout().lock());
        let mut status = 0;
        for candidate in &candidates {
            let is_good = match candidate {
                Candidate::Manifest(manifest) => ask(&pool, manifest, &mut out)?,
                Candidate::Unusable(error) => {
                    writeln!(out, "{}", Printable(error))?;
                    false
                }
            };
            if !is_good {
                status = 3;
            }
        }
        out.flush()?;
        Ok(status)
    });
    interrupt.settle();
    all
}

/// Returns the path of the running program, which works even if its file has since been replaced.
pub(super) fn kit() -> io::Result<PathBuf> {
    let own = Path::new("/proc/self/exe");
    if own.exists() {
        Ok(own.to_owned())
    } else {
        std::env::current_exe()
    }
}

fn candidate(path: &Path) -> Candidate {
    let opened = Manifest::open(path).map(Box::new);
    opened.map_or_else(Candidate::Unusable, Candidate::Manifest)
}

pub(super) fn run(options: &Options) -> ExitCode {
    if options.watch {
        return watch::run(options);
    }
    reported(options).unwrap_or_else(|message| failure(&message))
}

/// Grades the implementations and writes the reports.
fn reported(options: &Options) -> Result<ExitCode, String> {
    let form = if options.details {
        Form::Text
    } else {
        Form::Summary
    };
    // Check the targets before the run, which may take a long time.
    let targets = Target::chosen(&options.reports, form).map_err(|error| error.to_string())?;
    if targets.iter().any(|target| target.form == Form::Sarif) {
        return Err(report::CHECKS_ONLY.to_owned());
    }
    { targets.iter().try_for_each(Target::probe) }.map_err(|error| error.to_string())?;
    let results = graded(options)?;
    report::write_all(&results, &targets).map_err(|error| error.to_string())?;
    if let Some(Service::Github) = options.annotate {
        let (manifests, mut out) = (&options.testees.manifests, io::stderr().lock());
        // The report and the exit status matter even if stderr is closed.
        let _ = report::annotate::github(&results, manifests, &mut out);
    }
    Ok(ExitCode::from(exit_code(&results)))
}

pub(super) fn failure(message: &str) -> ExitCode {
    let lines = message.lines().map(|line| Printable(line).to_string());
    let lines = lines.collect::<Vec<_>>().join("\n");
    // If stderr is also closed, nothing can be reported.
    let _ = writeln!(io::stderr(), "atf-conformance: {lines}");
    ExitCode::from(2)
}

fn graded(options: &Options) -> Result<Results, String> {
    let made = Made::new(SystemTime::now(), command_line());
    let (candidates, mut run_options) = options.testees.open()?;
    run_options.repeat = options.repeat;
    run_options.seed = options.seed;
    run_options.grading = options.grade;
    let mut select = Select::new(&options.cases, &options.rules, &options.roles)?;
    select.shard = options.shard;
    select.pairs = options.pairs;
    for manifest in candidates.iter().filter_map(Candidate::manifest) {
        if options.update && manifest.failures.is_none() {
            let name = Printable(&manifest.name);
            return Err(format!(
                "{name}: nothing to update: its TESTEE.toml has no key `failures`"
            ));
        }
    }
    let mut tasks = tasks(|name| select.takes_name(name));
    // A failure list may also contain pairs.
    let is_about_pairs = |list: &PathBuf| {
        let text = fs::read_to_string(list);
        text.is_ok_and(|text| text.lines().any(is_pair))
    };
    let manifests = candidates.iter().filter_map(Candidate::manifest);
    let mut known = manifests.filter_map(|manifest| manifest.failures.as_ref());
    if options.pairs || known.any(is_about_pairs) {
        tasks.extend(readings(pair_cases()));
    }
    if !tasks.iter().any(|task| select.takes(task.as_ref())) {
        return Err(nothing_matches(&options.rules, &tasks));
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{bar:30} {pos} of {len} cases, {elapsed}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let progress = |done: usize, count: usize| {
        bar.set_length(count as u64);
        bar.set_position(done as u64);
    };
    let words = |error: io::Error| error.to_string();
    let interrupt = Interrupt::listen(&run_options.interrupt).map_err(words)?;
    let results = contained(|| grade(&candidates, &tasks, &select, &run_options, &progress));
    bar.finish_and_clear();
    interrupt.settle();
    let mut results = results.map_err(words)?;
    results.made = Some(made);
    if options.deny.is_some() {
        results.deny_shoulds();
    }
    let large = large_names();
    let large = || large.iter().map(String::as_str);
    let names = tasks.iter().map(|task| task.about().name);
    let names: BTreeSet<&str> = names.chain(large()).collect();
    for (testee, candidate) in candidates.iter().enumerate() {
        let Some(manifest) = candidate.manifest() else {
            continue;
        };
        let mut unselected = select.unselected(&tasks, manifest);
        unselected.extend(large().filter(|name| !select.takes_name(name)));
        lists(
            testee,
            manifest,
            (&names, &unselected),
            options,
            &mut results,
        )?;
    }
    results.settle_cross();
    Ok(results)
}

/// Explains why no case matches. If a rule has no cases, quotes the reason from the spec.
fn nothing_matches(wanted: &[String], tasks: &[Box<dyn Smoke>]) -> String {
    let has_cases = |id: &str| tasks.iter().any(|task| task.about().rules.contains(&id));
    let mut reasons = wanted.iter().filter(|id| !has_cases(id)).map(|id| {
        let why = rules::find(id).and_then(|rule| rule.untestable);
        format!("{id} has no case: {}", why.unwrap_or("no test can show it"))
    });
    if let Some(first) = reasons.next() {
        return reasons.fold(first, |all, reason| format!("{all}\n{reason}"));
    }
    if wanted.is_empty() {
        return "no case matches".to_owned();
    }
    let about = tasks.iter().map(|task| task.about());
    let about = about.filter(|it| wanted.iter().any(|id| it.rules.contains(&id.as_str())));
    let roles: BTreeSet<_> = about.map(|it| it.role).collect();
    let roles: Vec<_> = roles.into_iter().map(Role::name).collect();
    let (wanted, roles) = (wanted.join(", "), roles.join(", "));
    format!("no case matches; {wanted} has cases for {roles}")
}

/// Returns the command line, without the path of the program itself.
fn command_line() -> String {
    let arguments = std::env::args_os().skip(1);
    let arguments = arguments.map(|word| word.to_string_lossy().into_owned());
    let words = ["atf-conformance".to_owned()].into_iter().chain(arguments);
    let words: Vec<_> = words.map(|word| quoted(&word)).collect();
    words.join(" ")
}

/// Quotes a word for a shell.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_=./:,@%+".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Applies an implementation's failure list to its results. `names` are all cases, and those that
/// the implementation could run but that were not selected.
fn lists(
    testee: usize,
    manifest: &Manifest,
    (names, unselected): (&BTreeSet<&str>, &BTreeSet<&str>),
    options: &Options,
    results: &mut Results,
) -> Result<(), String> {
    let refused = results.testees.get(testee).map(|it| &it.refused);
    let (Some(path), Some(None)) = (manifest.failures.as_deref(), refused) else {
        return Ok(());
    };
    let at = |error: io::Error| format!("{}: {error}", path.display());
    let mut list = match Failures::open(path) {
        Ok(list) => list,
        Err(error) if options.update && error.kind() == io::ErrorKind::NotFound => {
            Failures::parse(path, "")
        }
        Err(error) => {
            results.stale.push(at(error));
            return Ok(());
        }
    };
    let scope = Scope {
        all_roles: options.roles.is_empty(),
        denies_shoulds: options.deny.is_some(),
        grading: results.grading,
        unselected,
        only_own_files: reads_only_own_files(testee, manifest, results),
    };
    let own = results.cases.iter_mut();
    let mut own: Vec<_> = own.filter(|case| case.testee == testee).collect();
    if options.update {
        let graded: Vec<_> = own.iter().map(|case| &**case).collect();
        let reason = options.reason.as_deref().unwrap_or_default();
        let text = list.updated(&graded, names, scope, reason);
        replace(path, &text).map_err(at)?;
        list = Failures::parse(path, &text);
    }
    let stale = list.apply(&mut own, names, scope);
    results.stale.extend(stale);
    Ok(())
}

/// Returns whether a reader or validator received no other writer's files.
fn reads_only_own_files(testee: usize, manifest: &Manifest, results: &Results) -> bool {
    let mut roles = manifest.roles().into_iter();
    let mut read = results.cross.iter().filter(|cell| cell.reader == testee);
    roles.any(Role::reads) && read.all(|cell| cell.writer == testee)
}

/// Writes a list. An existing file is replaced atomically, so that it survives a full disk, and a
/// symlink to it is kept.
fn replace(list: &Path, text: &str) -> io::Result<()> {
    let place = fs::canonicalize(list).unwrap_or_else(|_| list.to_owned());
    let Some(old) = fs::metadata(&place).ok().filter(fs::Metadata::is_file) else {
        return fs::write(list, text);
    };
    // A write-protected list must not be replaced either.
    fs::File::options().append(true).open(&place)?;
    let mut new = tempfile::NamedTempFile::new_in(place.parent().unwrap_or(&place))?;
    new.write_all(text.as_bytes())?;
    new.as_file().set_permissions(old.permissions())?;
    new.as_file().sync_all()?;
    new.persist(&place)?;
    Ok(())
}

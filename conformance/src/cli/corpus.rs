//! `corpus`: writes, verifies, lists, shows and exports the golden corpus.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use super::{ended, one_of};
use atf_conformance::Verdict;
use atf_conformance::corpus::pairs::{is_pair, pair_cases};
use atf_conformance::corpus::{Case, Class, FLAGS, Reason, all, edition, export, find};
use atf_conformance::queries::queries;
use globset::{GlobBuilder, GlobMatcher};

const AFTER_HELP: &str = "\
The test cases are built into this program; no checkout is needed.

Exit status: 0 success; 1 `verify` found a difference; 2 usage error, or a file error.

Example:
  $ atf-conformance corpus list --rule ATF-IFTR-002 --wire 1
  $ atf-conformance corpus list --verdicts 'v1/ihdr-*'
  $ atf-conformance corpus show v1/iftr-002-one-too-many
  $ atf-conformance corpus copy /tmp/cases 'v1/iftr-*'
  $ atf-conformance corpus export atf-corpus";

/// The committed corpus, relative to the root of the checkout.
const FOLDER: &str = "conformance/corpus";

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Options {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// Write the corpus into a folder
    Generate {
        /// The folder; files left by an older corpus are removed
        #[arg(default_value = FOLDER)]
        folder: PathBuf,
    },
    /// Compare a folder with the corpus, byte by byte
    Verify {
        /// The folder
        #[arg(default_value = FOLDER)]
        folder: PathBuf,
    },
    /// List the test cases with class, expected verdicts and rules
    List {
        /// Instead of class and rules, print why a case must be rejected, and count the cases by
        /// verdict
        #[arg(long)]
        verdicts: bool,
        #[command(flatten)]
        filter: Filter,
    },
    /// Show a test case: its purpose, the expected result, and its annotated bytes
    Show {
        /// The test case's name, such as v1/iftr-002-one-too-many
        case: String,
    },
    /// Write test cases into a folder, including symlinks and empty folders
    Copy {
        /// The folder
        out: PathBuf,
        #[command(flatten)]
        filter: Filter,
    },
    /// Write test cases for use without this program: files and folders with the correct verdicts
    /// in their names, and index.csv
    Export {
        /// The folder
        out: PathBuf,
        #[command(flatten)]
        filter: Filter,
    },
}

/// Selects test cases.
#[derive(clap::Args)]
struct Filter {
    /// Only cases whose names match this glob
    #[arg(value_name = "GLOB")]
    name: Option<String>,
    /// Only cases about this rule: ATF-IFTR-002, or ATF-IFTR for all rules about a record
    #[arg(long)]
    rule: Option<String>,
    /// Only cases of this class
    #[arg(long, value_parser = one_of(Class::ALL, Class::name))]
    class: Option<Class>,
    /// Only cases that catch this known mistake
    #[arg(long)]
    flag: Option<String>,
    /// Only cases of this wire version
    #[arg(long)]
    wire: Option<u8>,
    /// The pairs of faults instead of the corpus
    #[arg(long)]
    pairs: bool,
}

pub(super) fn run(options: &Options) -> ExitCode {
    ended(perform(&options.action))
}

fn perform(action: &Action) -> io::Result<u8> {
    match action {
        Action::Generate { folder } => edition::generate(folder, &all(|_| true))?,
        Action::Verify { folder } => return verify(folder),
        Action::List { verdicts, filter } => {
            let list = if *verdicts { list_verdicts } else { list };
            print(&list(&filter.cases()?))?;
        }
        Action::Show { case } => show(case)?,
        Action::Copy { out, filter } => edition::copy(out, &filter.cases()?)?,
        Action::Export { out, filter } => export::export(out, &filter.cases()?)?,
    }
    Ok(0)
}

fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

fn verify(folder: &std::path::Path) -> io::Result<u8> {
    let cases = all(|_| true);
    let differences = edition::verify(folder, &cases);
    let Some(first) = differences.first() else {
        let count = cases.len();
        print(&format!("{}: {count} cases, all match\n", folder.display()))?;
        return Ok(0);
    };
    let more = match differences.len() - 1 {
        0 => String::new(),
        more => format!("\nand {more} more"),
    };
    print(&format!("{}/{first}{more}\n", folder.display()))?;
    Ok(1)
}

impl Filter {
    fn cases(&self) -> io::Result<Vec<Case>> {
        let glob = self.name.as_deref().map(matcher).transpose()?;
        if let Some(flag) = &self.flag
            && FLAGS.iter().all(|known| known.name != flag)
        {
            let known: Vec<_> = FLAGS.iter().map(|flag| flag.name).collect();
            let known = known.join(", ");
            return Err(io::Error::other(format!(
                "unknown flag {flag}; known flags: {known}"
            )));
        }
        let is_named = |name: &str| glob.as_ref().is_none_or(|glob| glob.is_match(name));
        let is_wanted = |case: &Case| {
            is_named(&case.name)
                && self.rule.as_ref().is_none_or(|rule| is_about(case, rule))
                && self.class.is_none_or(|class| case.class == class)
                && (self.flag.as_ref()).is_none_or(|flag| case.flags.contains(&flag.as_str()))
                && self.wire.is_none_or(|wire| case.wire == wire)
        };
        let all = if self.pairs {
            pair_cases()
        } else {
            all(is_named)
        };
        let cases: Vec<_> = all.into_iter().filter(is_wanted).collect();
        if cases.is_empty() {
            Err(io::Error::other("no case matches"))
        } else {
            Ok(cases)
        }
    }
}

fn matcher(glob: &str) -> io::Result<GlobMatcher> {
    let glob = GlobBuilder::new(glob).literal_separator(false).build();
    Ok(glob.map_err(io::Error::other)?.compile_matcher())
}

fn is_about(case: &Case, rule: &str) -> bool {
    let wanted = rule.to_uppercase();
    case.rules.iter().any(|rule| rule.starts_with(&wanted))
}

fn joined(verdicts: &[Verdict], between: &str) -> String {
    let names: Vec<_> = verdicts.iter().map(|verdict| verdict.name()).collect();
    names.join(between)
}

/// Lists each case with its expected verdicts, followed by the number of cases for each set of
/// verdicts.
fn list_verdicts(cases: &[Case]) -> String {
    let width = cases.iter().map(|case| case.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    let mut counts: BTreeMap<&[Verdict], usize> = BTreeMap::new();
    for case in cases {
        *counts.entry(&case.verdicts).or_default() += 1;
        let (name, verdicts) = (&case.name, joined(&case.verdicts, "/"));
        let reasons = case.because.iter().map(|(it, why)| excluded(*it, why));
        let reasons: Vec<_> = reasons.collect();
        let line = format!("{name:width$}  {verdicts:21}  {}", reasons.join("; "));
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text.push('\n');
    for (verdicts, count) in counts {
        let _ = writeln!(text, "{count:5}  {}", joined(verdicts, "/"));
    }
    let excluded = cases.iter().flat_map(|case| case.because.values());
    let (sentences, harms): (Vec<_>, Vec<_>) =
        excluded.partition(|why| why.iter().any(Reason::is_sentence));
    let _ = writeln!(
        text,
        "\n{:5}  verdicts excluded by a sentence\n{:5}  verdicts excluded only by a harm to data",
        sentences.len(),
        harms.len()
    );
    text
}

/// Formats the reasons against a verdict.
fn excluded(verdict: Verdict, reasons: &[Reason]) -> String {
    let reasons: Vec<_> = reasons.iter().map(ToString::to_string).collect();
    format!("not {}: {}", verdict.name(), reasons.join(" "))
}

fn list(cases: &[Case]) -> String {
    let width = cases.iter().map(|case| case.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for case in cases {
        // A clean case tests most rules, so the list would not fit on one line.
        let (shown, rest) = case.rules.split_at(case.rules.len().min(3));
        let shown = shown.join(" ");
        let more = match rest.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let (name, class, verdict) = (&case.name, case.class.name(), joined(&case.verdicts, "/"));
        let _ = writeln!(
            text,
            "{name:width$}  {class:9}  {verdict:14}  {shown}{more}"
        );
    }
    text
}

fn show(name: &str) -> io::Result<()> {
    let case = if is_pair(name) {
        let mut pairs = pair_cases().into_iter();
        pairs.find(|case| case.name == name)
    } else {
        find(name)
    };
    let Some(case) = case else {
        return Err(io::Error::other(format!("{name}: no such case")));
    };
    let mut text = format!(
        "{name}: {}, to {}\n",
        case.class.name(),
        joined(&case.verdicts, " or ")
    );
    let _ = writeln!(text, "\n{}\n", case.note);
    let _ = writeln!(text, "about    {}", case.rules.join(" "));
    for (position, (file, rule)) in case.broken.iter().enumerate() {
        let place = case.place.as_ref().filter(|_| position == 0);
        let place = place.map_or_else(String::new, |place| {
            let offset = place.offset.map(|offset| format!(" at {offset}"));
            format!(", {}{}", place.field, offset.unwrap_or_default())
        });
        let _ = writeln!(text, "breaks   {rule} in {file}{place}");
    }
    for flag in FLAGS.iter().filter(|flag| case.flags.contains(&flag.name)) {
        let _ = writeln!(text, "flag     {}: {}", flag.name, flag.note);
    }
    for (verdict, reasons) in &case.because {
        let _ = writeln!(text, "because  {}", excluded(*verdict, reasons));
    }
    if !case.sources.is_empty() {
        let _ = writeln!(text, "sources  {}", case.sources.join(" "));
    }
    for (path, target) in &case.symlinks {
        let _ = writeln!(text, "symlink  {path} to {target}");
    }
    for path in &case.folders {
        let _ = writeln!(text, "folder   {path}");
    }
    for query in queries(&case) {
        let _ = writeln!(text, "query    {}: {}", query.text, query.answer);
    }
    if case.is_large() {
        for (path, bytes) in &case.files {
            let _ = writeln!(text, "file     {path}, {} bytes", bytes.len());
        }
        return print(&text);
    }
    let _ = writeln!(text, "\nExpected result\n{}", edition::text(&case.expected));
    for other in &case.alternatives {
        let _ = writeln!(text, "Or\n{}", edition::text(other));
    }
    let _ = write!(text, "Bytes\n{}", case.dump());
    print(&text)
}

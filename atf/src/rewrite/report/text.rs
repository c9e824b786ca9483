//! Formats a report as text, with one line per fact, indented below its subject.

use std::fmt::{Display, Formatter, Result, Write};

use super::aside::{IN_UNREADABLE, copied};
use super::{
    Action, DropReason, Dropped, Effect, Kept, LeftBehind, ManifestReport, Note, Place, Report,
    SessionReport, SetAside, ThreadReport,
};
use crate::files::INDEX_FILE;
use crate::index::IndexEvent;
use crate::manifest::{Cut, Missing};
use crate::text::{are, counted};

const EVENT_SIZE: u64 = IndexEvent::SIZE as u64;

pub(super) fn report(report: &Report, f: &mut Formatter<'_>) -> Result {
    for item in &report.sessions {
        session(report.action, item, f)?;
    }
    for item in &report.left_behind {
        not_taken(item, "", f)?;
    }
    Ok(())
}

fn not_taken(item: &LeftBehind, indent: &str, f: &mut Formatter<'_>) -> Result {
    let (path, why) = (Line(&item.path), Line(&item.why));
    let what = if item.why.ends_with(IN_UNREADABLE) {
        "not read"
    } else {
        "not copied"
    };
    writeln!(f, "{indent}{path}: {what}: {why}{}", Rule(item.rule))
}

fn session(action: Action, session: &SessionReport, f: &mut Formatter<'_>) -> Result {
    let name = match session.folder.as_str() {
        "" => match &session.manifest {
            Some(_) => "session",
            None => "thread",
        },
        folder => folder,
    };
    let state = match (session.changed, action) {
        (false, _) => "nothing to change",
        (true, Action::Recover) => "recovered",
        (true, Action::Convert) => "converted",
        (true, Action::Scrub) => "scrubbed",
        (true, Action::Cut) => "cut",
    };
    write!(f, "{}: {state}, ", Line(name))?;
    let (recovered, unread) = session.thread_counts();
    match session.events() {
        0 => write!(f, "no events")?,
        events => {
            let (events, details) = (counted(events, "event"), session.details());
            let threads = counted(recovered, "thread");
            let details = counted(details, "detail");
            write!(f, "{events} and {details} of {threads}")?;
        }
    }
    match (unread, session.events()) {
        (0, _) => {}
        (_, 0) => write!(f, "; {} could not be read", counted(unread, "thread"))?,
        (_, _) => write!(f, "; {unread} could not be read")?,
    }
    let (missing, other) = session.known_losses(unread);
    if missing > 0 {
        let (events, are) = (counted(missing, "event"), are(missing));
        write!(f, "; {events} {are} missing")?;
    }
    match other {
        0 => writeln!(f)?,
        1 => writeln!(f, "; 1 thing was lost or changed")?,
        _ => writeln!(f, "; {other} things were lost or changed")?,
    }
    for item in &session.threads {
        thread(action, item, &session.left_behind, f)?;
    }
    if let Some(item) = &session.manifest {
        manifest(item, f)?;
    }
    for item in &session.left_behind {
        not_taken(item, "  ", f)?;
    }
    Ok(())
}

fn thread(
    action: Action,
    thread: &ThreadReport,
    left_behind: &[LeftBehind],
    f: &mut Formatter<'_>,
) -> Result {
    let folder = match thread.folder.as_str() {
        "" => "the thread",
        folder => folder,
    };
    let folder = Line(folder);
    if let Some(why) = &thread.not_recovered {
        write!(f, "  {folder}: cannot be read: {}", At(why))?;
        let is_copied = matches!(action, Action::Recover | Action::Convert);
        if is_copied && let Some(kept) = copied(&thread.folder, left_behind) {
            write!(f, "{kept}")?;
        }
        return writeln!(f);
    }
    if thread.nothing_written {
        write!(f, "  {folder}: no events")?;
        for note in thread.notes.iter() {
            for place in &note.first {
                write!(f, ": {}{}", At(place), Rule(note.rule))?;
            }
        }
        return writeln!(f);
    }
    let (events, details) = (thread.events, thread.details);
    write!(f, "  {folder}: {}", counted(events.kept, "event"))?;
    from_ring(events, f)?;
    write!(f, ", {}", counted(details.kept, "detail"))?;
    from_ring(details, f)?;
    if let Some(Cut { calls, returns, .. }) = thread.cut {
        let (calls, returns) = (
            counted(calls, "repeated call"),
            counted(returns, "added return"),
        );
        write!(f, ", with {calls} and {returns}")?;
    }
    writeln!(f)?;
    for item in &thread.set_aside {
        set_aside(item, f)?;
    }
    for item in &thread.dropped {
        writeln!(f, "    dropped: {item}{}", Rule(item.rule))?;
    }
    notes(thread.notes.iter(), f)
}

fn from_ring(kept: Kept, f: &mut Formatter<'_>) -> Result {
    match kept.from_ring {
        0 => Ok(()),
        count => write!(f, " ({count} from ring.atf)"),
    }
}

fn set_aside(item: &SetAside, f: &mut Formatter<'_>) -> Result {
    write!(f, "    set aside in {}: {item}", item.file)?;
    for rule in &item.rules {
        write!(f, "{}", Rule(Some(rule)))?;
    }
    writeln!(f)
}

fn notes<'a>(notes: impl Iterator<Item = &'a Note>, f: &mut Formatter<'_>) -> Result {
    for note in notes {
        let effect = match note.effect {
            Effect::Repaired => "repaired",
            Effect::Stays => "stays",
            Effect::Lost => "lost",
            Effect::Guessed => "deduced",
        };
        writeln!(f, "    {effect}: {note}{}", Rule(note.rule))?;
    }
    Ok(())
}

/// Formats the note without its effect and its rule.
impl Display for Note {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}", self.kind)?;
        match (self.count, self.first.first()) {
            (1, Some(place)) => write!(f, ": {}", At(place)),
            (count, Some(place)) => write!(f, ": {count} times, first {}", At(place)),
            (count, None) => write!(f, ": {count} times"),
        }
    }
}

/// Formats the bytes without the rule that they break.
impl Display for Dropped {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let Self {
            file, offset, why, ..
        } = self;
        let size = counted(self.size, "byte");
        let events = counted(self.size / EVENT_SIZE, "event");
        match why {
            DropReason::AfterHole => write!(f, "{events} after a hole")?,
            DropReason::Hole => write!(f, "a hole, {events} of zeros")?,
            _ => write!(f, "{why}")?,
        }
        write!(f, ": {file}: {size} (at {offset:#x}")?;
        match self.count.saturating_sub(1) {
            0 => f.write_str(")"),
            more => write!(f, " and {} more)", counted(more, "place")),
        }
    }
}

/// Formats the events without their new file and the rules that they break.
impl Display for SetAside {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let (from, count) = (self.from, self.count);
        match from {
            INDEX_FILE => write!(f, "{} from after a hole", counted(count, "event"))?,
            _ => write!(f, "{} that no event refers to", counted(count, "detail"))?,
        }
        match self.runs.first() {
            Some(run) => {
                let (seq, offset) = (run.seq, run.offset);
                write!(f, ", the first was {from}: events[{seq}] (at {offset:#x})")
            }
            None => Ok(()),
        }
    }
}

fn manifest(manifest: &ManifestReport, f: &mut Formatter<'_>) -> Result {
    let modules = counted(manifest.modules, "module");
    let symbols = counted(manifest.symbols, "symbol");
    write!(f, "  manifest.json: {modules}, {symbols}")?;
    if manifest.symbols_taken > 0 {
        write!(f, " ({} from the other manifest)", manifest.symbols_taken)?;
    }
    writeln!(f)?;
    if let Some(first) = manifest.problems.first() {
        let count = manifest.problem_count;
        let problems = counted(count, "problem");
        if manifest.is_lost {
            writeln!(f, "    lost: the whole manifest: {}", At(first))?;
        } else {
            let effect = match manifest.values_lost {
                0 => "repaired",
                _ => "lost or repaired",
            };
            writeln!(f, "    {effect}: {problems}, first {}", At(first))?;
        }
    }
    if let Some(events) = manifest.unwritten_events {
        let missing = Missing::Unwritten {
            events,
            has_ended: true,
            drops: manifest.drops_events,
        };
        writeln!(f, "    {missing}")?;
    }
    notes(manifest.notes.iter(), f)
}

/// A place, displayed in a report.
struct At<'a>(&'a Place);

impl Display for At<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let place = self.0;
        write!(f, "{}", Line(&place.file))?;
        for text in [&place.field, &place.found] {
            if !text.is_empty() {
                write!(f, ": {}", Line(text))?;
            }
        }
        if let Some(offset) = place.offset {
            write!(f, " (at {offset:#x})")?;
        }
        write!(f, "{}", Rule(place.rule))
    }
}

/// The id of a broken rule, displayed at the end of a fact.
struct Rule(Option<&'static str>);

impl Display for Rule {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self.0 {
            Some(rule) => write!(f, " [{rule}]"),
            None => Ok(()),
        }
    }
}

/// A file's name, or text from a file, displayed on one line. Line breaks and other control
/// characters are escaped.
struct Line<'a>(&'a str);

impl Display for Line<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        for letter in self.0.chars() {
            if letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}') {
                write!(f, "{}", letter.escape_unicode())?;
            } else {
                f.write_char(letter)?;
            }
        }
        Ok(())
    }
}

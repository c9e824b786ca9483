//! A report as text: one line for each fact, indented below what it is about.

use std::fmt::{Display, Formatter, Result};

use super::report::{
    Action, Dropped, Effect, ManifestReport, Note, Place, Report, SessionReport, SetAside,
    ThreadReport, What, Why,
};

pub(super) fn report(report: &Report, f: &mut Formatter<'_>) -> Result {
    for item in &report.sessions {
        session(report.action, item, f)?;
    }
    for item in &report.left_behind {
        writeln!(f, "{}: not taken, {}", item.path, item.why)?;
    }
    Ok(())
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
    };
    writeln!(f, "{name}: {state}")?;
    for item in &session.threads {
        thread(item, f)?;
    }
    if let Some(item) = &session.manifest {
        manifest(item, f)?;
    }
    for item in &session.left_behind {
        writeln!(f, "  {}: not taken, {}", item.path, item.why)?;
    }
    Ok(())
}

fn thread(thread: &ThreadReport, f: &mut Formatter<'_>) -> Result {
    let folder = match thread.folder.as_str() {
        "" => "the thread",
        folder => folder,
    };
    if let Some(why) = &thread.not_recovered {
        return writeln!(f, "  {folder}: not recovered: {}", At(why));
    }
    let (events, details) = (thread.events, thread.details);
    write!(f, "  {folder}: {}", counted(events.kept, "event"))?;
    if events.from_ring > 0 {
        write!(f, " ({} from ring.atf)", events.from_ring)?;
    }
    writeln!(f, ", {}", counted(details.kept, "detail"))?;
    for item in &thread.set_aside {
        set_aside(item, f)?;
    }
    for item in &thread.dropped {
        dropped(item, f)?;
    }
    notes(thread.notes.iter(), f)
}

fn set_aside(item: &SetAside, f: &mut Formatter<'_>) -> Result {
    let SetAside {
        file, from, count, ..
    } = item;
    write!(f, "    set aside in {file}: {count} of {from}")?;
    if let Some(run) = item.runs.first() {
        write!(f, ", from seq {} at {:#x} on", run.seq, run.offset)?;
    }
    writeln!(f)
}

fn dropped(item: &Dropped, f: &mut Formatter<'_>) -> Result {
    let Dropped {
        file, offset, why, ..
    } = item;
    let size = counted(item.size, "byte");
    write!(f, "    dropped: {size} of {file} at {offset:#x}")?;
    if item.count > 1 {
        write!(f, " and {} places more", item.count.saturating_sub(1))?;
    }
    writeln!(f, ": {why}")
}

fn notes<'a>(notes: impl Iterator<Item = &'a Note>, f: &mut Formatter<'_>) -> Result {
    for note in notes {
        let effect = match note.effect {
            Effect::Mended => "mended",
            Effect::Stays => "stays",
            Effect::Lost => "lost",
            Effect::Guessed => "deduced",
        };
        write!(f, "    {effect}: {}", note.what)?;
        match (note.count, note.first.first()) {
            (1, Some(place)) => writeln!(f, ": {}", At(place))?,
            (count, Some(place)) => writeln!(f, ": {count} times, first {}", At(place))?,
            (count, None) => writeln!(f, ": {count} times")?,
        }
    }
    Ok(())
}

fn manifest(manifest: &ManifestReport, f: &mut Formatter<'_>) -> Result {
    let modules = counted(manifest.modules, "module");
    let symbols = counted(manifest.symbols, "symbol");
    write!(f, "  manifest.json: {modules}, {symbols}")?;
    if manifest.symbols_taken > 0 {
        write!(f, " ({} from the other manifest)", manifest.symbols_taken)?;
    }
    match manifest.was_there {
        true => writeln!(f)?,
        false => writeln!(f, "; there was none")?,
    }
    if let Some(first) = manifest.problems.first() {
        let count = manifest.problem_count;
        writeln!(f, "    mended: {count} problems, first {}", At(first))?;
    }
    notes(manifest.notes.iter(), f)
}

/// A place as text.
struct At<'a>(&'a Place);

impl Display for At<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let place = self.0;
        write!(f, "{}", place.file)?;
        if !place.field.is_empty() {
            write!(f, ": {}", place.field)?;
        }
        if !place.found.is_empty() {
            write!(f, ": {}", place.found)?;
        }
        match place.offset {
            Some(offset) => write!(f, " (at {offset:#x})"),
            None => Ok(()),
        }
    }
}

fn counted(count: u64, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}

impl Display for Why {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self {
            Self::BetweenHeaderAndEvents => "between the header and the first event",
            Self::EventCutShort => "of an event that is not whole",
            Self::FooterCutShort => "of a footer that is not whole",
            Self::ZeroTail => "zeros at the end",
            Self::Hole => "a hole: zeros among the events",
            Self::BehindHole => "events behind a hole, which salvage keeps",
            Self::BehindFramingProblem => "where no event can begin, and behind",
            Self::DamagedFooter => "a footer that contradicts the file",
            Self::BehindFooter => "behind the footer",
            Self::Orphans => "details that no event refers to",
            Self::Overlap => "overlaps with details that were found by their links",
        })
    }
}

impl Display for What {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self {
            Self::NotFinalized => "the file was not finalized",
            Self::HeaderDisagrees => "a header that disagrees",
            Self::DetailFileUnreadable => "a detail file that cannot be read",
            Self::LinkToNothing => "a link to nothing became none",
            Self::LinkNotReturned => "a link that is not returned became none",
            Self::LinkOutOfOrder => "links did not count along the index",
            Self::NoChecksum => "there was no checksum",
            Self::ManifestDisagrees => "what the manifest says of the threads",
            Self::RingNotRead => "a ring.atf whose events were not read",
            Self::ChecksumBad => "the events are not those that the checksum was made of",
            Self::TimeGoesBack => "time goes back",
            Self::UnknownKind => "an unknown kind",
            Self::OtherThreadId => "an event of another thread_id",
            Self::OtherFolder => "a thread_id other than the folder's",
            Self::TimestampsDiffer => "a detail with another timestamp than its event",
            Self::TypeDoesNotFit => "a detail whose type does not fit its event's kind",
            Self::FunctionsDiffer => "a payload with another function_id than its event",
            Self::StackTooLong => "a stack of more than 256 bytes",
            Self::ClocksDiffer => "threads with different clocks",
            Self::CallDepthLost => "wire version 2 has no call_depth",
            Self::ThreadIdLost => "wire version 2 has no thread_id of events",
            Self::PayloadScrubbed => "registers and stack",
            Self::PayloadEmptied => "a payload of unknown shape",
            Self::DetailDropped => "a detail",
            Self::KeyDropped => "an unknown key",
            Self::HeaderGuessed => "a header",
            Self::CallDepthDerived => "call_depth, counted from calls and returns",
            Self::DetailSalvaged => "a detail behind damage, found by its links",
        })
    }
}

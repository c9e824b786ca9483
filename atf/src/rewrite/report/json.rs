//! Serializes reports as JSON.

use serde_core::{Serialize, Serializer};

use super::{
    Action, DropReason, Dropped, Effect, EventRange, Kept, LeftBehind, ManifestReport, Note,
    NoteKind, Notes, Place, Report, SessionReport, SetAside, ThreadReport,
};
use crate::json::{names, objects};

objects! {
    Report { action, sessions, left_behind unless Vec::is_empty }
    SessionReport {
        folder, changed, losses, threads, manifest unless Option::is_none,
        left_behind unless Vec::is_empty,
    }
    ThreadReport {
        folder, not_recovered unless Option::is_none, nothing_written unless is_false, events,
        details, cut unless Option::is_none, set_aside unless Vec::is_empty, dropped unless Vec::is_empty,
        notes unless Notes::is_empty,
    }
    Kept { kept, from_ring unless is_zero, salvaged unless is_zero, missing unless is_zero }
    LeftBehind { path, why, rule unless Option::is_none, is_loss }
    ManifestReport {
        was_there, modules, symbols, symbols_taken unless is_zero, is_lost unless is_false,
        problems unless Vec::is_empty, problem_count unless is_zero,
        values_lost unless is_zero,
        unwritten_events unless Option::is_none, drops_events unless is_false,
        notes unless Notes::is_empty,
    }
    SetAside { file, from, rules unless Vec::is_empty, count, runs }
    EventRange { seq, offset, count }
    Dropped { file, why, rule unless Option::is_none, offset, size, count }
    Note { kind as "what", rule unless Option::is_none, effect, count, first }
    Place {
        file, field unless String::is_empty, offset unless Option::is_none, found,
        rule unless Option::is_none,
    }
}

impl Serialize for Notes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

names! {
    Action { Recover = "recover", Convert = "convert", Scrub = "scrub", Cut = "cut" }
    DropReason {
        BetweenHeaderAndEvents = "between_header_and_events",
        TornEvent = "torn_event",
        TornFooter = "torn_footer",
        ZeroTail = "zero_tail",
        Hole = "hole",
        AfterHole = "after_hole",
        AfterFramingProblem = "after_framing_problem",
        DamagedFooter = "damaged_footer",
        AfterFooter = "after_footer",
        Orphans = "orphans",
        Unreadable = "unreadable",
        Overlap = "overlap",
    }
    Effect { Repaired = "repaired", Stays = "stays", Lost = "lost", Guessed = "guessed" }
    NoteKind {
        NotFinalized = "not_finalized",
        Damaged = "damaged",
        HeaderDisagrees = "header_disagrees",
        LinkToNothing = "link_to_nothing",
        LinkNotReturned = "link_not_returned",
        LinkOutOfOrder = "link_out_of_order",
        NoChecksum = "no_checksum",
        ManifestDisagrees = "manifest_disagrees",
        ManifestMissing = "manifest_missing",
        RingLeftOver = "ring_left_over",
        ChecksumBad = "checksum_bad",
        Content = "content",
        ClocksDiffer = "clocks_differ",
        OtherBuild = "other_build",
        CallDepthLost = "call_depth_lost",
        ThreadIdLost = "thread_id_lost",
        PayloadScrubbed = "payload_scrubbed",
        PayloadEmptied = "payload_emptied",
        DetailDropped = "detail_dropped",
        KeyDropped = "key_dropped",
        SymbolsDropped = "symbols_dropped",
        EntryDropped = "entry_dropped",
        ThreadMissing = "thread_missing",
        EventsMissing = "events_missing",
        DetailMissing = "detail_missing",
        DetailFileUnreadable = "detail_file_unreadable",
        RingNotRead = "ring_not_read",
        RingDetailsNotRead = "ring_details_not_read",
        CallsGivenUp = "calls_given_up",
        HeaderGuessed = "header_guessed",
        CallDepthDerived = "call_depth_derived",
        DetailSalvaged = "detail_salvaged",
    }
}

// Takes a reference because the derive macro passes one.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_false(value: &bool) -> bool {
    !*value
}

// Takes a reference because the derive macro passes one.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

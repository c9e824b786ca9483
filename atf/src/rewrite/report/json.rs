//! Serializes reports as JSON.

use serde_core::{Serialize, Serializer};

use super::{
    Action, Dropped, Effect, EventRange, Kept, LeftBehind, ManifestReport, Note, Notes, Place,
    Report, SessionReport, SetAside, ThreadReport,
};
use crate::json::{names, objects};

objects! {
    Report { action, sessions, left_behind unless Vec::is_empty }
    SessionReport {
        folder, changed, losses, threads, manifest unless Option::is_none,
        left_behind unless Vec::is_empty,
    }
    ThreadReport {
        folder, not_recovered unless Option::is_none, nothing_written unless is_default, events,
        details, cut unless Option::is_none, set_aside unless Vec::is_empty,
        dropped unless Vec::is_empty, notes unless Notes::is_empty,
    }
    Kept {
        kept, from_ring unless is_default, salvaged unless is_default, missing unless is_default,
    }
    LeftBehind { path, why, rule unless Option::is_none, is_loss }
    ManifestReport {
        was_there, modules, symbols, symbols_taken unless is_default, is_lost unless is_default,
        problems unless Vec::is_empty, problem_count unless is_default,
        values_lost unless is_default, unwritten_events unless Option::is_none,
        drops_events unless is_default, notes unless Notes::is_empty,
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
    Effect { Repaired = "repaired", Stays = "stays", Lost = "lost", Guessed = "guessed" }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

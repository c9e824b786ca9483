//! Pairs of faults in one file, composed automatically.
//!
//! A fault is the difference between the file of a [`Recipe`] and the clean one. Two faults are
//! composed field by field. The expected result is derived from the composed file and the rules
//! that it breaks, like that of a recipe. Pairs are not part of the committed corpus.

mod interact;
mod parts;

use super::recipe::Recipe;
use super::trace::{DETAIL, INDEX, Trace};
use super::{Case, cases, document, recipes};

pub use interact::Hidden;
use parts::{Parts, Place};

/// Two rules that one file can break.
#[derive(Debug, Clone)]
pub struct Pair {
    /// The wire version.
    pub wire: u8,
    /// The rules, in the order of the records in a file.
    pub rules: [&'static str; 2],
    /// A file that breaks both.
    pub file: Composed,
}

/// The result of composing the faults of two rules.
#[derive(Debug, Clone)]
pub enum Composed {
    /// This case of the corpus breaks both rules.
    Known(String),
    /// The composed case, and why a check reports only one of the rules, if it does.
    New(Box<Case>, Option<Hidden>),
    /// No two recipes can be composed.
    Never(Apart),
}

/// Why no file has both faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Apart {
    /// Both change the same field, or both change where the file ends.
    SameField,
    /// One removes the structure that the other changes.
    Removed,
    /// With one fault, the other's rule does not apply to the file.
    Inapplicable,
    /// Both are in the events, and the recipes' events have no room for both. With other events,
    /// such a pair would be feasible; it is not covered.
    SameEvent,
}

/// Returns all pairs of rules that one file can break on its own, in each wire version.
#[must_use]
pub fn pairs() -> Vec<Pair> {
    let (recipes, known) = (recipes(), cases());
    let wires = atf::Wire::VERSIONS.iter();
    let kinds = wires.flat_map(|wire| [INDEX, DETAIL].map(|path| (*wire, path)));
    let pairs = kinds.flat_map(|(wire, path)| Faults::new(recipes, wire, path).pairs(&known));
    pairs.collect()
}

/// Returns the cases that were composed.
#[must_use]
pub fn pair_cases() -> Vec<Case> {
    let composed = pairs().into_iter().filter_map(|pair| match pair.file {
        Composed::New(case, _) => Some(*case),
        _ => None,
    });
    composed.collect()
}

/// Returns whether the case with this name is a pair.
#[must_use]
pub fn is_pair(name: &str) -> bool {
    name.contains("/pair-")
}

/// The recipes that each break a rule in one kind of file.
struct Faults<'a> {
    wire: u8,
    path: &'static str,
    clean: Parts,
    faults: Vec<Fault<'a>>,
}

struct Fault<'a> {
    recipe: &'a Recipe,
    /// The rules that the file breaks, starting with the recipe's own.
    broken: Vec<&'static str>,
    parts: Parts,
    /// The number of parts that differ from the clean file.
    changed: usize,
}

impl<'a> Faults<'a> {
    fn new(recipes: &'a [Recipe], wire: u8, path: &'static str) -> Self {
        let parts = |trace: &Trace| {
            let shape = trace.shape(path).expect("a trace file has a shape");
            Parts::new(shape, trace.file(path))
        };
        let clean = parts(&Trace::clean(wire));
        let fault = |recipe: &'a Recipe| {
            let is_ours = recipe.wires.contains(&wire) && recipe.is_determined_by_rules(path);
            is_ours.then(|| {
                let parts = parts(&recipe.trace(wire));
                let (broken, changed) = (recipe.broken_in(path), parts.changed(&clean));
                Fault {
                    recipe,
                    broken,
                    parts,
                    changed,
                }
            })
        };
        let faults = recipes.iter().filter_map(fault).collect();
        Self {
            wire,
            path,
            clean,
            faults,
        }
    }

    fn pairs(&self, known: &[Case]) -> Vec<Pair> {
        let is_own = |case: &&Case| {
            let is_file = self.path.ends_with(&case.path) && !case.path.is_empty();
            is_file && case.wire == self.wire
        };
        let known: Vec<_> = known.iter().filter(is_own).collect();
        let mut rules: Vec<_> = self.faults.iter().map(|fault| fault.broken[0]).collect();
        let records = ["HDR", "EVT", "PAY", "FTR"];
        rules.sort_by_key(|id| (records.iter().position(|it| id[5..].starts_with(it)), *id));
        rules.dedup();
        let both = rules.iter().enumerate().flat_map(|(seq, first)| {
            let rest = rules[seq + 1..].iter();
            rest.map(move |second| [*first, *second])
        });
        let pair = |rules: [&'static str; 2]| {
            let breaks = |case: &&&Case, id| case.broken.iter().any(|(_, rule)| *rule == id);
            let mut known = known.iter();
            let known = known.find(|case| rules.iter().all(|id| breaks(case, *id)));
            let file = match known {
                Some(case) => Composed::Known(case.name.clone()),
                None => self.composed(rules),
            };
            Pair {
                wire: self.wire,
                rules,
                file,
            }
        };
        both.map(pair).collect()
    }

    /// Composes the simplest recipes that can be composed.
    fn composed(&self, rules: [&'static str; 2]) -> Composed {
        let all = self.faults.iter();
        let of = |rule| all.clone().filter(move |fault| fault.broken[0] == rule);
        let both = of(rules[0]).flat_map(|one| of(rules[1]).map(move |other| (one, other)));
        let mut both: Vec<_> = both.collect();
        both.sort_by_key(|(one, other)| one.changed + other.changed);
        let mut apart = None;
        for (one, other) in both {
            match self.case(one, other) {
                Ok((case, hidden)) => return Composed::New(Box::new(case), hidden),
                Err(why) => apart = apart.or(Some(why)),
            }
        }
        Composed::Never(apart.expect("each rule has a recipe"))
    }

    fn case(&self, one: &Fault<'_>, other: &Fault<'_>) -> Result<(Case, Option<Hidden>), Apart> {
        let both = [one, other];
        let are_events = both.iter().all(|fault| fault.placed().1 == Place::Events);
        let apart = |why| if are_events { Apart::SameEvent } else { why };
        let parts = Parts::compose(&self.clean, one.placed(), other.placed()).map_err(apart)?;
        let mut broken = one.broken.clone();
        let more = other.broken.iter();
        broken.extend(more.filter(|rule| !one.broken.contains(rule)));
        interact::settle(&mut broken, &parts);
        if both.iter().any(|fault| !broken.contains(&fault.broken[0])) {
            return Err(apart(Apart::Inapplicable));
        }
        let mut trace = Trace::clean(self.wire);
        let is_footer_lost = broken.contains(&"ATF-IFTR-013") && !parts.proves_end();
        trace.put_shaped(self.path, parts.bytes(), parts.shape);
        let mut case = Recipe::pair(both.map(|fault| fault.recipe), self.path, &trace, &broken);
        if is_footer_lost {
            // Without the magic, the formula for files without a footer counts it as two events.
            let count = self.clean.shape.events.len() + 2;
            trace.continue_events(self.path, &vec![32; count]);
            case.alternatives = vec![document::file(&trace, self.path, &broken, &[], "").0];
        }
        let hidden = |rule| interact::hidden(rule, &broken);
        case.broken.retain(|(_, rule)| hidden(rule).is_none());
        let why = both.iter().find_map(|fault| hidden(fault.broken[0]));
        Ok((case, why))
    }
}

impl Fault<'_> {
    /// Returns the file, and the part of it that the recipe's own rule is about.
    fn placed(&self) -> (&Parts, Place) {
        let place = match self.broken[0].get(5..8) {
            Some("HDR") => Place::Header,
            Some("FTR") => Place::End,
            _ => Place::Events,
        };
        (&self.parts, place)
    }
}

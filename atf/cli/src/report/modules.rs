//! Distinguishes functions with equal names.

use std::collections::{BTreeMap, BTreeSet};

use atf::symbols::Function;

use crate::text::{Printable, head};

/// A function in a table: its name, its module's file name, and its id.
pub(crate) type Listed<'a> = (Option<&'a str>, Option<&'a str>, u64);

/// Returns a function for [`Modules`].
pub(crate) fn listed<'a>(function: &Function<'a>) -> Listed<'a> {
    (function.name, function.module_file(), function.id)
}

/// The names shared by several functions in a table.
pub(crate) struct Modules<'a>(BTreeMap<&'a str, BTreeSet<(Option<&'a str>, u64)>>);

impl<'a> Modules<'a> {
    /// Finds functions with equal names. A function may be listed several times.
    pub(crate) fn new(functions: impl Iterator<Item = Listed<'a>>) -> Self {
        let mut this = BTreeMap::<_, BTreeSet<_>>::new();
        for (name, module, id) in functions {
            if let Some(name) = name {
                this.entry(head(name)).or_default().insert((module, id));
            }
        }
        this.retain(|_, functions| functions.len() > 1);
        Self(this)
    }

    /// Returns the text to add after a function's name: nothing, the module or, if that is not
    /// enough, the module and the id.
    pub(crate) fn after_name(&self, (name, module, id): Listed<'_>) -> String {
        let Some(functions) = name.and_then(|name| self.0.get(head(name))) else {
            return String::new();
        };
        let is_same = |other: &&(Option<&str>, u64)| other.0 == module;
        let is_only_one = functions.iter().filter(is_same).count() == 1;
        match module.map(|module| Printable(head(module))) {
            Some(module) if is_only_one => format!(" [{module}]"),
            Some(module) => format!(" [{module} {id:#x}]"),
            None => format!(" [{id:#x}]"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_are_distinguished_by_module_then_by_id() {
        let main = (Some("main"), Some("program"), 1);
        let a = (Some("init"), Some("liba.so"), 2);
        let b = (Some("init"), Some("libb.so"), 3);
        let also_b = (Some("init"), Some("libb.so"), 4);
        let unknown = (Some("init"), None, 5);
        let modules = Modules::new([main, main, a, b, unknown, a].into_iter());
        let after = [main, a, b, unknown].map(|it| modules.after_name(it));
        assert_eq!(after, ["", " [liba.so]", " [libb.so]", " [0x5]"]);
        let modules = Modules::new([a, b, also_b].into_iter());
        let after = [a, b, also_b].map(|it| modules.after_name(it));
        assert_eq!(after, [" [liba.so]", " [libb.so 0x3]", " [libb.so 0x4]"]);
        let long = "b".repeat(1 << 20);
        let modules = Modules::new([a, (Some("init"), Some(&long), 3)].into_iter());
        assert!(modules.after_name((Some("init"), Some(&long), 3)).len() < 5000);
    }
}

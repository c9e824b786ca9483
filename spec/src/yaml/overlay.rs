//! Merges one document into another, so that an edition of the spec needs to contain only its
//! changes.

use super::Place;
use super::node::{Node, Value};

/// A list item that the overlay adds, perhaps only because its name is misspelled.
#[derive(Debug)]
pub(crate) struct Added {
    pub(crate) place: Place,
    /// Advice if the item is incomplete.
    pub(crate) help: String,
}

impl Added {
    fn new(item: &Node, known: &[Node]) -> Option<Self> {
        let name = |item| match identity(item)? {
            (key, Value::Text(name)) => Some((key, name.as_str())),
            _ => None,
        };
        let (key, own) = name(item)?;
        let known = known.iter().filter_map(name);
        let known: Vec<_> = known.filter(|it| it.0 == key).map(|it| it.1).collect();
        Some(Self {
            place: item.place,
            help: format!(
                "the spec has no `{key}: {own}`, so the overlay adds it; the spec has: {}",
                known.join(", ")
            ),
        })
    }
}

/// Merges `over` into `base`, and returns the added list items that have a name.
///
/// Mappings merge key by key, and `null` removes a key. Lists of mappings merge by their items'
/// first key and its value, such as `name: event_kind`; other items are added at the end unless the
/// list already contains them. Any other value replaces the old one. Every value keeps its original
/// place.
pub(crate) fn lay(base: &mut Node, over: Node) -> Vec<Added> {
    let mut added = Vec::new();
    lay_over(base, over, &mut added);
    added
}

fn lay_over(base: &mut Node, over: Node, added: &mut Vec<Added>) {
    match (&mut base.value, over.value) {
        (Value::Map(entries), Value::Map(changes)) => {
            for (key, change) in changes {
                let known = entries.iter().position(|(own, _)| own.value == key.value);
                match (known, &change.value) {
                    (Some(known), Value::Null) => drop(entries.remove(known)),
                    (Some(known), _) => lay_over(&mut entries[known].1, change, added),
                    (None, _) => entries.push((key, change)),
                }
            }
        }
        (Value::Seq(items), Value::Seq(changes)) => {
            for change in changes {
                let is_same = |item: &Node| match (identity(item), identity(&change)) {
                    (Some(known), Some(changed)) => known == changed,
                    _ => item.value == change.value,
                };
                match items.iter_mut().find(|item| is_same(item)) {
                    Some(item) => lay_over(item, change, added),
                    None => {
                        added.extend(Added::new(&change, items));
                        items.push(change);
                    }
                }
            }
        }
        (_, value) => {
            *base = Node {
                value,
                place: over.place,
            };
        }
    }
}

/// Returns a list item's first key and value, which identify it. Decisions have no identity,
/// because a list may contain two of the same kind.
fn identity(item: &Node) -> Option<(&str, &Value)> {
    let Value::Map(entries) = &item.value else {
        return None;
    };
    let (key, first) = entries.first()?;
    (key.value != "decision").then_some((key.as_str(), &first.value))
}

#[cfg(test)]
mod tests {
    use super::lay;
    use crate::yaml::{FileId, Node};

    fn parsed(text: &str) -> Node {
        Node::parse(FileId(0), text.as_bytes()).expect("YAML")
    }

    fn check(base: &str, over: &str, expected: &str) {
        let mut base = parsed(base);
        lay(&mut base, parsed(over));
        // A node is shown without its place.
        assert_eq!(format!("{base:?}"), format!("{:?}", parsed(expected)));
    }

    #[test]
    fn mappings_merge_by_key_and_null_removes() {
        let (base, over) = ("{a: 1, b: {c: 2, d: 3}}", "{b: {c: 4, e: 5}, f: 6}");
        check(base, over, "{a: 1, b: {c: 4, d: 3, e: 5}, f: 6}");
        check("{a: 1, b: 2}", "{a: ~}", "{b: 2}");
    }

    #[test]
    fn list_items_merge_by_their_first_key() {
        let base = "[{name: x, size: 1}, {name: y, size: 2}]";
        let over = "[{name: y, size: 4}, {name: z}]";
        let both = "[{name: x, size: 1}, {name: y, size: 4}, {name: z}]";
        check(base, over, both);
        check("[S0, S1]", "[S1, X]", "[S0, S1, X]");
    }

    #[test]
    fn decisions_are_added() {
        let base = "[{decision: split, title: a}]";
        let over = "[{decision: split, title: b}]";
        let both = "[{decision: split, title: a}, {decision: split, title: b}]";
        check(base, over, both);
    }
}

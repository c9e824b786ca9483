//! Implementations, versions and answers, as shown on pages.

use std::collections::{BTreeMap, BTreeSet};

use atf_report::badge::Mood;
use serde_json::{Value, json};

use crate::results::{Answer, Implementation, Version};

/// The latest versions' answers by case.
pub(crate) type ByCase<'a> = BTreeMap<&'a str, Vec<(&'a Implementation, &'a Answer)>>;

/// Returns an implementation's answer to a case.
pub(crate) fn shown(one: &Implementation, answer: &Answer) -> Value {
    json!({
        "name": one.name,
        "slug": one.slug,
        "role": answer.role,
        "state": answer.state(),
        "class": answer.class,
        "message": answer.message,
        "listed": answer.listed,
    })
}

/// Returns an implementation's row in lists.
pub(crate) fn summary(one: &Implementation) -> Value {
    let testee = &one.latest().testee;
    let url = testee.url.as_ref();
    let mut row = history(one.latest(), None);
    row["name"] = json!(one.name);
    row["slug"] = json!(one.slug);
    row["url"] = json!(url.filter(|url| url.starts_with("https://")));
    row["roles"] = json!(testee.roles.join(", "));
    row["wire"] = json!(testee.wire);
    row["features"] = json!(testee.features.join(", "));
    row["words"] = json!(badge_words(one.latest()).0);
    row
}

/// Returns a version's row, with the number of changes since the previous version.
pub(crate) fn history(version: &Version, before: Option<&Version>) -> Value {
    let failures = |version: &Version| {
        let failures = version.failures();
        let names = failures.map(|answer| (answer.role.clone(), answer.case.clone()));
        names.collect::<BTreeSet<_>>()
    };
    let change = before.map(|before| {
        let (old, new) = (failures(before), failures(version));
        [old.difference(&new).count(), new.difference(&old).count()]
    });
    json!({
        "version": version.testee.version,
        "refused": version.testee.refused,
        "day": version.at.split('T').next(),
        "corpus": version.editions.corpus,
        "passed": version.count("passed"),
        "failed": version.count("failed"),
        "known": version.count("known"),
        "skipped": version.count("skipped"),
        "change": change,
    })
}

/// Returns a badge's words and colour.
pub(crate) fn badge_words(version: &Version) -> (String, Mood) {
    let [passed, failed, known] = ["passed", "failed", "known"].map(|it| version.count(it));
    match (passed, failed, known) {
        (0, 0, 0) => ("nothing graded".to_owned(), Mood::Nothing),
        (_, 0, 0) => (format!("{passed} passed"), Mood::Good),
        (_, 0, _) => (format!("{passed} passed, {known} known"), Mood::Known),
        _ => (
            format!("{failed} of {} failed", passed + failed + known),
            Mood::Bad,
        ),
    }
}

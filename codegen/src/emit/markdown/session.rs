//! The page on the session's folders and the manifest.

use atf_spec::load::Spec;
use atf_spec::model::{JsonType, ManifestField, ManifestObject};
use atf_spec::yaml::At;
use serde_json::{Value, json};

use super::Book;
use super::links::{self, Link};
use super::rules;

pub(super) fn page(book: &Book<'_>) -> Value {
    let spec = book.spec;
    let objects = spec.manifest.objects.iter().map(object);
    json!({
        "tree": tree(spec),
        "entries": spec.session.entries,
        "manifest": spec.manifest.file,
        "manifest_anchor": links::MANIFEST_ANCHOR,
        "manifest_means": spec.manifest.means,
        "objects": objects.collect::<Vec<_>>(),
        "rules": rules::about(spec, |name| is_here(spec, name)),
        "decisions": decisions(book),
    })
}

fn object(object: &ManifestObject) -> Value {
    json!({
        "anchor": links::manifest_object_anchor(&object.object),
        "name": object.object,
        "means": object.means,
        "fields": object.fields.iter().map(field).collect::<Vec<_>>(),
    })
}

fn field(field: &ManifestField) -> Value {
    let ty = match field.ty.value {
        JsonType::Boolean => "true or false",
        JsonType::U8 => "integer, 8 bits",
        JsonType::U32 => "integer, 32 bits",
        JsonType::U64 => "integer, 64 bits",
        JsonType::I64 => "integer, 64 bits with sign",
        JsonType::PositiveI32 => "integer from 1 to 2³¹ − 1",
        JsonType::Text | JsonType::Name => "text",
        JsonType::Hex => "text, 0x and hexadecimal digits",
        JsonType::Object => "object",
        JsonType::List => "list",
    };
    json!({
        "name": field.name,
        "type": ty,
        // The kind of object that the field contains, directly or in a list.
        "of": field.of.as_ref().map(|name| links::manifest_object(name)),
        "required": field.required,
        "means": field.means,
    })
}

/// Formats the folders as a tree of names, with optional entries marked.
pub(super) fn tree(spec: &Spec) -> String {
    let entries = spec.session.entries.iter();
    // Folders keep their slash.
    let paths = entries.map(|entry| entry.path.split_inclusive('/').collect::<Vec<_>>());
    let paths: Vec<Vec<&str>> = paths.collect();
    let mut out = String::new();
    for (number, path) in paths.iter().enumerate() {
        let Some((name, folders)) = path.split_last() else {
            continue;
        };
        for depth in 1..=folders.len() {
            // Whether another entry of the folder follows.
            let goes_on = paths[number + 1..].iter().any(|other| {
                other.len() > depth
                    && other[..depth] == path[..depth]
                    && other[depth] != path[depth]
            });
            out.push_str(match (depth == folders.len(), goes_on) {
                (true, true) => "├── ",
                (true, false) => "└── ",
                (false, true) => "│   ",
                (false, false) => "    ",
            });
        }
        out.push_str(name);
        out.push('\n');
    }
    out
}

/// Returns whether a rule, topic or silence is about the session or the manifest rather than a
/// record.
fn is_about(spec: &Spec, about: &[At<String>]) -> bool {
    about.iter().any(|name| is_here(spec, name))
}

/// Returns whether a name links to this page.
fn is_here(spec: &Spec, name: &str) -> bool {
    let href = links::subject(spec, name).href;
    href.split('#').next() == Some(links::SESSION)
}

fn decisions(book: &Book<'_>) -> Vec<Value> {
    let spec = book.spec;
    let agreed = super::reconciliation::agreed(book);
    let decision = |question: &str, name: &str, answer: &str| json!({ "question": Link::new(question, links::topic(name).href), "answer": answer });
    let topics = spec.topics.iter();
    let topics = topics.filter(|topic| is_about(spec, &topic.about));
    let topics = topics.map(|topic| {
        let name = topic.topic.as_str();
        let agreed = agreed.iter().find(|it| it.topic.topic.value == name);
        let mut groups = book.decisions.iter();
        let group = groups.find(|group| group.settlement.at == name);
        let decided = group.map(|group| group.settlement.decision.title.as_str());
        let answer = decided.or(agreed.map(|agreed| agreed.answer));
        decision(&topic.question, name, answer.unwrap_or_default())
    });
    let silences = spec.decisions.silences.iter();
    let silences = silences.filter(|silence| is_about(spec, &silence.about));
    let silences = silences.map(|it| decision(&it.question, &it.silence, &it.decision));
    topics.chain(silences).collect()
}

//! Tests that every link between files in the repository has a target, and its anchor a heading.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// Returns all documents: Markdown, and `llms.txt`.
fn documents() -> Vec<PathBuf> {
    let (mut found, mut folders) = (vec![root().join("llms.txt")], vec![root().to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let (path, name) = (entry.path(), entry.file_name().into_string().unwrap());
            let is_built = ["target", "dist", "node_modules", "build"].contains(&name.as_str());
            if entry.file_type().unwrap().is_dir()
                && !is_built
                && (!name.starts_with('.') || name == ".github")
            {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "md") {
                found.push(path);
            }
        }
    }
    found.retain(|path| !path.starts_with(root().join("codegen/templates")));
    found
}

/// A document's links, and the anchors of its headings, as GitHub makes them.
fn links_and_anchors(text: &str) -> (Vec<String>, Vec<String>) {
    let (mut links, mut anchors, mut heading) = (Vec::new(), Vec::new(), None::<String>);
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                links.push(dest_url.into_string());
            }
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => {
                let heading = heading.take().unwrap_or_default().to_lowercase();
                let kept = heading.chars();
                let kept = kept.filter(|c| c.is_alphanumeric() || "-_ ".contains(*c));
                let anchor: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
                let count = anchors.iter().filter(|own| **own == anchor).count();
                anchors.push(match count {
                    0 => anchor,
                    count => format!("{anchor}-{count}"),
                });
            }
            Event::Text(text) | Event::Code(text) => {
                if let Some(heading) = &mut heading {
                    *heading += &text;
                }
            }
            Event::InlineHtml(html) | Event::Html(html) => {
                let ids = html.split("id=\"").skip(1);
                let ids = ids.filter_map(|rest| rest.split('"').next());
                anchors.extend(ids.map(str::to_owned));
            }
            _ => {}
        }
    }
    (links, anchors)
}

#[test]
fn every_link_between_documents_has_a_target() {
    let documents = documents();
    let read = |path: &Path| links_and_anchors(&fs::read_to_string(path).unwrap());
    let all: BTreeMap<&PathBuf, _> = documents.iter().map(|path| (path, read(path))).collect();
    let (mut count, mut dead) = (0, Vec::new());
    for (path, (links, _)) in &all {
        let is_inner = |link: &&String| !link.contains("://") && !link.starts_with("mailto:");
        for link in links.iter().filter(is_inner) {
            count += 1;
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() {
                Ok((*path).clone())
            } else {
                path.parent().unwrap().join(file).canonicalize()
            };
            let is_there = target.is_ok_and(|target| {
                anchor.is_empty()
                    || all
                        .get(&target)
                        .is_some_and(|(_, anchors)| anchors.iter().any(|own| own == anchor))
            });
            if !is_there {
                let path = path.strip_prefix(root()).unwrap();
                dead.push(format!("{}: {link}", path.display()));
            }
        }
    }
    assert!(count > 650, "only {count} links");
    assert!(dead.is_empty(), "dead links:\n{}", dead.join("\n"));
}

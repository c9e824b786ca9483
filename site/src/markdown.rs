//! The repository's documents, rendered with links between the site's pages.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::{fs, io};

use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html};

/// The reference's pages whose sections are pages of the site.
pub(crate) const RULES: &str = "docs/reference/rules.md";
pub(crate) const DECISIONS: &str = "docs/reference/reconciliation.md";

/// The documents and pictures in the repository, by path.
pub(crate) struct Docs {
    pub(crate) pages: BTreeMap<String, Doc>,
    pub(crate) pictures: BTreeMap<String, Vec<u8>>,
    /// The sections of [`RULES`] and [`DECISIONS`], by the name of their page.
    pub(crate) sections: BTreeMap<String, Section>,
    /// The start of the addresses of source files, if the repository has one.
    source: Option<String>,
}

/// A document.
pub(crate) struct Doc {
    pub(crate) title: String,
    pub(crate) text: String,
}

/// A part of a document that has a separate page.
pub(crate) struct Section {
    /// The document's path.
    pub(crate) path: &'static str,
    pub(crate) title: String,
    pub(crate) text: String,
}

impl Docs {
    /// Reads `docs`, the documents of the readers, and those in the root of the repository.
    pub(crate) fn read(root: &Path, source: Option<String>) -> io::Result<Self> {
        let mut docs = Self {
            pages: BTreeMap::new(),
            pictures: BTreeMap::new(),
            sections: BTreeMap::new(),
            source,
        };
        docs.add_folder(root, "", false)?;
        for folder in ["docs", "readers", "conformance/testees", "samples"] {
            docs.add_folder(root, folder, true)?;
        }
        docs.sections = rules(&docs.pages[RULES].text);
        docs.sections.extend(decisions(&docs.pages[DECISIONS].text));
        Ok(docs)
    }

    fn add_folder(&mut self, root: &Path, folder: &str, recursive: bool) -> io::Result<()> {
        for entry in fs::read_dir(root.join(folder))? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{folder}/{name}");
            let path = path.trim_start_matches('/');
            // Builds leave files in the readers' folders.
            let is_built = ["node_modules", "build", "dist", "target"].contains(&name.as_str());
            if entry.path().is_dir() {
                if recursive && !is_built {
                    self.add_folder(root, path, true)?;
                }
            } else if name.ends_with(".md") {
                let text = fs::read_to_string(entry.path())?;
                let title = text.lines().find_map(|line| line.strip_prefix("# "));
                let title = title.unwrap_or(&name).to_owned();
                self.pages.insert(path.to_owned(), Doc { title, text });
            } else if name.ends_with(".svg") {
                self.pictures
                    .insert(path.to_owned(), fs::read(entry.path())?);
            }
        }
        Ok(())
    }

    /// Renders a document's Markdown, or a part of it, for the page at an address.
    pub(crate) fn html(&self, path: &str, markdown: &str, address: &str) -> String {
        let events: Vec<Event<'_>> = Parser::new_ext(markdown, Options::ENABLE_TABLES).collect();
        let mut ids = Ids::default();
        let (mut tables, mut links) = (0, Vec::new());
        let mut out = Vec::new();
        for (at, mut event) in events.iter().cloned().enumerate() {
            match &mut event {
                Event::Start(Tag::Heading { id, .. }) => {
                    *id = Some(ids.next(&heading(&events, at)).into());
                }
                Event::Start(Tag::Link { dest_url, .. }) => {
                    let href = self.href(path, dest_url, address);
                    links.push(href.is_some());
                    let Some(href) = href else { continue };
                    *dest_url = href.into();
                }
                Event::End(TagEnd::Link) if links.pop() == Some(false) => continue,
                Event::Start(Tag::Image { dest_url, .. }) => {
                    let href = self.href(path, dest_url, address);
                    *dest_url = href.map_or_else(|| dest_url.clone(), CowStr::from);
                }
                Event::Start(Tag::Table(_)) => {
                    tables += 1;
                    let name = format!("aria-label=\"Table {tables}\"");
                    let start =
                        format!("<div class=\"scroll\" role=\"region\" {name} tabindex=\"0\">");
                    out.push(Event::Html(start.into()));
                }
                _ => {}
            }
            let is_table = matches!(event, Event::End(TagEnd::Table));
            out.push(event);
            if is_table {
                out.push(Event::Html("</div>".into()));
            }
        }
        let mut text = String::new();
        html::push_html(&mut text, out.into_iter());
        text
    }

    /// Converts a document's link into one that works from the page at an address; `None` if it
    /// leads to a source file without an address.
    fn href(&self, from: &str, link: &str, address: &str) -> Option<String> {
        if link.starts_with("https://") || link.starts_with("http://") {
            return Some(link.to_owned());
        }
        let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
        let path = match path {
            "" => from.to_owned(),
            path => resolved(from, path),
        };
        let root = root(address);
        let name = match path.as_str() {
            RULES => anchor.to_ascii_uppercase(),
            _ => anchor.to_owned(),
        };
        let section = self.sections.get(&name);
        if let Some(section) = section.filter(|it| it.path == path) {
            let own = section_address(&name, section);
            return Some(format!("{root}{own}index.html"));
        }
        if self.pages.contains_key(&path) {
            let page = format!("{root}{}index.html", doc_address(&path));
            return Some(match anchor {
                "" => page,
                anchor => format!("{page}#{anchor}"),
            });
        }
        if self.pictures.contains_key(&path) {
            return Some(root + &path);
        }
        let source = self.source.as_ref()?;
        Some(format!("{}/{path}", source.trim_end_matches('/')))
    }

    /// Returns the text below a heading, up to the next heading of the same or a higher level.
    pub(crate) fn below(&self, path: &str, heading: &str) -> io::Result<&str> {
        let text = self.pages.get(path).map_or("", |doc| &doc.text);
        let events = Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter();
        let mut headings = events.filter_map(|(event, range)| match event {
            Event::Start(Tag::Heading { level, .. }) => Some((level, range)),
            _ => None,
        });
        let found = headings.find(|(_, range)| text[range.clone()].trim_end() == heading);
        let no_section = || io::Error::other(format!("{path}: no section `{heading}`"));
        let (level, found) = found.ok_or_else(no_section)?;
        let next = headings.find(|(other, _)| *other <= level);
        let end = next.map_or(text.len(), |(_, next)| next.start);
        Ok(&text[found.end..end])
    }
}

/// Returns the relative path from a page to the site's root.
pub(crate) fn root(address: &str) -> String {
    "../".repeat(address.matches('/').count())
}

/// Returns a document's address, such as `docs/conformance/` for `docs/conformance/README.md`.
pub(crate) fn doc_address(path: &str) -> String {
    let name = path.strip_prefix("docs/").unwrap_or(path);
    let name = name.strip_suffix(".md").unwrap_or(name);
    match name.strip_suffix("README") {
        Some(folder) => format!("docs/{folder}"),
        None => format!("docs/{name}/"),
    }
}

/// Returns the address of a section.
pub(crate) fn section_address(name: &str, section: &Section) -> String {
    match section.path {
        RULES => format!("rules/{name}/"),
        _ => format!("decisions/{name}/"),
    }
}

/// Resolves a relative path in a document.
fn resolved(from: &str, path: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." | "" => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Returns a document's headings, with their ids.
pub(crate) fn headings(markdown: &str) -> Vec<(String, String)> {
    let events: Vec<Event<'_>> = Parser::new_ext(markdown, Options::ENABLE_TABLES).collect();
    let is_start = |at: &usize| matches!(events[*at], Event::Start(Tag::Heading { .. }));
    let starts = (0..events.len()).filter(is_start);
    let mut ids = Ids::default();
    let headings = starts.map(|at| {
        let heading = heading(&events, at);
        let id = ids.next(&heading);
        (heading, id)
    });
    headings.collect()
}

/// Returns the text of the heading that starts at a position.
fn heading(events: &[Event<'_>], at: usize) -> String {
    let is_end = |it: &&Event<'_>| matches!(it, Event::End(TagEnd::Heading(_)));
    let inside = events.iter().skip(at + 1).take_while(|it| !is_end(it));
    let texts = inside.filter_map(|event| match event {
        Event::Text(text) | Event::Code(text) => Some(text.as_ref()),
        _ => None,
    });
    texts.collect()
}

/// The ids of headings, as GitHub derives them.
#[derive(Default)]
struct Ids(BTreeSet<String>);

impl Ids {
    fn next(&mut self, heading: &str) -> String {
        let letters = heading.chars().filter_map(|letter| match letter {
            ' ' => Some('-'),
            '-' | '_' => Some(letter),
            letter => letter.is_alphanumeric().then_some(letter),
        });
        let id = letters.collect::<String>().to_lowercase();
        let again = (1..).map(|number| format!("{id}-{number}"));
        let mut all = [id.clone()].into_iter().chain(again);
        let free = all.find(|id| !self.0.contains(id)).unwrap_or(id);
        self.0.insert(free.clone());
        free
    }
}

/// Divides the page of rules.
fn rules(text: &str) -> BTreeMap<String, Section> {
    let parts = text.split("\n### ").skip(1);
    let sections = parts.filter_map(|part| {
        let (id, text) = part.split_once('\n')?;
        let text = text.split("\n<a id=").next().unwrap_or(text);
        let section = Section {
            path: RULES,
            title: id.to_owned(),
            text: text.to_owned(),
        };
        Some((id.to_owned(), section))
    });
    sections.collect()
}

/// Divides the page of decisions: headings with anchors before them, and rows of tables.
fn decisions(text: &str) -> BTreeMap<String, Section> {
    let mut sections = BTreeMap::new();
    let mut add = |anchors: &str, title: &str, text: &str| {
        for anchor in anchors.split("<a id=\"").skip(1) {
            let name = anchor.split('"').next().unwrap_or_default();
            let section = Section {
                path: DECISIONS,
                title: title.to_owned(),
                text: text.to_owned(),
            };
            sections.insert(name.to_owned(), section);
        }
    };
    for part in text.split("\n<a id=\"").skip(1) {
        let (anchors, rest) = part.split_once('\n').unwrap_or((part, ""));
        let (title, rest) = rest.trim_start().split_once('\n').unwrap_or((rest, ""));
        let end = ["\n## ", "\n### "].map(|heading| rest.find(heading).unwrap_or(rest.len()));
        let body = &rest[..end[0].min(end[1])];
        let title = title.trim_start_matches(['#', ' ']);
        add(&format!("<a id=\"{anchors}"), title, body);
    }
    let agreed = text.split_once("\n## What the sources agree on");
    let (_, agreed) = agreed.unwrap_or_default();
    for row in agreed.lines().filter(|line| line.starts_with("| <a id=")) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        if let [name, question, answer, sources, about] = cells[..] {
            let body = format!(
                "**{answer}** All sources that mention it agree: {sources}.\n\n- About {about}."
            );
            add(name, question, &body);
        }
    }
    sections
}

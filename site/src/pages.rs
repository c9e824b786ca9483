//! The pages of documents, rules, cases, decisions and claims.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use atf::rules;
use atf_spec::layout::Layout;
use atf_spec::load::Spec;
use atf_spec::model::Lines;
use atf_spec::reconcile::Reconciliation;
use serde_json::{Value, json};

use crate::cases::Entry;
use crate::claims::{self, Claims};
use crate::markdown::{DECISIONS, Docs, RULES, doc_address, headings, section_address};
use crate::output::Output;
use crate::results::{ByCase, Results, shown, summary};

/// The sections about each language: documents and headings.
const START: &str = "
C: docs/libraries.md ## A header
C: docs/libraries.md ## C
C: docs/conformance/README.md ### C
C++: docs/conformance/README.md ### C++17
C++: readers/cpp/README.md # ATF v2 in C++
C++: docs/conformance/ci-examples.md ## A C++ tracer with CMake
Rust: docs/libraries.md ## Rust
Rust: docs/conformance/README.md ### Rust
Python: docs/python.md ## A first look
Python: readers/python/README.md # ATF v2 in Python
Python: docs/conformance/README.md ### Python
Go: readers/go/README.md # ATF v2 in Go
Go: docs/conformance/README.md ### Go
";

/// Everything that the pages show.
pub(crate) struct Model<'a> {
    pub(crate) spec: &'a Spec,
    pub(crate) found: &'a Reconciliation,
    pub(crate) layout: &'a Layout,
    pub(crate) docs: Docs,
    pub(crate) results: Results,
    pub(crate) claims: Claims,
    pub(crate) cases: Vec<Entry>,
}

impl Model<'_> {
    /// Writes all pages except the results.
    pub(crate) fn write(&self, output: &mut Output) -> io::Result<()> {
        let by_case = self.results.by_case();
        self.documents(output)?;
        self.start(output)?;
        self.fields(output);
        self.rules(output, &by_case)?;
        self.cases(output, &by_case)?;
        self.decisions(output)?;
        self.claims(output)?;
        self.home(output)?;
        let page = json!({"html": "", "scripts": ["search.js"], "is_search": true});
        output.page("search/", "text.html", "Search", page)
    }

    fn home(&self, output: &mut Output) -> io::Result<()> {
        let about = self.docs.below("README.md", "# ATF v2")?;
        let about = about.split("\n![").next().unwrap_or(about);
        let kit = "docs/conformance/README.md";
        let verdict = self.docs.below(kit, "## From nothing to a verdict")?;
        let install = self.docs.below("README.md", "## Install")?;
        // Up to and including the second block, which builds from source.
        let quick = install.match_indices("```").nth(3);
        let quick = quick.map_or("", |(at, fence)| &install[..at + fence.len()]);
        let page = json!({
            "quick": self.docs.html("README.md", quick, ""),
            "about": self.docs.html("README.md", about, ""),
            "verdict": self.docs.html(kit, verdict, ""),
            "rules": rules::ALL.len(),
            "cases": self.cases.len(),
            "results": self.results.all.iter().map(summary).collect::<Vec<_>>(),
        });
        output.page("", "home.html", "ATF v2", page)
    }

    fn documents(&self, output: &mut Output) -> io::Result<()> {
        for (path, doc) in &self.docs.pages {
            let address = doc_address(path);
            let html = self.docs.html(path, &doc.text, &address);
            let page = json!({"html": html, "is_whole": true});
            output.page(&address, "text.html", &doc.title, page)?;
            output.index("document", &doc.title, "", &address);
            // The sections of these have separate pages.
            if path == RULES || path == DECISIONS {
                continue;
            }
            for (heading, id) in headings(&doc.text).iter().skip(1) {
                let part = format!("{address}index.html#{id}");
                output.index("document", heading, &doc.title, &part);
            }
        }
        for (path, picture) in &self.docs.pictures {
            output.file(path, picture.clone());
        }
        Ok(())
    }

    fn start(&self, output: &mut Output) -> io::Result<()> {
        let (mut contents, mut html, mut last) = (String::new(), String::new(), "");
        for line in START.lines().filter(|line| !line.is_empty()) {
            let (language, place) = line.split_once(": ").unwrap_or_default();
            let (path, heading) = place.split_once(' ').unwrap_or_default();
            if language != last {
                let id = language.replace('+', "p").to_lowercase();
                html += &format!("<h2 id=\"{id}\">{language}</h2>");
                contents += &format!("<a href=\"#{id}\">{language}</a> ");
                last = language;
            }
            let text = self.docs.below(path, heading)?;
            let (address, from) = (doc_address(path), &self.docs.pages[path].title);
            let part = heading.trim_start_matches(['#', ' ']);
            let title = if from == part {
                part.to_owned()
            } else {
                format!("{from}: {part}")
            };
            html += &format!("<h3><a href=\"../{address}index.html\">{title}</a></h3>");
            html += &self.docs.html(path, text, "start/");
        }
        let text = "C, C++, Rust, Python, Go";
        output.index("document", "Get started", text, "start/");
        let html = format!("<p>{contents}</p>{html}");
        output.page("start/", "text.html", "Get started", json!({"html": html}))
    }

    /// Adds the fields to the search.
    fn fields(&self, output: &mut Output) {
        for record in &self.layout.records {
            for field in record.fields() {
                let name = format!("{}.{}", record.name, field.name);
                let page = format!("docs/reference/{}/", record.name);
                let href = format!("{page}index.html#field-{}", field.name);
                output.index("field", &name, &field.doc, &href);
            }
        }
    }

    fn rules(&self, output: &mut Output, by_case: &ByCase<'_>) -> io::Result<()> {
        for rule in rules::ALL {
            let address = format!("rules/{}/", rule.id);
            let text = self.docs.sections.get(rule.id).map_or("", |it| &it.text);
            let is_cited = |subject: &str, source: &str| {
                let mut subjects = rule.settled_by.iter().chain(rule.about);
                subjects.any(|it| *it == subject) && rule.sources.contains(&source)
            };
            let claims = self.claims.iter();
            let claims = claims.filter(|((subject, source), _)| is_cited(subject, source));
            let claims = claims.map(|((subject, source), claim)| {
                let lines: BTreeSet<Lines> = claim.said.iter().filter_map(|it| it.lines).collect();
                let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
                json!({"source": source, "subject": subject, "lines": lines.join(", ")})
            });
            let mut broken: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
            for (one, answer) in by_case.values().flatten() {
                if answer.is_failed() && answer.broken().any(|id| id == rule.id) {
                    let cases = broken.entry((&one.name, &one.slug)).or_default();
                    cases.insert(&answer.case);
                }
            }
            let cases = self.cases.iter();
            let cases = cases.filter(|case| case.rules.contains(&rule.id));
            let page = json!({
                "html": self.docs.html(RULES, text, &address),
                "severity": rule.severity.name(),
                "claims": claims.collect::<Vec<_>>(),
                "cases": cases.map(|case| row(case, by_case)).collect::<Vec<_>>(),
                "broken": broken.into_iter().collect::<Vec<_>>(),
                "is_graded": !self.results.all.is_empty(),
            });
            output.page(&address, "rule.html", rule.id, page)?;
        }
        let mut sections = Vec::new();
        for (prefix, title) in rules::GROUPS {
            let mut rows = Vec::new();
            for rule in rules::ALL.iter().filter(|rule| rule.id.starts_with(prefix)) {
                let (href, tag) = (format!("rules/{}/", rule.id), rule.severity.name());
                let text = format!("{title}: {}", rule.rule);
                output.index("rule", rule.id, &text, &href);
                rows.push(json!({"href": href, "name": rule.id, "text": rule.rule, "tag": tag}));
            }
            sections.push(json!({"title": title, "rows": rows}));
        }
        list(output, "rules/", "Rules", sections.into_iter())
    }

    fn cases(&self, output: &mut Output, by_case: &ByCase<'_>) -> io::Result<()> {
        let mut sections: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for case in &self.cases {
            let address = format!("cases/{}/", case.name);
            let rules = case.rules.iter().map(|id| {
                let sentence = rules::find(id).map_or("", |rule| rule.rule);
                json!({"id": id, "rule": sentence})
            });
            let answers = by_case.get(case.name.as_str()).into_iter().flatten();
            let mut page = case.page.clone();
            page["note"] = json!(case.note);
            page["rules"] = rules.collect();
            page["is_graded"] = json!(!self.results.all.is_empty());
            page["answers"] = answers.map(|(one, answer)| shown(one, answer)).collect();
            output.page(&address, "case.html", &case.name, page)?;
            output.index("case", &case.name, &case.note, &address);
            let (wire, name) = case.name.split_once('/').unwrap_or(("", &case.name));
            let group = name.split('-').next().unwrap_or_default();
            let rows = sections.entry(format!("{wire}/{group}")).or_default();
            rows.push(row(case, by_case));
        }
        let sections = sections.into_iter();
        let sections = sections.map(|(title, rows)| json!({"title": title, "rows": rows}));
        list(output, "cases/", "Cases", sections)
    }

    fn decisions(&self, output: &mut Output) -> io::Result<()> {
        let mut rows = Vec::new();
        let sections = self.docs.sections.iter();
        for (name, section) in sections.filter(|(_, it)| it.path == DECISIONS) {
            let address = section_address(name, section);
            let subject = self.subject(name);
            let resting = rules::ALL
                .iter()
                .filter(|rule| rule.settled_by.contains(&subject) || rule.about.contains(&subject));
            let claims = self.claims.keys().filter(|(known, _)| known == subject);
            let title_html = self.docs.html(DECISIONS, &section.title, &address);
            let title_html = title_html.trim().trim_start_matches("<p>");
            let page = json!({
                "html": self.docs.html(DECISIONS, &section.text, &address),
                "title_html": title_html.trim_end_matches("</p>"),
                "name": name,
                "subject": subject,
                "rules": resting.map(|rule| [rule.id, rule.rule]).collect::<Vec<_>>(),
                "claims": claims.map(|(_, source)| source).collect::<Vec<_>>(),
            });
            let title = section.title.replace('`', "");
            output.page(&address, "text.html", &title, page)?;
            // A topic's page also has the address of its disagreement.
            if !name.ends_with(".term") {
                output.index("decision", name, &title, &address);
                rows.push(json!({"href": address, "name": name, "text": title}));
            }
        }
        let section = json!({"title": "", "rows": rows});
        list(output, "decisions/", "Decisions", [section].into_iter())
    }

    /// Returns the subject of a decision: its name, without the property of a disagreement.
    fn subject<'b>(&self, name: &'b str) -> &'b str {
        let mut keys = self.found.disagreements.iter().map(|it| &it.key);
        let key = keys.find(|key| key.to_string() == name);
        key.map_or(name, |key| &name[..key.subject.len()])
    }

    fn claims(&self, output: &mut Output) -> io::Result<()> {
        let mut by_source: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
        for ((subject, source), claim) in &self.claims {
            let address = format!("claims/{source}/{subject}/");
            let known = (self.spec, self.found);
            let page = claims::page((subject, source), claim, known, &self.docs);
            let title = format!("{source} on {subject}");
            let says = &claim.said[0].says;
            output.page(&address, "claim.html", &title, page)?;
            output.index("claim", &title, says, &address);
            let row = json!({"href": address, "name": subject, "text": says});
            by_source.entry(source).or_default().push(row);
        }
        let sections = self.spec.sources.iter().map(|source| {
            let rows = by_source.get(source.source.as_str());
            json!({"title": format!("{}: {}", source.source, source.title), "rows": rows})
        });
        list(output, "claims/", "Claims of the sources", sections)
    }
}

/// Writes a page with lists of pages.
fn list(
    output: &mut Output,
    address: &str,
    title: &str,
    sections: impl Iterator<Item = Value>,
) -> io::Result<()> {
    let sections: Vec<Value> = sections.collect();
    let page = json!({"sections": sections, "name": title.to_lowercase()});
    output.page(address, "list.html", title, page)
}

/// Returns a case's row in lists.
fn row(case: &Entry, by_case: &ByCase<'_>) -> Value {
    let answers = by_case.get(case.name.as_str()).into_iter().flatten();
    let failing = answers.filter(|(_, answer)| answer.is_failed());
    let failing: BTreeSet<&str> = failing.map(|(one, _)| one.name.as_str()).collect();
    json!({
        "href": format!("cases/{}/", case.name),
        "name": case.name,
        "text": case.note,
        "tag": case.page["right"],
        "failing": failing,
    })
}

/// Writes the page for an address of an older edition.
pub(crate) fn withdrawn(output: &mut Output, address: &str) -> io::Result<()> {
    let name = address.trim_end_matches('/');
    let html = "<p class=\"headline partial\">Withdrawn: the current edition does not have it. Its \
                name is never used again.</p>";
    output.page(address, "text.html", name, json!({"html": html}))
}

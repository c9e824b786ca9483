//! The pages of results.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use atf::rules;
use atf_report::badge;
use serde_json::{Value, json};

use crate::output::Output;
use crate::pages::Model;
use crate::results::{Answer, ByCase, Implementation, badge_words, history, shown, summary};

impl Model<'_> {
    /// Writes the pages of results.
    pub(crate) fn write_results(&self, output: &mut Output) -> io::Result<()> {
        let by_case = &self.results.by_case();
        for one in &self.results.all {
            self.implementation(output, one, by_case)?;
        }
        let guide = "docs/conformance/site.md";
        let section = |heading| {
            let text = self.docs.below(guide, heading)?;
            io::Result::Ok(self.docs.html(guide, text, "results/"))
        };
        let pairs = &self.results.pairs;
        let readers: BTreeSet<&String> = pairs.keys().map(|(_, reader)| reader).collect();
        let page = json!({
            "results": self.results.all.iter().map(summary).collect::<Vec<_>>(),
            "readers": readers,
            "matrix": self.matrix(&readers),
            "appear": section("## How to appear here")?,
            "object": section("## How to object")?,
        });
        output.page("results/", "results.html", "Results", page)?;
        let text = "writers, readers, badges";
        output.index("document", "Results", text, "results/");
        self.yours(output)
    }

    /// Returns the rows of the matrix of writers and readers.
    fn matrix(&self, readers: &BTreeSet<&String>) -> Vec<Value> {
        let pairs = &self.results.pairs;
        let writers: BTreeSet<&String> = pairs.keys().map(|(writer, _)| writer).collect();
        let rows = writers.into_iter().enumerate().map(|(line, writer)| {
            let cells = readers.iter().enumerate().map(|(column, reader)| {
                let pair = pairs.get(&(writer.clone(), (*reader).clone()))?;
                Some(json!({
                    "id": format!("{line}-{column}"),
                    "reader": reader,
                    "passed": pair.passed,
                    "total": pair.passed + pair.failed.len() + pair.known,
                    "known": pair.known,
                    "skipped": pair.skipped,
                    "failed": pair.failed,
                }))
            });
            json!({"writer": writer, "cells": cells.collect::<Vec<_>>()})
        });
        rows.collect()
    }

    fn implementation(
        &self,
        output: &mut Output,
        one: &Implementation,
        by_case: &ByCase<'_>,
    ) -> io::Result<()> {
        let address = format!("results/{}/", one.slug);
        let failures = one.latest().failures().map(|answer| {
            let known = answer.broken().filter(|id| rules::find(id).is_some());
            let rules: BTreeSet<&str> = known.collect();
            let mut row = shown(one, answer);
            row["case"] = json!(answer.case);
            row["is_known"] = json!(self.cases.iter().any(|case| case.name == answer.case));
            row["is_only"] = json!(is_only(one, answer, by_case));
            row["rules"] = json!(rules);
            row
        });
        let before = [None].into_iter().chain(one.versions.iter().map(Some));
        let versions = one.versions.iter().zip(before);
        let (words, mood) = badge_words(one.latest());
        let page = json!({
            "summary": summary(one),
            "versions": versions.map(|(it, before)| history(it, before)).collect::<Vec<_>>(),
            "failures": failures.collect::<Vec<_>>(),
            "others": self.results.all.len() - 1,
        });
        output.page(&address, "implementation.html", &one.name, page)?;
        output.index("result", &one.name, &words, &address);
        let mut picture = Vec::new();
        badge::write("ATF v2 conformance", &words, mood, &mut picture)?;
        output.file(&format!("{address}badge.svg"), picture);
        Ok(())
    }

    /// Writes the page that compares a visitor's report with the listed ones.
    fn yours(&self, output: &mut Output) -> io::Result<()> {
        let all = &self.results.all;
        let answers = |is: fn(&Answer) -> bool| {
            let mut found: BTreeMap<String, Vec<usize>> = BTreeMap::new();
            for (seq, one) in all.iter().enumerate() {
                for answer in one.latest().answers.iter().filter(|it| is(it)) {
                    let key = format!("{} {}", answer.role, answer.case);
                    found.entry(key).or_default().push(seq);
                }
            }
            found
        };
        let known = json!({
            "names": all.iter().map(|it| &it.name).collect::<Vec<_>>(),
            "cases": self.cases.iter().map(|it| &it.name).collect::<Vec<_>>(),
            "rules": rules::ALL.iter().map(|it| it.id).collect::<Vec<_>>(),
            "failed": answers(Answer::is_failed),
            "passed": answers(Answer::is_passed),
        });
        let script = format!("const ATF_RESULTS = {known};\n");
        output.file("yours/results.js", script);
        let page = json!({"scripts": ["yours/results.js"], "count": all.len()});
        output.page("yours/", "yours.html", "Your results", page)
    }
}

/// Returns whether this implementation is the only one that fails a case, and others pass it.
fn is_only(one: &Implementation, answer: &Answer, by_case: &ByCase<'_>) -> bool {
    let answers = by_case.get(answer.case.as_str()).into_iter().flatten();
    let mut others = answers.filter(|(other, it)| other.slug != one.slug && it.role == answer.role);
    others.clone().any(|(_, it)| it.is_passed()) && !others.any(|(_, it)| it.is_failed())
}

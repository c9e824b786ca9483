//! Emits the rules and the disagreements as tables in Rust. Each check refers to its rule by a
//! constant, so a check for a missing rule does not compile.

use atf_spec::load::Spec;
use atf_spec::model::{EditionSpec, Exclusion, RuleSpec, When};
use atf_spec::reconcile::{Disagreement, Reconciliation};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::rust;
use crate::GeneratedFile;

/// Emits `atf/src/rules/table.rs`.
#[must_use]
pub fn table(spec: &Spec) -> GeneratedFile {
    let names: Vec<_> = spec.all_rules().map(name).collect();
    let rules = spec.all_rules().map(|rule| self::rule(spec, rule));
    let groups = spec.rules.iter().map(|file| {
        let (prefix, title) = (&file.prefix.value, &file.title);
        quote!((#prefix, #title))
    });
    let decisions = decisions(spec);
    let sources = spec.sources.iter().map(|source| {
        let (id, title) = (source.source.as_str(), &source.title);
        quote!((#id, #title))
    });
    let editions = spec.editions.all().map(|(of, spec)| edition(of, spec));
    let tokens = quote! {
        use super::{Decision, Edition, Exclusion, Party, ReaderDoes, Rule, Sentence, Severity};
        use super::verdict::Verdict;

        #(#editions)*

        #(#rules)*

        /// The rules of the spec, in its order.
        pub static ALL: &[&Rule] = &[#(&#names),*];

        /// The id prefixes, each with the subject of its rules.
        pub static GROUPS: &[(&str, &str)] = &[#(#groups),*];

        /// The questions whose answers the rules cite, by name.
        pub static DECISIONS: &[Decision] = &[#(#decisions),*];

        /// The sources' titles.
        pub static SOURCES: &[(&str, &str)] = &[#(#sources),*];
    };
    let title = "All rules of the format, one static per id.";
    rust::file("atf/src/rules/table.rs", title, tokens)
}

fn edition(of: &str, edition: &EditionSpec) -> TokenStream {
    let name = format_ident!("{}_EDITION", of.to_uppercase());
    let doc = format!(" The edition of the {of}.");
    let (version, digest) = (edition.version.as_str(), edition.digest.as_str());
    quote! {
        #[doc = #doc]
        pub static #name: Edition = Edition {
            version: #version,
            digest: #digest,
        };
    }
}

/// Returns the topics and silences that a rule cites, in the spec's order.
fn decisions(spec: &Spec) -> Vec<TokenStream> {
    let is_named = |name: &str| spec.rules_citing(name).next().is_some();
    let topics = spec.topics.iter().filter(|topic| is_named(&topic.topic));
    let topics = topics.map(|topic| {
        let titles = topic.decisions.iter().map(|it| it.title.as_str());
        let reasons = topic.decisions.iter().map(|it| it.reason.as_str());
        let reason = reasons.collect::<Vec<_>>().join(" ");
        // If there is no decision, all sources agree on one term.
        let answers: Vec<_> = if topic.decisions.is_empty() {
            topic.terms.iter().map(|(_, term)| term.as_str()).collect()
        } else {
            titles.collect()
        };
        let claims: Vec<_> = topic.claims.iter().map(|source| source.as_str()).collect();
        let answer = answers.join("; ");
        decision(&topic.topic, &topic.question, &answer, &reason, &claims)
    });
    let silences = spec.decisions.silences.iter();
    let silences = silences.filter(|silence| is_named(&silence.silence));
    let silences =
        silences.map(|it| decision(&it.silence, &it.question, &it.decision, &it.reason, &[]));
    topics.chain(silences).collect()
}

fn decision(
    topic: &str,
    question: &str,
    answer: &str,
    reason: &str,
    sources: &[&str],
) -> TokenStream {
    quote! {
        Decision {
            topic: #topic,
            question: #question,
            answer: #answer,
            reason: #reason,
            sources: &[#(#sources),*],
        }
    }
}

fn name(rule: &RuleSpec) -> syn::Ident {
    format_ident!("{}", rule.id.replace('-', "_"))
}

/// Returns the path of an enum's variant, which has the same name in the library as in the spec.
fn variant(of: &str, variant: impl std::fmt::Debug) -> TokenStream {
    let (of, variant) = (format_ident!("{of}"), format_ident!("{variant:?}"));
    quote!(#of::#variant)
}

fn exclusion(spec: &Spec, rule: &RuleSpec, exclusion: &Exclusion) -> TokenStream {
    let verdict = variant("Verdict", exclusion.verdict);
    let if_followed = exclusion.when == When::Followed;
    let sentences = exclusion.lines.iter().map(|cited| {
        let lines = cited.to_string();
        // `spec check` reports lines without a sentence.
        let says = spec.sentence(rule, cited).unwrap_or_default();
        quote!(Sentence { lines: #lines, says: #says })
    });
    let phantom = option(exclusion.phantom.as_deref());
    quote! {
        Exclusion {
            verdict: #verdict,
            if_followed: #if_followed,
            sentences: &[#(#sentences),*],
            phantom: #phantom,
        }
    }
}

fn option(text: Option<&str>) -> TokenStream {
    match text {
        Some(text) => quote!(Some(#text)),
        None => quote!(None),
    }
}

fn rule(spec: &Spec, rule: &RuleSpec) -> TokenStream {
    let (name, id, text) = (name(rule), rule.id.as_str(), rule.rule.as_str());
    let doc = format!(" {}", rust::marked(text));
    let wires = spec.wires_of(rule);
    let severity = variant("Severity", rule.severity);
    let reader = variant("ReaderDoes", rule.reader);
    let verdicts = rule.allows.iter().map(|it| variant("Verdict", it));
    let excludes = rule.excludes.iter().map(|it| exclusion(spec, rule, it));
    let binds = rule.binds.iter().map(|party| variant("Party", party));
    let about = rule.about.iter().map(|about| about.as_str());
    let sources = rule.sources.iter().map(|source| source.as_str());
    let settled_by = rule.settled_by.iter().map(|topic| topic.as_str());
    let note = option(rule.note.as_deref());
    let untestable = option(rule.untestable.as_deref());
    quote! {
        #[doc = #doc]
        pub(crate) static #name: Rule = Rule {
            id: #id,
            rule: #text,
            wires: &[#(#wires),*],
            severity: #severity,
            binds: &[#(#binds),*],
            reader: #reader,
            allows: &[#(#verdicts),*],
            excludes: &[#(#excludes),*],
            about: &[#(#about),*],
            sources: &[#(#sources),*],
            settled_by: &[#(#settled_by),*],
            note: #note,
            untestable: #untestable,
        };
    }
}

/// Emits `conformance/src/fingerprint/table.rs`: the disagreements among the sources, with the
/// reading of each source, for the conformance kit.
#[must_use]
pub fn readings(spec: &Spec, found: &Reconciliation) -> GeneratedFile {
    let groups = found.groups(spec);
    let all = groups.iter().flat_map(|group| &group.disagreements);
    let all = all.map(|it| disagreement(it));
    let tokens = quote! {
        use super::{Disagreement, Reading};

        /// The disagreements, in the order of the reference.
        pub(super) static DISAGREEMENTS: &[Disagreement] = &[#(#all),*];
    };
    let title = "All disagreements among the sources, and each source's readings.";
    rust::file("conformance/src/fingerprint/table.rs", title, tokens)
}

fn disagreement(disagreement: &Disagreement) -> TokenStream {
    let key = disagreement.key.to_string();
    let readings = disagreement.values(|claim| claim.source.clone());
    let readings = readings
        .iter()
        .map(|(is, sources)| quote!(Reading { is: #is, sources: &[#(#sources),*] }));
    quote! {
        Disagreement {
            about: #key,
            readings: &[#(#readings),*],
        }
    }
}

//! Emits the disagreements among the sources as a table in Rust, for the conformance kit: the
//! reading of each source.

use atf_spec::load::Spec;
use atf_spec::reconcile::{Disagreement, Reconciliation};
use proc_macro2::TokenStream;
use quote::quote;

use super::rust;
use crate::GeneratedFile;

/// Emits `conformance/src/fingerprint/table.rs`.
#[must_use]
pub fn table(spec: &Spec, found: &Reconciliation) -> GeneratedFile {
    let groups = found.groups(spec);
    let all = groups.iter().flat_map(|group| &group.disagreements);
    let all = all.map(|it| disagreement(it));
    let tokens = quote! {
        use super::{Disagreement, Reading};

        /// The disagreements, in the order of the reference.
        pub(super) static DISAGREEMENTS: &[Disagreement] = &[#(#all),*];
    };
    rust::file(
        "conformance/src/fingerprint/table.rs",
        "All disagreements among the sources, and each source's readings.",
        tokens,
    )
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

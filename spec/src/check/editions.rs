//! Editions: each once, and versions that can be compared.

use crate::diagnostic::Diagnostic;
use crate::load::Spec;
use crate::model::EditionOf;
use crate::yaml::At;

pub(super) fn check(spec: &Spec, faults: &mut Vec<Diagnostic>) {
    let editions = &spec.editions.editions;
    for edition in editions.iter() {
        if !is_version(&edition.version) {
            let why = format!("`{}` is no version", edition.version);
            let fault = Diagnostic::error(edition.version.place, why);
            faults.push(fault.help("write three numbers without leading zeros: 1.0.0"));
        }
    }
    let order = editions.iter().map(|edition| edition.of.value);
    if let Some(last) = editions.last().filter(|_| !order.eq(EditionOf::ALL)) {
        let names = EditionOf::ALL.map(EditionOf::name).join(", ");
        let why = format!("the editions are not those of {names}, in this order");
        faults.push(Diagnostic::error(last.of.place, why));
    }
}

/// `1.20.3`
fn is_version(version: &At<String>) -> bool {
    let is_number = |part: &str| {
        part.parse::<u32>()
            .is_ok_and(|number| number.to_string() == part)
    };
    version.split('.').count() == 3 && version.split('.').all(is_number)
}

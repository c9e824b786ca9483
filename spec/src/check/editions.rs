//! Checks that editions have comparable versions.

use crate::diagnostic::Diagnostic;
use crate::load::Spec;
use crate::yaml::At;

pub(super) fn check(spec: &Spec, faults: &mut Vec<Diagnostic>) {
    for (_, edition) in spec.editions.all() {
        if !is_version(&edition.version) {
            let why = format!("`{}` is not a valid version", edition.version);
            let fault = edition.version.fault(why);
            faults.push(fault.help("write three numbers without leading zeros: 1.0.0"));
        }
    }
}

/// Returns whether the version has the form `1.20.3`.
fn is_version(version: &At<String>) -> bool {
    let is_number = |part: &str| {
        part.parse::<u32>()
            .is_ok_and(|number| number.to_string() == part)
    };
    version.split('.').count() == 3 && version.split('.').all(is_number)
}

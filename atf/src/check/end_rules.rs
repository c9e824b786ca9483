//! The rules about the ends of both kinds of file.

use super::rules::{Rule, table as rules};

/// The rules about the end of an index file or a detail file.
pub(crate) struct EndRules {
    pub(crate) finalized: &'static Rule,
    pub(crate) checksum: &'static Rule,
    pub(crate) checksum_ieee: &'static Rule,
    pub(crate) checksum_absent: &'static Rule,
    pub(crate) times: &'static Rule,
    pub(crate) reserved: &'static Rule,
    pub(crate) nothing_after: &'static Rule,
    pub(crate) whole_event: &'static Rule,
    pub(crate) zero_tail: &'static Rule,
    pub(crate) whole_footer: &'static Rule,
    pub(crate) placeholder: &'static Rule,
    pub(crate) count: &'static Rule,
}

pub(crate) const INDEX: EndRules = EndRules {
    finalized: &rules::ATF_IFTR_001,
    checksum: &rules::ATF_IFTR_004,
    checksum_ieee: &rules::ATF_IFTR_005,
    checksum_absent: &rules::ATF_IFTR_006,
    times: &rules::ATF_IFTR_007,
    reserved: &rules::ATF_IFTR_008,
    nothing_after: &rules::ATF_IFTR_009,
    whole_event: &rules::ATF_IFTR_010,
    zero_tail: &rules::ATF_IFTR_011,
    whole_footer: &rules::ATF_IFTR_012,
    placeholder: &rules::ATF_IHDR_017,
    count: &rules::ATF_IHDR_014,
};

pub(crate) const DETAIL: EndRules = EndRules {
    finalized: &rules::ATF_DFTR_001,
    checksum: &rules::ATF_DFTR_004,
    checksum_ieee: &rules::ATF_DFTR_005,
    checksum_absent: &rules::ATF_DFTR_006,
    times: &rules::ATF_DFTR_007,
    reserved: &rules::ATF_DFTR_008,
    nothing_after: &rules::ATF_DFTR_009,
    whole_event: &rules::ATF_DFTR_010,
    zero_tail: &rules::ATF_DFTR_011,
    whole_footer: &rules::ATF_DFTR_012,
    placeholder: &rules::ATF_DHDR_012,
    count: &rules::ATF_DHDR_009,
};

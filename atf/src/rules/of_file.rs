//! The rules about the headers and the ends of both kinds of file.

use super::{Rule, table as rules};

/// The rules about the header and the end of an index file or a detail file.
#[derive(Debug)]
pub(crate) struct FileRules {
    pub(crate) header: &'static Rule,
    /// The rules about magic, byte order and version.
    pub(crate) identity: [&'static Rule; 3],
    pub(crate) events_offset: &'static Rule,
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
    pub(crate) footer_magic: &'static Rule,
    pub(crate) footer_count: &'static Rule,
    pub(crate) footer_length: &'static Rule,
}

pub(crate) static INDEX: FileRules = FileRules {
    header: &rules::ATF_IHDR_001,
    identity: [
        &rules::ATF_IHDR_002,
        &rules::ATF_IHDR_003,
        &rules::ATF_IHDR_004,
    ],
    events_offset: &rules::ATF_IHDR_007,
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
    footer_magic: &rules::ATF_IFTR_013,
    footer_count: &rules::ATF_IFTR_002,
    footer_length: &rules::ATF_IFTR_003,
};

pub(crate) static DETAIL: FileRules = FileRules {
    header: &rules::ATF_DHDR_001,
    identity: [
        &rules::ATF_DHDR_002,
        &rules::ATF_DHDR_003,
        &rules::ATF_DHDR_004,
    ],
    events_offset: &rules::ATF_DHDR_005,
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
    footer_magic: &rules::ATF_DFTR_013,
    footer_count: &rules::ATF_DFTR_002,
    footer_length: &rules::ATF_DFTR_003,
};

/// Returns the rule broken by a link to a missing detail event. `may_be_lost` states whether a
/// crash may have lost the detail event.
pub(crate) const fn dangling(may_be_lost: bool) -> &'static Rule {
    if may_be_lost {
        &rules::ATF_LINK_002
    } else {
        &rules::ATF_LINK_001
    }
}

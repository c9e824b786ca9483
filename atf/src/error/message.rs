//! The messages of errors.

use std::fmt;

use super::ErrorKind;
use crate::files::SEARCH_DEPTH;
use crate::text::{are, counted};
use crate::wire::Wire;
use crate::wire::decoded::IndexHeader;

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(kind) => kind.fmt(f),
            Self::NotRegular { found } => write!(f, "not a regular file but a {found}"),
            Self::SymbolicLink => f.write_str("a symlink, which is not followed inside a session"),
            Self::Replaced => f.write_str("replaced by another file"),
            Self::Changed { found, before } => write!(f, "changed from {before} to {found}"),
            Self::Overwritten => f.write_str("was already read, but its bytes have changed since"),
            Self::UnexpectedEnd { missing } => write!(
                f,
                "the file was truncated after it was opened: {missing} bytes are missing"
            ),
            Self::Internal { broken } => write!(
                f,
                "a bug in atf: broken invariant: {broken}; please report it"
            ),
            Self::NothingWritten => f.write_str("the file is empty: nothing was written to it"),
            Self::TooShort { found, needed } => write!(f, "truncated: {found} of {needed} bytes"),
            Self::BadMagic { found, expected } => write!(
                f,
                "\"{}\", expected \"{}\"",
                found.escape_ascii(),
                expected.escape_ascii()
            ),
            Self::BadEndian { found, expected } => write!(
                f,
                "{found:#04x}, expected {expected:#04x}: ATF is little-endian"
            ),
            Self::UnknownVersion { found } => {
                let known: Vec<_> = Wire::VERSIONS.iter().map(u8::to_string).collect();
                write!(f, "{found}, expected {}", known.join(" or "))
            }
            Self::WrongLayoutForVersion { version, layout } => {
                write!(f, "{version}, but the header has the layout of {layout}")
            }
            Self::BadEventSize { found, expected } => write!(f, "{found}, expected {expected}"),
            Self::BadEventsOffset { found, min, max } => write!(
                f,
                "{found}, expected {min} to {max}: after the header and within the file"
            ),
            Self::UnprovenEventsOffset { found } => {
                write!(f, "{found}, but no footer confirms that events begin there")
            }
            Self::NotFinalized {
                is_cut,
                trailing_bytes,
                zero_tail_bytes,
            } => write!(
                f,
                "no footer: the file was {}{}",
                if *is_cut {
                    "truncated or damaged after it was finalized"
                } else {
                    "not finalized"
                },
                trailing(*trailing_bytes, *zero_tail_bytes)
            ),
            Self::EventsMissing { found, stated } => {
                write!(f, "{stated} events, but the file has only {found}")
            }
            Self::ChecksumMismatch { stored, computed } => write!(
                f,
                "checksum mismatch: the footer has {stored:#010x}, the CRC-32C of the \
                 events is {computed:#010x}"
            ),
            Self::IeeeChecksum { stored, computed } => write!(
                f,
                "the footer has {stored:#010x}, the IEEE CRC-32 of the events, expected their \
                 CRC-32C {computed:#010x}"
            ),
            Self::Gap { count } => write!(
                f,
                "a gap: {} {} all zeros, their contents unknown",
                counted(*count, "event"),
                are(*count)
            ),
            Self::DanglingLinks {
                greatest, count, ..
            } => write!(
                f,
                "links reach detail event {greatest}, but there are only {count}"
            ),
            Self::CountDoesNotFit {
                found,
                section_bytes,
            } => write!(
                f,
                "{found} events need {} bytes, the events section has {section_bytes}",
                u128::from(*found).saturating_mul(IndexHeader::EVENT_SIZE.into())
            ),
            Self::LengthDoesNotFit {
                found,
                section_bytes,
            } => write!(f, "{found} bytes, the events section has {section_bytes}"),
            Self::Disagrees {
                found,
                expected,
                by,
            } => write!(f, "{found}, {by} has {expected}"),
            Self::WrongDetailFlag { flag, file } => write!(
                f,
                "has_detail_file is {}set, but there is {} detail.atf",
                if *flag { "" } else { "not " },
                if *file { "a" } else { "no" }
            ),
            Self::BadTotalLength {
                found,
                min,
                available,
            } => write!(f, "{found}, expected {min} to {available}"),
            Self::TornEvent { available, needed } => write!(
                f,
                "an event needs {needed} bytes, the events section has {available} left"
            ),
            Self::PayloadTooLarge { found, limit } => {
                write!(f, "{found} bytes, more than the limit of {limit}")
            }
            Self::OutOfRange { found, min, max } => write!(f, "{found}, expected {min} to {max}"),
            Self::TimeGoesBack { found, last } => {
                write!(f, "{found} ns is before the previous event's {last} ns")
            }
            Self::LimitReached { limit } => write!(f, "the limit of {limit} is reached"),
            Self::DetailsMissing { count } => write!(f, "{count} reserved but not yet written"),
            Self::NotReserved => f.write_str("no index event reserved a detail"),
            Self::TooManyReservations { limit } => write!(
                f,
                "{limit} are reserved but not yet written, which is the maximum"
            ),
            Self::TooManyOpenCalls { given_up, limit } => write!(
                f,
                "more than {limit} calls were open at once; {given_up} outer calls were given up: \
                 their ends are unknown, and their returns are without a call"
            ),
            Self::AlreadyFinalized => f.write_str("already finalized"),
            Self::HasRecording => f.write_str("the session already has a recording"),
            Self::RingDiffers { file } => {
                write!(f, "{file} has different bytes at the same position")
            }
            Self::Unsteady => f.write_str("changed during every attempt to read it"),
            Self::Forked { owner } => write!(
                f,
                "belongs to process {owner}; this process is a fork of it"
            ),
            Self::NeedsRings => {
                f.write_str("needs rings, which a session that survives a kill does not have")
            }
            Self::ThreadHasWriter { id } => write!(f, "thread {id} already has a writer"),
            Self::ThreadsNotFinalized { count } => {
                let threads = counted(*count, "thread");
                write!(f, "{threads} {} still being written", are(*count))
            }
            Self::NotASession => {
                f.write_str("not a session: it has neither a manifest.json nor a thread_N folder")
            }
            Self::TooDeep => write!(f, "not searched: more than {SEARCH_DEPTH} folders deep"),
            Self::SessionsBelow { folders } => write!(
                f,
                "not a session, but it contains sessions; open one of them: {}",
                few(folders)
            ),
            Self::SeveralProcesses { folders } => write!(
                f,
                "has several processes; open one of them: {}",
                folders.join(", ")
            ),
            Self::NotATrace { found } => write!(f, "not a trace: {found}"),
            Self::SameTrace { other } => write!(
                f,
                "named twice, also as {}; its events would count twice",
                other.display()
            ),
            Self::NoMediaClock(why) => write!(f, "{why}"),
            Self::SegmentsMissing { first, last } if first == last => {
                write!(
                    f,
                    "segment {first} of the recording is missing before this one"
                )
            }
            Self::SegmentsMissing { first, last } => write!(
                f,
                "segments {first} to {last} of the recording are missing before this one"
            ),
            Self::OutputExists => f.write_str("already exists"),
            Self::OutputInside => {
                f.write_str("is inside the input, or would be read as part of a trace")
            }
            Self::NoThreadId => f.write_str(
                "not read: the name has no thread id after `thread_`; to read it, rename the folder",
            ),
            Self::MissingFolder => {
                f.write_str("listed in the manifest, but the folder does not exist")
            }
            Self::ManifestTooLarge { found, limit } => {
                write!(f, "{found} bytes, more than the manifest limit of {limit}")
            }
            Self::ByteOrderMark => f.write_str("begins with a byte-order mark, which JSON forbids"),
            Self::Empty => f.write_str("is empty"),
            Self::EmptyName => f.write_str("is empty; omit the key if the function has no name"),
            Self::NotUtf8 => f.write_str("is not UTF-8, but another encoding, such as UTF-16"),
            Self::NotJson(problem) => write!(f, "is not JSON: {problem}"),
            Self::WrongType { found, expected } => write!(f, "{found}, expected {expected}"),
            Self::MissingKey => f.write_str("missing"),
            Self::UnknownKey => f.write_str("unknown key"),
            Self::DuplicateKey => f.write_str("duplicate key"),
            Self::DuplicateThread { id } => write!(f, "thread {id} is already listed"),
            Self::LostInRecovery { what, .. } => f.write_str(what),
        }
    }
}

impl std::error::Error for ErrorKind {}

/// Describes what follows the last event of an unfinalized file.
fn trailing(trailing_bytes: u64, zero_tail_bytes: u64) -> String {
    let part = |bytes, noun, what: &str| match bytes {
        0 => String::new(),
        _ => format!("; {} {what}", counted(bytes, noun)),
    };
    let torn = format!("{} not a whole event", are(trailing_bytes));
    let torn = part(trailing_bytes, "trailing byte", &torn);
    torn + &part(zero_tail_bytes, "byte", "of zeros at the end")
}

/// Lists the first few names.
fn few(names: &[String]) -> String {
    const FEW: usize = 5;
    let first = names.iter().take(FEW).map(String::as_str);
    let first = first.collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(FEW) {
        0 => first,
        more => format!("{first}, and {more} more"),
    }
}

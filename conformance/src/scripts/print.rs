//! Prints scripts.

use std::fmt::{self, Display, Formatter};

use super::{Detail, Index, Open, Operation, Script};
use crate::hex::hex;

impl Display for Script {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for operation in &self.operations {
            writeln!(f, "{operation}")?;
        }
        Ok(())
    }
}

impl Display for Operation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(Open {
                thread_id,
                wire,
                clock_type,
                arch,
                os,
            }) => write!(
                f,
                "open thread={thread_id} wire={wire} clock={clock_type} arch={arch} os={os}"
            ),
            Self::Index(event) => event.fmt(f),
            Self::Detail(detail) => detail.fmt(f),
            Self::Finalize(thread_id) => write!(f, "finalize thread={thread_id}"),
            Self::Flush(thread_id) => write!(f, "flush thread={thread_id}"),
            Self::Close(thread_id) => write!(f, "close thread={thread_id}"),
            Self::Space => f.write_str("space"),
            Self::Abort => f.write_str("abort"),
            Self::Kill => f.write_str("kill"),
        }
    }
}

impl Display for Index {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (thread, time, function) = (self.thread_id, self.timestamp_ns, self.function_id);
        let (kind, depth) = (self.event_kind, self.call_depth);
        write!(
            f,
            "index thread={thread} ts={time} fn={function} kind={kind} depth={depth} detail="
        )?;
        match self.detail_seq {
            Some(seq) => seq.fmt(f),
            None => f.write_str("-"),
        }
    }
}

impl Display for Detail {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (thread, index, time) = (self.thread_id, self.index_seq, self.timestamp);
        let (kind, flags, payload) = (self.event_type, self.flags, hex(&self.payload));
        write!(
            f,
            "detail thread={thread} index={index} ts={time} type={kind} flags={flags} payload={payload}"
        )
    }
}

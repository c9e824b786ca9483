//! Prints scripts.

use std::fmt::{self, Display, Formatter};

use super::{Detail, Index, Open, Operation, Script};

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
            Self::Open(open) => open.fmt(f),
            Self::Index(event) => event.fmt(f),
            Self::Detail(detail) => detail.fmt(f),
            Self::Finalize { thread_id } => write!(f, "finalize thread={thread_id}"),
            Self::Flush { thread_id } => write!(f, "flush thread={thread_id}"),
            Self::Close { thread_id } => write!(f, "close thread={thread_id}"),
            Self::Space => f.write_str("space"),
            Self::Abort => f.write_str("abort"),
            Self::Kill => f.write_str("kill"),
        }
    }
}

impl Display for Open {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self {
            thread_id,
            wire,
            clock_type,
            arch,
            os,
        } = self;
        write!(
            f,
            "open thread={thread_id} wire={wire} clock={clock_type} arch={arch} os={os}"
        )
    }
}

impl Display for Index {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self {
            thread_id,
            timestamp_ns,
            function_id,
            event_kind,
            call_depth,
            detail_seq,
        } = self;
        write!(
            f,
            "index thread={thread_id} ts={timestamp_ns} fn={function_id} kind={event_kind} \
             depth={call_depth} detail="
        )?;
        match detail_seq {
            Some(seq) => seq.fmt(f),
            None => f.write_str("-"),
        }
    }
}

impl Display for Detail {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self {
            thread_id,
            index_seq,
            timestamp,
            event_type,
            flags,
            payload,
        } = self;
        write!(
            f,
            "detail thread={thread_id} index={index_seq} ts={timestamp} type={event_type} \
             flags={flags} payload="
        )?;
        for byte in payload {
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

#[atf_derive::record(index_event, wire = 2)]
pub struct SeveralErrors {
    pub timestamp_ns: u64,
    #[offset(16)]
    pub detail_seq: u32,
    #[offset(9)]
    pub function_id: u64,
    pub thread_id: u32,
    pub event_kind: u8,
    pub event_kind: u8,
}

#[atf_derive::record(detail_function_payload, wire = 1)]
pub struct Arrays {
    pub function_id: [u8; 8],
    pub x_regs: [u64; 7],
    #[offset = 72]
    pub lr: u64,
}

fn main() {}

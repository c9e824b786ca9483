//! Times atf against named baselines.

fn main() {}

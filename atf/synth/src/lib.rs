//! Traces with realistic call trees, from a seed.

#![forbid(unsafe_code)]

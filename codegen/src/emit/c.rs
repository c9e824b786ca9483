//! C headers.

//! The golden corpus: its cases are what they say, and what is committed is what they make.

mod cases;

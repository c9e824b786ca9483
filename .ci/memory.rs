//! Planted bugs that AddressSanitizer with LeakSanitizer and Miri must find (`.ci/sanitize`), one at a time.
#![allow(unsafe_code, reason = "the bugs are intentional")]

use std::hint::black_box;

fn main() {
    let memory = Box::into_raw(Box::new([1_u64; 4]));
    let first = memory.cast::<u64>();
    // SAFETY: intentionally unsound from here on, except in `free`.
    let free = || drop(unsafe { Box::from_raw(memory) });
    let found = match std::env::args().nth(1).as_deref() {
        Some("beyond") => {
            let found = unsafe { black_box(first.add(4)).read() };
            free();
            found
        }
        Some("freed") => {
            free();
            unsafe { black_box(first).read() }
        }
        Some("leaked") => 0,
        // While `one` is an exclusive borrow, nothing else may write to the same memory.
        Some("alias") => {
            let one = unsafe { &mut *first };
            unsafe { first.write(2) };
            *one += 1;
            let found = *one;
            free();
            found
        }
        Some("unaligned") => {
            let found = unsafe { first.byte_add(1).read() };
            free();
            found
        }
        _ => {
            free();
            0
        }
    };
    println!("{}", black_box(found));
}

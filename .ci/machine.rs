//! Planted: three assumptions that hold on x86-64, each wrong on another machine. Names those that are.

use std::ffi::c_char;

fn main() {
    // A number from a file, its bytes taken as they are: where the high byte comes first, another number.
    let bytes = [1, 0, 0, 0];
    if u32::from_ne_bytes(bytes) != 1 {
        println!("byte order");
    }
    // The length of a file of 4 GiB and a few bytes, made a length in memory.
    let length = (1_u64 << 32) + 5;
    if length as usize as u64 != length {
        println!("32 bit");
    }
    // What C calls a char, taken for a number with a sign.
    if c_char::MIN == 0 {
        println!("char without sign");
    }
}

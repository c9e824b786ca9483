//! Planted bugs: three assumptions that are true on x86-64 but not on every machine. Prints those
//! that are false on this machine.

use std::ffi::c_char;

fn main() {
    // A number from a file, read in native byte order: wrong on a big-endian machine.
    let bytes = [1, 0, 0, 0];
    if u32::from_ne_bytes(bytes) != 1 {
        println!("byte order");
    }
    // The length of a file of slightly more than 4 GiB, converted to usize.
    let length = (1_u64 << 32) + 5;
    if length as usize as u64 != length {
        println!("32 bit");
    }
    // C's char, assumed to be signed.
    if c_char::MIN == 0 {
        println!("char without sign");
    }
}

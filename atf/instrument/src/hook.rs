//! The functions that instrumented code calls.
//!
//! The compiler inserts a call to one hook at the beginning of each function and to the other at
//! its end, including when an exception passes through the function (GCC). The hooks are written in
//! assembly, because only there do the registers still have the instrumented function's values.
//!
//! `docs/record.md` lists which register is in each payload field. `x0` and `x1`, or `rdi` and
//! `rsi`, contain the hook's own arguments. At the end of a function, the compiler has already
//! moved its result elsewhere. `sp` is the function's stack pointer when it calls the hook.

use atf::EventKind;

use crate::capture::Registers;
use crate::record::record;

/// Defines a hook that passes the registers to a function.
#[cfg(target_arch = "x86_64")]
macro_rules! hook {
    ($hook:ident, $name:literal, $inner:ident, $kind:expr) => {
        /// Called by instrumented functions.
        #[unsafe(naked)]
        #[unsafe(export_name = $name)]
        pub extern "C" fn $hook(function: usize, call_site: usize) {
            // The first six arguments are in registers. The seventh is the stack pointer before
            // this function was called, and the eighth is the frame pointer. The stack must be
            // aligned to 16 bytes, and at this point the return address is on the stack.
            std::arch::naked_asm!(
                "sub rsp, 8",
                "push rbp",
                "lea rax, [rsp + 24]",
                "push rax",
                "call {inner}",
                "add rsp, 24",
                "ret",
                inner = sym $inner,
            )
        }

        extern "C" fn $inner(
            function: usize,
            call_site: usize,
            rdx: u64,
            rcx: u64,
            r8: u64,
            r9: u64,
            sp: usize,
            fp: u64,
        ) {
            let x = [0, 0, rdx, rcx, r8, r9, 0, 0];
            let registers = Registers { x, lr: call_site, fp, sp };
            record(function, $kind, &registers);
        }
    };
}

/// Defines a hook that passes the registers to a function.
#[cfg(target_arch = "aarch64")]
macro_rules! hook {
    ($hook:ident, $name:literal, $inner:ident, $kind:expr) => {
        /// Called by instrumented functions.
        #[unsafe(naked)]
        #[unsafe(export_name = $name)]
        pub extern "C" fn $hook(function: usize, call_site: usize) {
            // The first eight arguments are in registers. The ninth is the stack pointer before
            // this function was called, and the tenth is the frame pointer.
            std::arch::naked_asm!(
                "stp x29, x30, [sp, #-16]!",
                "add x9, sp, #16",
                "stp x9, x29, [sp, #-16]!",
                "bl {inner}",
                "add sp, sp, #16",
                "ldp x29, x30, [sp], #16",
                "ret",
                inner = sym $inner,
            )
        }

        extern "C" fn $inner(
            function: usize,
            call_site: usize,
            x2: u64,
            x3: u64,
            x4: u64,
            x5: u64,
            x6: u64,
            x7: u64,
            sp: usize,
            fp: u64,
        ) {
            let x = [0, 0, x2, x3, x4, x5, x6, x7];
            let registers = Registers { x, lr: call_site, fp, sp };
            record(function, $kind, &registers);
        }
    };
}

/// Defines a hook without registers.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
macro_rules! hook {
    ($hook:ident, $name:literal, $inner:ident, $kind:expr) => {
        /// Called by instrumented functions.
        #[unsafe(export_name = $name)]
        pub extern "C" fn $hook(function: usize, call_site: usize) {
            let registers = Registers {
                x: [0; 8],
                lr: call_site,
                fp: 0,
                sp: 0,
            };
            record(function, $kind, &registers);
        }
    };
}

hook!(enter, "__cyg_profile_func_enter", entered, EventKind::CALL);
hook!(leave, "__cyg_profile_func_exit", left, EventKind::RETURN);

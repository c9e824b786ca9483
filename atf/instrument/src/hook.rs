//! The functions that instrumented code calls.
//!
//! The compiler inserts a call to one hook at the beginning of each function and to the other at
//! its end, including when an exception passes through the function (GCC). The hooks are written in
//! assembly, because compiled code would overwrite the instrumented function's registers before
//! they could be stored.
//!
//! `docs/record.md` lists which register is in each payload field. `x0` and `x1`, or `rdi` and
//! `rsi`, contain the hook's own arguments. At the end of a function, the function's result has
//! already been moved elsewhere. `sp` is the function's stack pointer when it calls the hook.

use atf::EventKind;

use crate::capture::Registers;
use crate::record::record;

/// Defines a hook that stores [`Registers`] on the stack and passes them to a function.
#[cfg(target_arch = "x86_64")]
macro_rules! hook {
    ($hook:ident, $name:literal, $inner:ident, $kind:expr) => {
        /// Called by instrumented functions.
        #[unsafe(naked)]
        #[unsafe(export_name = $name)]
        pub extern "C" fn $hook(function: usize, call_site: usize) {
            // The fields of `Registers` are pushed in reverse order. Together with the return
            // address, they leave the stack aligned to 16 bytes.
            std::arch::naked_asm!(
                "lea rax, [rsp + 8]",
                "push rax",
                "push rbp",
                "push rsi",
                "push 0",
                "push 0",
                "push r9",
                "push r8",
                "push rcx",
                "push rdx",
                "push 0",
                "push 0",
                "mov rsi, rsp",
                "call {inner}",
                "add rsp, {size}",
                "ret",
                inner = sym $inner,
                size = const size_of::<Registers>(),
            )
        }

        extern "C" fn $inner(function: usize, registers: &Registers) {
            record(function, $kind, registers);
        }
    };
}

/// Defines a hook that stores [`Registers`] on the stack and passes them to a function.
#[cfg(target_arch = "aarch64")]
macro_rules! hook {
    ($hook:ident, $name:literal, $inner:ident, $kind:expr) => {
        /// Called by instrumented functions.
        #[unsafe(naked)]
        #[unsafe(export_name = $name)]
        pub extern "C" fn $hook(function: usize, call_site: usize) {
            // The fields of `Registers` begin at the stack pointer plus 16. The stack pointer stays
            // aligned to 16 bytes.
            std::arch::naked_asm!(
                "stp x29, x30, [sp, #-112]!",
                "add x9, sp, #112",
                "stp xzr, xzr, [sp, #16]",
                "stp x2, x3, [sp, #32]",
                "stp x4, x5, [sp, #48]",
                "stp x6, x7, [sp, #64]",
                "stp x1, x29, [sp, #80]",
                "str x9, [sp, #96]",
                "add x1, sp, #16",
                "bl {inner}",
                "ldp x29, x30, [sp], #112",
                "ret",
                inner = sym $inner,
            )
        }

        extern "C" fn $inner(function: usize, registers: &Registers) {
            record(function, $kind, registers);
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

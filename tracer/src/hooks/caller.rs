//! Who calls an interposed function: the address to which it will return.
//!
//! An entry of two instructions reads it and goes on to the function that does the work, with everything else as it was: arguments,
//! stack, and the address to return to. It is passed in the first register for floating-point numbers, which none of the interposed
//! functions uses, so the entry need not know how many arguments there are; no frame is left, so exceptions pass.

use std::ffi::c_void;

/// The address behind the call. The last argument of every function that [`interpose!`] names.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Caller(f64);

impl Caller {
    pub(crate) fn address(self) -> *const c_void {
        // The call is before the address to return to, which may lie behind the end of its function, and of its object.
        (self.0.to_bits() as usize).wrapping_sub(1) as *const c_void
    }
}

/// Exports a symbol that stands before the function of the same name, and hands calls to one of ours.
macro_rules! interpose {
    ($($symbol:literal => $function:ident;)+) => {$(
        const _: () = {
            /// # Safety
            /// As the original.
            #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
            #[unsafe(export_name = $symbol)]
            #[unsafe(naked)]
            unsafe extern "C-unwind" fn entry() {
                #[cfg(target_arch = "x86_64")]
                std::arch::naked_asm!(
                    ".cfi_startproc",
                    "movsd xmm0, qword ptr [rsp]",
                    "jmp {function}",
                    ".cfi_endproc",
                    function = sym $function,
                );
                #[cfg(target_arch = "aarch64")]
                std::arch::naked_asm!(
                    ".cfi_startproc",
                    "fmov d0, x30",
                    "b {function}",
                    ".cfi_endproc",
                    function = sym $function,
                );
            }
        };
    )+};
}

pub(super) use interpose;

//! Who calls one of our functions: the address to which it will return. As `hooks/caller.rs` of the tracer, where it is explained: an entry
//! of two instructions passes it in the first register for floating-point numbers, and leaves everything else as it was.

use std::ffi::c_void;

/// The address behind the call. The last argument of every function that [`interpose!`] names.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Caller(f64);

impl Caller {
    pub(crate) fn address(self) -> *const c_void {
        self.0.to_bits() as usize as *const c_void
    }
}

/// Exports a symbol that stands before the function of the same name, and hands calls to one of ours.
macro_rules! interpose {
    ($($symbol:literal => $function:ident;)+) => {$(
        const _: () = {
            /// # Safety
            /// As the original.
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

pub(crate) use interpose;

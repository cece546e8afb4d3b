//! The first instructions of a tracepoint that happens again and again: is there anything to do?
//!
//! Mostly there is not, and then nothing but a call, two numbers and a return may be left. On x86-64 they are written by hand: each
//! function begins a line of the cache, and the way out is straight, neither of which the compiler can be told.

/// Defines a function that goes on to `work`, with the same arguments, if the event is recorded, the tracer is not initialised yet, or
/// the real libtracetools wants the call. Otherwise it returns, a test with `false`. Only rax is used, which a call may change.
macro_rules! entry {
    (
        $(#[$attribute:meta])*
        fn $name:ident($($parameter:ident: $kind:ty),*) $(-> $result:ty)?;
        $event:ident, $function:ident => $work:ident
    ) => {
        $(#[$attribute])*
        #[cfg(target_arch = "x86_64")]
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        #[unsafe(link_section = ".text.rostrace_tracepoints")]
        #[allow(clippy::too_many_arguments)]
        pub unsafe extern "C" fn $name($($parameter: $kind),*) $(-> $result)? {
            std::arch::naked_asm!(
                ".cfi_startproc",
                "mov rax, [rip + {gate}]",
                "mov rax, [rax]",
                "test rax, rax",
                "jz 4f",
                "bt qword ptr [rax + {enabled}], {bit}",
                "jc 4f",
                "mov rax, [rip + {wanted} + {number}]",
                "cmp dword ptr [rax], 0",
                "jne 4f",
                "xor eax, eax",
                "ret",
                "4:",
                "jmp {work}",
                ".cfi_endproc",
                // The next one begins a line, too.
                ".balign 64",
                gate = sym gate::GATE,
                enabled = const gate::enabled_at(events::$event),
                bit = const events::$event % 64,
                wanted = sym original::WANTED,
                number = const 8 * (Function::$function as usize),
                work = sym $work,
            )
        }

        $(#[$attribute])*
        #[cfg(not(target_arch = "x86_64"))]
        #[unsafe(no_mangle)]
        #[allow(clippy::too_many_arguments, unused_unsafe)]
        pub unsafe extern "C" fn $name($($parameter: $kind),*) $(-> $result)? {
            if !gate::may_want(events::$event) && !original::wants(Function::$function) {
                return Default::default();
            }
            // SAFETY: as the caller promises.
            unsafe { $work($($parameter),*) }
        }
    };
}

pub(crate) use entry;

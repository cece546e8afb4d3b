//! The first instructions of a tracepoint that happens again and again: is there anything to do?
//!
//! Mostly there is not, and then nothing but a call, two numbers and a return may be left. On x86-64 they are written by hand: each
//! function begins a line of the cache, and the way out is straight, neither of which the compiler can be told. `near` asks the same.

/// Defines a function that goes on to `work`, with the same arguments, if the event is recorded, a new order is to be carried out, or
/// the real libtracetools wants the call. Otherwise it returns, a test with `false`. Only rax and r11 are used, which a call may change.
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
                "mov rax, [rip + {attention}]",
                "cmp qword ptr [rax], 0",
                "jne 3f",
                "2:",
                "mov rax, [rip + {wanted} + {number}]",
                "cmp dword ptr [rax], 0",
                "jne 4f",
                "xor eax, eax",
                "ret",
                "3:",
                "mov rax, [rip + {ordered}]",
                "mov r11, [rip + {gate}]",
                "mov rax, [rax]",
                "cmp rax, [r11 + {obeyed}]",
                "jne 4f",
                "mov rax, [r11 + {enabled}]",
                "bt rax, {bit}",
                "jnc 2b",
                "4:",
                "jmp {work}",
                ".cfi_endproc",
                // The next one begins a line, too.
                ".balign 64",
                attention = sym gate::ATTENTION,
                wanted = sym original::WANTED,
                number = const 8 * (Function::$function as usize),
                ordered = sym gate::GENERATION,
                gate = sym gate::GATE,
                obeyed = const gate::OBEYED_AT,
                enabled = const gate::enabled_at(events::$event),
                bit = const events::$event % 64,
                work = sym $work,
            )
        }

        $(#[$attribute])*
        #[cfg(not(target_arch = "x86_64"))]
        #[unsafe(no_mangle)]
        #[allow(clippy::too_many_arguments, unused_unsafe)]
        pub unsafe extern "C" fn $name($($parameter: $kind),*) $(-> $result)? {
            let attends = gate::is_attentive() && gate::attends(events::$event);
            if !attends && !original::wants(Function::$function) {
                return Default::default();
            }
            // SAFETY: as the caller promises.
            unsafe { $work($($parameter),*) }
        }
    };
}

pub(crate) use entry;

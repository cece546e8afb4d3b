//! What becomes of one block of `functions`: the three functions of a tracepoint, whose first instructions ask whether there is anything to do.
//!
//! Mostly there is not, and then nothing but a call, two numbers and a return may be left. On x86-64 they are written by hand where a
//! tracepoint happens again and again: each function begins a line of the cache, and the way out is straight, neither of which the compiler can
//! be reported.

/// All tracepoints, each with a block for [`tracepoint!`].
macro_rules! tracepoints {
    ($(
        $(#[$about:meta])*
        $phase:ident $event:ident $name:ident: $emit:ident, $emit_again:ident, $is_enabled:ident { $($body:tt)* }
    )*) => {
        $( tracepoint! {
            $(#[$about])* $phase $event $name: $emit, $emit_again, $is_enabled; $($body)*
        } )*
    };
}

/// The functions of one tracepoint: two that emit it, the second one for who has asked before, and one that tells whether anybody wants it.
///
/// `run` is for what happens again and again, `init` for what is remembered while nothing is recorded. Behind the arguments it says when the event
/// is left out, what is found out before its size is known, its size and its fields; or which function does all of this.
macro_rules! tracepoint {
    (
        $(#[$about:meta])*
        $phase:ident $event:ident $name:ident: $emit:ident, $emit_again:ident, $is_enabled:ident;
        fn($($parameter:ident: $kind:ty),*) by $work:ident;
    ) => {
        mod $name {
            use super::*;
            pub(super) use crate::abi::tracetools::$work as work;

            pub(super) extern "C" fn test() -> bool {
                is_enabled(events::$event, Function::$name)
            }
        }
        tracepoint! {
            @functions $(#[$about])*
            $phase $event $name: $emit, $emit_again, $is_enabled; ($($parameter: $kind),*)
        }
    };
    (
        $(#[$about:meta])*
        $phase:ident $event:ident $name:ident: $emit:ident, $emit_again:ident, $is_enabled:ident;
        fn($($parameter:ident: $kind:ty),*) $(unless $refused:expr)?;
        $(let $local:ident = $value:expr;)*
        [$size:expr] $($field:tt)*
    ) => {
        mod $name {
            use super::*;

            pub(super) extern "C" fn test() -> bool {
                is_enabled(events::$event, Function::$name)
            }

            #[inline(never)]
            #[allow(clippy::too_many_arguments, unused_unsafe)]
            pub(super) unsafe extern "C" fn work($($parameter: $kind),*) {
                if gate::wants(events::$event) $(&& !$refused)? {
                    // SAFETY: the caller passes null or texts that end with a zero.
                    $(let $local = unsafe { $value };)*
                    // SAFETY: the payload has the size that is said, and the arguments are what the C function asks for.
                    $phase(events::$event, $size, |payload| unsafe {
                        let _ = payload $($field)*;
                    });
                }
                if let Some(original) = original::function(Function::$name) {
                    type Original = unsafe extern "C" fn($($kind),*);
                    // SAFETY: this is the function of the same name, with the same arguments.
                    unsafe { std::mem::transmute::<*const c_void, Original>(original)($($parameter),*) };
                }
            }
        }
        tracepoint! {
            @functions $(#[$about])*
            $phase $event $name: $emit, $emit_again, $is_enabled; ($($parameter: $kind),*)
        }
    };
    (
        @functions $(#[$about:meta])*
        $phase:ident $event:ident $name:ident: $emit:ident, $emit_again:ident, $is_enabled:ident;
        ($($parameter:ident: $kind:ty),*)
    ) => {
        entry! {
            $phase
            #[doc = concat!("Whether `ros2:", stringify!($name), "` is recorded, remembered or wanted by LTTng.")]
            fn $is_enabled() -> bool; $event, $name => test
        }
        entry! { $phase $(#[$about])* fn $emit($($parameter: $kind),*); $event, $name => work }
        entry! { $phase $(#[$about])* fn $emit_again($($parameter: $kind),*); $event, $name => work }
    };
}

/// Defines a function that goes on to `work`, with the same arguments, if the event is recorded, the tracer is not initialised yet, or
/// the real libtracetools wants the call. Otherwise it returns, a test with `false`. Only rax is used, which a call may change.
macro_rules! entry {
    (
        run
        $(#[$attribute:meta])*
        fn $name:ident($($parameter:ident: $kind:ty),*) $(-> $result:ty)?;
        $event:ident, $function:ident => $work:ident
    ) => {
        $(#[$attribute])*
        ///
        /// # Safety
        /// Texts are null or end with a zero; gids and arrays are null or as long as the event says.
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
                work = sym $function::$work,
            )
        }

        #[cfg(not(target_arch = "x86_64"))]
        entry! {
            init $(#[$attribute])*
            fn $name($($parameter: $kind),*) $(-> $result)?; $event, $function => $work
        }
    };
    (
        init
        $(#[$attribute:meta])*
        fn $name:ident($($parameter:ident: $kind:ty),*) $(-> $result:ty)?;
        $event:ident, $function:ident => $work:ident
    ) => {
        $(#[$attribute])*
        ///
        /// # Safety
        /// Texts are null or end with a zero; gids and arrays are null or as long as the event says.
        #[unsafe(no_mangle)]
        #[allow(clippy::too_many_arguments, unused_unsafe)]
        pub unsafe extern "C" fn $name($($parameter: $kind),*) $(-> $result)? {
            if !gate::may_want(events::$event) && !original::wants(Function::$function) {
                return Default::default();
            }
            // SAFETY: as the caller promises.
            unsafe { $function::$work($($parameter),*) }
        }
    };
}

/// All functions of libtracetools, for the table of originals, by their names without `ros_trace_`.
macro_rules! functions {
    ($($name:ident)*) => {
        #[allow(non_camel_case_types)]
        #[derive(Debug, Clone, Copy)]
        #[repr(u16)]
        pub(crate) enum Function { $($name),* }

        pub(crate) static NAMES: [&str; [$(stringify!($name)),*].len()] = [$(stringify!($name)),*];
    };
}

pub(crate) use {entry, functions, tracepoint, tracepoints};

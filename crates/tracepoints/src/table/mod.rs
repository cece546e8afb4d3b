//! The table. One file per layer; how a block reads is explained in `declare`.
//!
//! To add a tracepoint, add its block to the file of its layer, and run `cargo xtask docs`.

mod agnocast;
mod application;
mod caret;
mod context_switch;
mod executor;
mod intra_process;
mod kernel;
mod lock;
mod lttng_ust;
mod middleware;
mod rcl;
mod rclcpp;
mod rmw;
mod rostrace;
mod stack_sample;

use crate::declare::{self, declare};
use crate::{Attribute, Family, Field, Layer, Phase, Provider, Tracepoint};

use {
    agnocast::agnocast, application::application, caret::caret, context_switch::context_switch,
    executor::executor, intra_process::intra_process, kernel::kernel, lock::lock,
    lttng_ust::lttng_ust, middleware::middleware, rcl::rcl, rclcpp::rclcpp, rmw::rmw,
    rostrace::rostrace, stack_sample::stack_sample,
};

// Begins with no block; every file adds its own, and `declare` makes one enum and one table of all.
rcl! { {} rclcpp executor intra_process rmw caret agnocast middleware application rostrace lock lttng_ust kernel context_switch stack_sample declare }

/// The providers of the table, in the order in which documents show them.
pub static PROVIDERS: &[Provider] = &[
    Provider {
        name: "ros2",
        summary: "tracetools, the instrumentation of ROS 2 itself, and the additions of CARET's forks of it.",
    },
    Provider {
        name: "ros2_caret",
        summary: "CARET's preloaded library, which repeats the events of initialisation with the time at which \
                  they happened and adds executors and callback groups; TILDE uses the same provider.",
    },
    Provider {
        name: "rostrace",
        summary: "rostrace's own tracer: the end of entities, and what applications say through `rostrace.h`.",
    },
    Provider {
        name: "rostrace_sched",
        summary: "rostrace's recorder, from the kernel: context switches, system calls and page faults of the threads that are recorded.",
    },
    Provider {
        name: "rostrace_sample",
        summary: "rostrace's recorder, from the kernel: call stacks of recorded processes, with `record --sample`.",
    },
    Provider {
        name: "agnocast",
        summary: "Agnocast, a zero-copy middleware beside DDS.",
    },
    Provider {
        name: "r2r",
        summary: "r2r, a client library for Rust.",
    },
    Provider {
        name: "dds",
        summary: "Patched versions of Fast DDS and Cyclone DDS, from Foxy to Humble.",
    },
    Provider {
        name: "lttng_ust_libc",
        summary: "Memory allocation; needs `liblttng-ust-libc-wrapper.so` preloaded.",
    },
    Provider {
        name: "lttng_ust_pthread",
        summary: "Mutexes; needs `liblttng-ust-pthread-wrapper.so` preloaded.",
    },
    Provider {
        name: "lttng_ust_cyg_profile",
        summary: "Calls of functions built with `-finstrument-functions`; needs `liblttng-ust-cyg-profile.so` preloaded.",
    },
    Provider {
        name: "lttng_ust_cyg_profile_fast",
        summary: "The same with less data; needs `liblttng-ust-cyg-profile-fast.so` preloaded.",
    },
    Provider {
        name: "lttng_ust_dl",
        summary: "Calls of the dynamic linker; needs `liblttng-ust-dl.so` preloaded.",
    },
    Provider {
        name: "lttng_ust_lib",
        summary: "Shared libraries that come and go; needs `liblttng-ust-dl.so` preloaded.",
    },
    Provider {
        name: "lttng_ust_statedump",
        summary: "What is loaded in a process when a session starts; built into LTTng-UST.",
    },
    Provider {
        name: "lttng_ust_tracef",
        summary: "Text that an application writes with `tracef()`.",
    },
    Provider {
        name: "lttng_ust_tracelog",
        summary: "Text that an application writes with `tracelog()`, one event per log level.",
    },
    Provider {
        name: "",
        summary: "The Linux kernel, as recorded by LTTng: scheduling, interrupts, timers, memory, system calls.",
    },
];

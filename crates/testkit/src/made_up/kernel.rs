//! What Linux says when it gives CPUs to threads and libc when it gives memory to programs: more words of the test recordings.

use super::recording::{Payload, Recording};

/// `prev_state` of a thread that was preempted, sleeps, or waits for a disk.
pub const PREEMPTED: i64 = 0;
pub const ASLEEP: i64 = 1;
pub const IN_DISK_WAIT: i64 = 2;

/// The name that threads have here.
pub fn comm(tid: i64) -> String {
    match tid {
        0 => "swapper".to_owned(),
        _ => format!("thread{tid}"),
    }
}

impl Recording {
    /// The current CPU goes from one thread to another.
    pub fn switch(&mut self, prev: i64, prev_state: i64, next: i64) -> &mut Recording {
        self.kernel_event(
            "sched_switch",
            &[
                ("prev_comm", Payload::Text(comm(prev))),
                ("prev_tid", Payload::Signed(prev)),
                ("prev_prio", Payload::Signed(20)),
                ("prev_state", Payload::Signed(prev_state)),
                ("next_comm", Payload::Text(comm(next))),
                ("next_tid", Payload::Signed(next)),
                ("next_prio", Payload::Signed(20)),
            ],
        )
    }

    /// A thread can run, on this CPU.
    pub fn wakeup(&mut self, tid: i64, target: i64) -> &mut Recording {
        self.wake("sched_wakeup", tid, target)
    }

    pub fn waking(&mut self, tid: i64, target: i64) -> &mut Recording {
        self.wake("sched_waking", tid, target)
    }

    pub fn wakeup_new(&mut self, tid: i64, target: i64) -> &mut Recording {
        self.wake("sched_wakeup_new", tid, target)
    }

    fn wake(&mut self, name: &str, tid: i64, target: i64) -> &mut Recording {
        self.kernel_event(
            name,
            &[
                ("comm", Payload::Text(comm(tid))),
                ("tid", Payload::Signed(tid)),
                ("prio", Payload::Signed(20)),
                ("target_cpu", Payload::Signed(target)),
            ],
        )
    }

    pub fn migrate(&mut self, tid: i64, from: i64, to: i64) -> &mut Recording {
        self.kernel_event(
            "sched_migrate_task",
            &[
                ("comm", Payload::Text(comm(tid))),
                ("tid", Payload::Signed(tid)),
                ("prio", Payload::Signed(20)),
                ("orig_cpu", Payload::Signed(from)),
                ("dest_cpu", Payload::Signed(to)),
            ],
        )
    }

    pub fn exit(&mut self, tid: i64) -> &mut Recording {
        self.kernel_event(
            "sched_process_exit",
            &[
                ("comm", Payload::Text(comm(tid))),
                ("tid", Payload::Signed(tid)),
                ("prio", Payload::Signed(20)),
            ],
        )
    }

    /// LTTng lists a thread of a container: its number, and those that it has inside.
    pub fn in_container(&mut self, tid: i64, vpid: i64, vtid: i64) -> &mut Recording {
        self.kernel_event(
            "lttng_statedump_process_pid_ns",
            &[
                ("tid", Payload::Signed(tid)),
                ("vtid", Payload::Signed(vtid)),
                ("vpid", Payload::Signed(vpid)),
                ("vppid", Payload::Signed(0)),
                ("ns_level", Payload::Signed(1)),
                ("ns_inum", Payload::Unsigned(4_026_531_836)),
            ],
        )
    }

    pub fn malloc(&mut self, size: u64, pointer: u64) -> &mut Recording {
        self.event(
            "lttng_ust_libc:malloc",
            &[
                ("size", Payload::Unsigned(size)),
                ("ptr", Payload::Pointer(pointer)),
            ],
        )
    }

    pub fn calloc(&mut self, count: u64, size: u64, pointer: u64) -> &mut Recording {
        self.event(
            "lttng_ust_libc:calloc",
            &[
                ("nmemb", Payload::Unsigned(count)),
                ("size", Payload::Unsigned(size)),
                ("ptr", Payload::Pointer(pointer)),
            ],
        )
    }

    pub fn realloc(&mut self, before: u64, size: u64, pointer: u64) -> &mut Recording {
        self.event(
            "lttng_ust_libc:realloc",
            &[
                ("in_ptr", Payload::Pointer(before)),
                ("size", Payload::Unsigned(size)),
                ("ptr", Payload::Pointer(pointer)),
            ],
        )
    }

    pub fn posix_memalign(&mut self, size: u64, pointer: u64, result: i64) -> &mut Recording {
        self.event(
            "lttng_ust_libc:posix_memalign",
            &[
                ("out_ptr", Payload::Pointer(pointer)),
                ("alignment", Payload::Unsigned(64)),
                ("size", Payload::Unsigned(size)),
                ("result", Payload::Signed(result)),
            ],
        )
    }

    pub fn free(&mut self, pointer: u64) -> &mut Recording {
        self.event("lttng_ust_libc:free", &[("ptr", Payload::Pointer(pointer))])
    }
}

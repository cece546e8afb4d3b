//! What Linux says when it gives CPUs to threads and libc when it gives memory to programs: more words of the test recordings.

use super::recording::{Payload::*, Recording};

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

words! {
    /// The current CPU goes from one thread to another.
    pub fn switch(prev: i64, prev_state: i64, next: i64) = kernel_event "sched_switch" {
        prev_comm: Text(comm(prev)), prev_tid: Signed(prev), prev_prio: Signed(20), prev_state: Signed(prev_state),
        next_comm: Text(comm(next)), next_tid: Signed(next), next_prio: Signed(20)
    };
    /// A thread can run, on this CPU.
    pub fn wakeup(tid: i64, target: i64) = kernel_event "sched_wakeup" {
        comm: Text(comm(tid)), tid: Signed(tid), prio: Signed(20), target_cpu: Signed(target)
    };
    pub fn waking(tid: i64, target: i64) = kernel_event "sched_waking" {
        comm: Text(comm(tid)), tid: Signed(tid), prio: Signed(20), target_cpu: Signed(target)
    };
    /// As rostrace's recorder hears it: whether an interrupt wakes the thread, or who has the current CPU.
    pub fn waking_by(tid: i64, target: i64, in_interrupt: bool) = kernel_event "sched_waking" {
        comm: Text(comm(tid)), tid: Signed(tid), prio: Signed(20), target_cpu: Signed(target),
        in_interrupt: Signed(in_interrupt.into())
    };
    pub fn wakeup_new(tid: i64, target: i64) = kernel_event "sched_wakeup_new" {
        comm: Text(comm(tid)), tid: Signed(tid), prio: Signed(20), target_cpu: Signed(target)
    };
    pub fn migrate(tid: i64, from: i64, to: i64) = kernel_event "sched_migrate_task" {
        comm: Text(comm(tid)), tid: Signed(tid), prio: Signed(20), orig_cpu: Signed(from), dest_cpu: Signed(to)
    };
    pub fn exit(tid: i64) = kernel_event "sched_process_exit" {
        comm: Text(comm(tid)), tid: Signed(tid), prio: Signed(20)
    };
    /// LTTng lists a thread of a container: its number, and those that it has inside.
    pub fn in_container(tid: i64, vpid: i64, vtid: i64) = kernel_event "lttng_statedump_process_pid_ns" {
        tid: Signed(tid), vtid: Signed(vtid), vpid: Signed(vpid), vppid: Signed(0), ns_level: Signed(1),
        ns_inum: Unsigned(4_026_531_836)
    };
    /// As rostrace's recorder hears it: a recorded thread gets the current CPU.
    pub fn switch_in(tid: i64) = kernel_event "rostrace_sched:switch_in" { tid: Signed(tid) };
    /// A recorded thread leaves the current CPU.
    pub fn switch_out(tid: i64, preempted: bool) = kernel_event "rostrace_sched:switch_out" {
        tid: Signed(tid), preempted: Signed(preempted.into())
    };
    /// A recorded thread is called so.
    pub fn thread_name(tid: i64, pid: i64, name: &str) = kernel_event "rostrace_sched:thread_name" {
        tid: Signed(tid), pid: Signed(pid), name: Text(name.to_owned())
    };
    pub fn thread_exit(tid: i64, pid: i64) = kernel_event "rostrace_sched:thread_exit" {
        tid: Signed(tid), pid: Signed(pid)
    };
    /// Samples are taken so often.
    pub fn sample_source(period: i64) = kernel_event "rostrace_sample:source" {
        period: Signed(period), event: Text("cpu-clock".to_owned()), stack_bytes: Unsigned(16_384)
    };
    /// A process has code of this file from this address on, 4 KiB of it.
    pub fn code_mapping(pid: i64, begin: u64, path: &str) = kernel_event "rostrace_sample:mapping" {
        pid: Signed(pid), begin: Pointer(begin), end: Pointer(begin + 4_096), offset: Unsigned(8_192),
        linked_at: Pointer(8_192), path: Text(path.to_owned()), build_id: Text("0123".to_owned())
    };
    /// A thread was here, the innermost address first.
    pub fn stack_sample(tid: i64, pid: i64, frames: &[u64]) = kernel_event "rostrace_sample:sample" {
        tid: Signed(tid), pid: Signed(pid), complete: Signed(1), frames: Pointers(frames.to_vec())
    };
    pub fn malloc(size: u64, pointer: u64) = event "lttng_ust_libc:malloc" {
        size: Unsigned(size), ptr: Pointer(pointer)
    };
    pub fn calloc(count: u64, size: u64, pointer: u64) = event "lttng_ust_libc:calloc" {
        nmemb: Unsigned(count), size: Unsigned(size), ptr: Pointer(pointer)
    };
    pub fn realloc(before: u64, size: u64, pointer: u64) = event "lttng_ust_libc:realloc" {
        in_ptr: Pointer(before), size: Unsigned(size), ptr: Pointer(pointer)
    };
    pub fn posix_memalign(size: u64, pointer: u64, result: i64) = event "lttng_ust_libc:posix_memalign" {
        out_ptr: Pointer(pointer), alignment: Unsigned(64), size: Unsigned(size), result: Signed(result)
    };
    pub fn free(pointer: u64) = event "lttng_ust_libc:free" { ptr: Pointer(pointer) };
}

//! The Linux kernel, as LTTng's modules record it: what tells why a thread did not run. Priorities are LTTng's:
//! the kernel's own minus 100, so that real-time threads are below zero.

macro_rules! kernel {
    ({ $($before:tt)* } $next:ident $($later:ident)*) => { $next! { { $($before)*

/// A CPU goes from one thread to another.
SchedSwitch = sched_switch: Run, Kernel, Scheduling {
    "sched_switch" since "LTTng 2.0";

    PREV_COMM: Text = "Name of the thread that stops.";
    PREV_TID: Signed = "The thread that stops.";
    PREV_PRIO: Signed = "Its priority.";
    PREV_STATE: Signed = "The low eight bits are 0 when it could go on and was preempted, otherwise what it waits in.";
    NEXT_COMM: Text = "Name of the thread that goes on.";
    NEXT_TID: Signed = "The thread that goes on; 0 when the CPU is idle.";
    NEXT_PRIO: Signed = "Its priority.";
}

/// A thread is about to be woken, by whom the event happens to.
SchedWaking = sched_waking: Run, Kernel, Scheduling {
    "sched_waking" since "LTTng 2.6 on Linux 4.3";

    COMM: Text = "Name of the thread.";
    TID: Signed = "The thread that is woken.";
    PRIO: Signed = "Its priority.";
    TARGET_CPU: Signed = "The CPU that it is on.";
    IN_INTERRUPT: Flag only Versions("rostrace 0.1 and later") = "1 when an interrupt wakes it, and not the thread that has the CPU.";
}

/// A thread can run.
SchedWakeup = sched_wakeup: Run, Kernel, Scheduling {
    "sched_wakeup" since "LTTng 2.0";

    COMM: Text = "Name of the thread.";
    TID: Signed = "The thread that can run.";
    PRIO: Signed = "Its priority.";
    SUCCESS: Signed only Versions("before Linux 4.3") = "Whether it was asleep.";
    TARGET_CPU: Signed = "The CPU that it will run on.";
}

/// A new thread can run for the first time.
SchedWakeupNew = sched_wakeup_new: Run, Kernel, Scheduling {
    "sched_wakeup_new" since "LTTng 2.0";

    COMM: Text = "Name of the thread.";
    TID: Signed = "The thread that can run.";
    PRIO: Signed = "Its priority.";
    SUCCESS: Signed only Versions("before Linux 4.3") = "Whether it was asleep.";
    TARGET_CPU: Signed = "The CPU that it will run on.";
}

/// A thread moves to another CPU.
SchedMigrateTask = sched_migrate_task: Run, Kernel, Scheduling {
    "sched_migrate_task" since "LTTng 2.0";

    COMM: Text = "Name of the thread.";
    TID: Signed = "The thread.";
    PRIO: Signed = "Its priority.";
    ORIG_CPU: Signed = "The CPU that it leaves.";
    DEST_CPU: Signed = "The CPU that it goes to.";
}

/// A thread lends its priority to another that holds what it waits for, or takes it back.
SchedPiSetprio = sched_pi_setprio: Run, Kernel, Scheduling {
    "sched_pi_setprio" since "LTTng 2.0";

    COMM: Text = "Name of the thread.";
    TID: Signed = "The thread whose priority changes.";
    OLDPRIO: Signed = "Priority before.";
    NEWPRIO: Signed = "Priority now.";
}

/// A thread or process was created.
SchedProcessFork = sched_process_fork: Run, Kernel {
    "sched_process_fork" since "LTTng 2.0";

    PARENT_COMM: Text = "Name of the creator.";
    PARENT_TID: Signed = "Thread that created it.";
    PARENT_PID: Signed = "Process of that thread.";
    PARENT_NS_INUM: Unsigned only Versions("LTTng 2.8 and later") = "The creator's namespace of process ids.";
    CHILD_COMM: Text = "Name of the new thread.";
    CHILD_TID: Signed = "The new thread.";
    VTIDS: Numbers only Versions("LTTng 2.8 and later") = "Its ids in the namespaces, the outermost first.";
    CHILD_PID: Signed = "Its process; equal to `child_tid` when the process is new.";
    CHILD_NS_INUM: Unsigned only Versions("LTTng 2.8 and later") = "Its namespace of process ids.";
}

/// A process now runs another program.
SchedProcessExec = sched_process_exec: Run, Kernel {
    "sched_process_exec" since "LTTng 2.1 on Linux 3.4";

    FILENAME: Text = "The program.";
    TID: Signed = "The thread, from now on the only one.";
    OLD_TID: Signed = "Its id before.";
}

/// A thread ends.
SchedProcessExit = sched_process_exit: Run, Kernel {
    "sched_process_exit" since "LTTng 2.0";

    COMM: Text = "Name of the thread.";
    TID: Signed = "The thread.";
    PRIO: Signed = "Its priority.";
    GROUP_DEAD: Flag only Versions("Linux 6.16 and later") = "1 when it was the last of its process.";
}

/// The kernel forgets a thread; its id may be used again.
SchedProcessFree = sched_process_free: Run, Kernel {
    "sched_process_free" since "LTTng 2.0";

    COMM: Text = "Name of the thread.";
    TID: Signed = "The thread.";
    PRIO: Signed = "Its priority.";
}

/// A CPU begins to handle an interrupt.
IrqHandlerEntry = irq_handler_entry: Run, Kernel {
    "irq_handler_entry" since "LTTng 2.0";

    IRQ: Signed = "Number of the interrupt.";
    NAME: Text = "Name of the handler.";
}

/// A CPU has handled an interrupt.
IrqHandlerExit = irq_handler_exit: Run, Kernel {
    "irq_handler_exit" since "LTTng 2.0";

    IRQ: Signed = "Number of the interrupt.";
    RET: Signed = "1 when the interrupt was the handler's, 0 when not.";
}

/// A CPU begins deferred work of an interrupt.
IrqSoftirqEntry = irq_softirq_entry: Run, Kernel {
    "irq_softirq_entry" since "LTTng 2.7";

    VEC: Unsigned = "Kind of the work.";
    NAME: Unsigned only Versions("LTTng 2.15 and later") = "The same, as an enumeration with names.";
}

/// A CPU has done deferred work of an interrupt.
IrqSoftirqExit = irq_softirq_exit: Run, Kernel {
    "irq_softirq_exit" since "LTTng 2.7";

    VEC: Unsigned = "Kind of the work.";
    NAME: Unsigned only Versions("LTTng 2.15 and later") = "The same, as an enumeration with names.";
}

/// Deferred work of an interrupt was asked for.
IrqSoftirqRaise = irq_softirq_raise: Run, Kernel {
    "irq_softirq_raise" since "LTTng 2.7";

    VEC: Unsigned = "Kind of the work.";
    NAME: Unsigned only Versions("LTTng 2.15 and later") = "The same, as an enumeration with names.";
}

/// A high-resolution timer was armed.
TimerHrtimerStart = timer_hrtimer_start: Run, Kernel {
    "timer_hrtimer_start" since "LTTng 2.7";

    HRTIMER: Pointer = "The timer.";
    FUNCTION: Pointer = "What it will call.";
    EXPIRES: Signed = "When it must have expired, in ns.";
    SOFTEXPIRES: Signed = "When it may expire, in ns.";
    MODE: Unsigned only Versions("Linux 4.16 and later") = "Absolute or relative, and where it runs.";
    WAS_ARMED: Flag only Versions("Linux 7.1 and later") = "1 when it was armed already.";
}

/// A high-resolution timer was disarmed.
TimerHrtimerCancel = timer_hrtimer_cancel: Run, Kernel {
    "timer_hrtimer_cancel" since "LTTng 2.7";

    HRTIMER: Pointer = "The timer.";
}

/// A high-resolution timer has expired and its function begins.
TimerHrtimerExpireEntry = timer_hrtimer_expire_entry: Run, Kernel {
    "timer_hrtimer_expire_entry" since "LTTng 2.7";

    HRTIMER: Pointer = "The timer.";
    NOW: Signed = "Time of its clock, in ns.";
    FUNCTION: Pointer = "What it calls.";
}

/// The function of a high-resolution timer has returned.
TimerHrtimerExpireExit = timer_hrtimer_expire_exit: Run, Kernel {
    "timer_hrtimer_expire_exit" since "LTTng 2.7";

    HRTIMER: Pointer = "The timer.";
}

/// Pages of memory were allocated.
KmemMmPageAlloc = kmem_mm_page_alloc: Run, Kernel {
    "kmem_mm_page_alloc" since "LTTng 2.7";

    PAGE: Pointer = "Description of the first page; 0 when there was no memory.";
    PFN: Unsigned only Versions("LTTng 2.8 and later") = "Number of the first page.";
    ORDER: Unsigned = "2 to this power is the number of pages.";
    GFP_FLAGS: Unsigned = "How to allocate.";
    MIGRATETYPE: Signed = "Whether the pages can be moved.";
}

/// Pages of memory were freed.
KmemMmPageFree = kmem_mm_page_free: Run, Kernel {
    "kmem_mm_page_free" since "LTTng 2.7";

    PAGE: Pointer = "Description of the first page.";
    PFN: Unsigned only Versions("LTTng 2.8 and later") = "Number of the first page.";
    ORDER: Unsigned = "2 to this power is the number of pages.";
}

/// The frequency of a CPU changes.
PowerCpuFrequency = power_cpu_frequency: Run, Kernel {
    "power_cpu_frequency" since "LTTng 2.2";

    STATE: Unsigned = "The frequency in kHz.";
    CPU_ID: Unsigned = "The CPU.";
}

/// A CPU becomes idle, or leaves idleness.
PowerCpuIdle = power_cpu_idle: Run, Kernel {
    "power_cpu_idle" since "LTTng 2.2";

    STATE: Unsigned = "How deep it sleeps; 4294967295 when it wakes.";
    CPU_ID: Unsigned = "The CPU.";
}

/// The list of what exists in the system begins.
LttngStatedumpStart = lttng_statedump_start: Run, Kernel {
    "lttng_statedump_start" since "LTTng 2.0";
}

/// The list of what exists in the system is complete.
LttngStatedumpEnd = lttng_statedump_end: Run, Kernel {
    "lttng_statedump_end" since "LTTng 2.0";
}

/// A thread exists.
LttngStatedumpProcessState = lttng_statedump_process_state: Init, Kernel {
    "lttng_statedump_process_state" since "LTTng 2.0";

    TID: Signed = "The thread.";
    VTID: Signed only Versions("before LTTng 2.12") = "Its id in its namespace.";
    PID: Signed = "Its process.";
    VPID: Signed only Versions("before LTTng 2.12") = "Its process's id in its namespace.";
    PPID: Signed = "The process's parent.";
    VPPID: Signed only Versions("before LTTng 2.12") = "The parent's id in its namespace.";
    NAME: Text = "Its name.";
    TYPE: Signed = "0: thread of a user, 1: of the kernel.";
    MODE: Signed = "What it executes: user code, system call, interrupt …";
    SUBMODE: Signed = "More of the same.";
    STATUS: Signed = "Whether it runs, and what it waits for.";
    NS_LEVEL: Signed only Versions("before LTTng 2.12") = "Depth of its namespace.";
    NS_INUM: Unsigned only Versions("LTTng 2.8 to 2.11") = "Its namespace of process ids.";
    CPU: Unsigned only Versions("LTTng 2.10 and later") = "The CPU that it is on.";
    FILE_TABLE_ADDRESS: Pointer only Versions("LTTng 2.12 and later") = "Its table of open files.";
}

/// A thread exists in this namespace of process ids.
LttngStatedumpProcessPidNs = lttng_statedump_process_pid_ns: Init, Kernel {
    "lttng_statedump_process_pid_ns" since "LTTng 2.12";

    TID: Signed = "The thread.";
    VTID: Signed = "Its id in this namespace.";
    VPID: Signed = "Its process's id in this namespace.";
    VPPID: Signed = "The parent's id in this namespace.";
    NS_LEVEL: Signed = "Depth of the namespace.";
    NS_INUM: Unsigned = "The namespace.";
}

/// An interrupt has a handler.
LttngStatedumpInterrupt = lttng_statedump_interrupt: Init, Kernel {
    "lttng_statedump_interrupt" since "LTTng 2.0";

    IRQ: Unsigned = "Number of the interrupt.";
    NAME: Text = "The interrupt controller.";
    ACTION: Text = "Name of the handler.";
    TID: Signed only Versions("LTTng 2.12 and later") = "The thread that handles it, 0 without one.";
}

/// A thread enters the kernel; the end of the event's name and its other fields are the call and its arguments.
SyscallEntry = syscall_entry: Run, Kernel {
    "syscall_entry_*" since "LTTng 2.6";
    "compat_syscall_entry_*" since "LTTng 2.6";
    "rostrace_sched:syscall_entry" since "rostrace 0.1";

    TID: Signed only Provider("rostrace_sched") = "The thread.";
    NAME: Text only Provider("rostrace_sched") = "The system call.";
}

/// A thread leaves the kernel.
SyscallExit = syscall_exit: Run, Kernel {
    "syscall_exit_*" since "LTTng 2.6";
    "compat_syscall_exit_*" since "LTTng 2.6";
    "rostrace_sched:syscall_exit" since "rostrace 0.1";

    RET: Signed = "What the call returns; an error number below zero when it failed.";
    TID: Signed only Provider("rostrace_sched") = "The thread.";
}

/// A thread touches memory that it does not have yet; the kernel gets it.
PageFault = page_fault: Run, Kernel {
    "x86_exceptions_page_fault_user" since "LTTng 2.10";
    "x86_exceptions_page_fault_kernel" since "LTTng 2.10";
    "rostrace_sched:page_fault" since "rostrace 0.1";

    ADDRESS: Pointer = "What it touches.";
    TID: Signed only Provider("rostrace_sched") = "The thread.";
}

/// The kernel has got the memory that a thread touched, which goes on.
PageFaultDone = page_fault_done: Run, Kernel {
    "rostrace_sched:page_fault_done" since "rostrace 0.1";

    ADDRESS: Pointer = "What it touched.";
    TID: Signed = "The thread.";
}

    } $($later)* } };
}

pub(super) use kernel;

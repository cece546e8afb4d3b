//! What rostrace's recorder hears from the kernel through `perf_event_open`, without root: when the threads of recorded processes get a
//! CPU and lose it.

macro_rules! context_switch {
    ({ $($before:tt)* } $next:ident $($later:ident)*) => { $next! { { $($before)*

/// A thread of a recorded process gets the CPU of the stream.
ContextSwitchIn = context_switch_in: Run, Kernel, Scheduling {
    "rostrace_sched:switch_in" since "rostrace 0.1";

    TID: Signed = "The thread.";
}

/// A thread of a recorded process leaves the CPU of the stream.
ContextSwitchOut = context_switch_out: Run, Kernel, Scheduling {
    "rostrace_sched:switch_out" since "rostrace 0.1";

    TID: Signed = "The thread.";
    PREEMPTED: Flag = "1 when it could have gone on, 0 when it sleeps.";
}

/// A thread of a recorded process has this name from now on: it was found, was created, or changed its name.
ThreadName = thread_name: Init, Kernel {
    "rostrace_sched:thread_name" since "rostrace 0.1";

    TID: Signed = "The thread.";
    PID: Signed = "Its process.";
    NAME: Text = "Its name.";
}

/// A thread of a recorded process ends.
ThreadExit = thread_exit: Run, Kernel {
    "rostrace_sched:thread_exit" since "rostrace 0.1";

    TID: Signed = "The thread.";
    PID: Signed = "Its process.";
}

    } $($later)* } };
}

pub(super) use context_switch;

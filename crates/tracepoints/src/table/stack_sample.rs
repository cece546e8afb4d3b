//! What `rostrace record --sample` hears from the kernel through `perf_event_open`: call stacks of recorded processes while they compute, and
//! which files their addresses belong to.

macro_rules! stack_sample {
    ({ $($before:tt)* } $next:ident $($later:ident)*) => { $next! { { $($before)*

/// Samples are taken like this from now on.
SampleSource = sample_source: Init, Kernel {
    "rostrace_sample:source" since "rostrace 0.1";

    PERIOD: Signed = "Nanoseconds on a CPU between two samples of a thread.";
    EVENT: Text = "What counts them: `cpu-clock`.";
    STACK_BYTES: Unsigned = "How much of a stack was looked at to find its callers.";
}

/// A recorded process has code of this file at these addresses.
CodeMapping = code_mapping: Init, Kernel {
    "rostrace_sample:mapping" since "rostrace 0.1";

    PID: Signed = "The process.";
    BEGIN: Pointer = "The first address.";
    END: Pointer = "The first address behind it.";
    OFFSET: Unsigned = "Where in the file the first address is.";
    LINKED_AT: Pointer = "What the linker called the first address; 0 if the file could not be read.";
    PATH: Text = "The file, as the process sees it; `[vdso]` for what the kernel itself puts there.";
    BUILD_ID: Text = "The build id of the file, as hexadecimal digits; empty if it has none or could not be read.";
}

/// A thread of a recorded process computed on the CPU of the stream, here.
StackSample = stack_sample: Run, Kernel {
    "rostrace_sample:sample" since "rostrace 0.1";

    TID: Signed = "The thread.";
    PID: Signed = "Its process.";
    COMPLETE: Flag = "1 when the call stack reaches the first function of the thread, 0 when the rest is not known.";
    FRAMES: Pointers = "The address that it was at, then where each function returns to, the innermost first.";
}

    } $($later)* } };
}

pub(super) use stack_sample;

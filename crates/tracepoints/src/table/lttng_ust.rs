//! The helpers of LTTng-UST: memory, mutexes, function calls, loaded libraries.

macro_rules! lttng_ust {
    ({ $($before:tt)* } $next:ident $($later:ident)*) => { $next! { { $($before)*

/// `malloc` has returned.
LibcMalloc = libc_malloc: Run, LttngUst, Memory {
    "lttng_ust_libc:malloc" since "LTTng 2.7";

    SIZE: Unsigned = "Bytes that were asked for.";
    PTR: Pointer = "The memory.";
}

/// `free` was called.
LibcFree = libc_free: Run, LttngUst, Memory {
    "lttng_ust_libc:free" since "LTTng 2.7";

    PTR: Pointer = "The memory.";
}

/// `calloc` has returned.
LibcCalloc = libc_calloc: Run, LttngUst, Memory {
    "lttng_ust_libc:calloc" since "LTTng 2.7";

    NMEMB: Unsigned = "Number of elements.";
    SIZE: Unsigned = "Bytes per element.";
    PTR: Pointer = "The memory.";
}

/// `realloc` has returned.
LibcRealloc = libc_realloc: Run, LttngUst, Memory {
    "lttng_ust_libc:realloc" since "LTTng 2.7";

    IN_PTR: Pointer = "The memory before.";
    SIZE: Unsigned = "Bytes that were asked for.";
    PTR: Pointer = "The memory now.";
}

/// `memalign` has returned.
LibcMemalign = libc_memalign: Run, LttngUst, Memory {
    "lttng_ust_libc:memalign" since "LTTng 2.7";

    ALIGNMENT: Unsigned = "Alignment in bytes.";
    SIZE: Unsigned = "Bytes that were asked for.";
    PTR: Pointer = "The memory.";
}

/// `posix_memalign` has returned.
LibcPosixMemalign = libc_posix_memalign: Run, LttngUst, Memory {
    "lttng_ust_libc:posix_memalign" since "LTTng 2.7";

    OUT_PTR: Pointer = "The memory.";
    ALIGNMENT: Unsigned = "Alignment in bytes.";
    SIZE: Unsigned = "Bytes that were asked for.";
    RESULT: Signed = "0, or an error number.";
}

/// A thread is about to lock a mutex.
PthreadMutexLockReq = pthread_mutex_lock_req: Run, LttngUst, Locks {
    "lttng_ust_pthread:pthread_mutex_lock_req" since "LTTng 2.7";

    MUTEX: Pointer = "The mutex.";
}

/// A thread has locked a mutex, or failed to.
PthreadMutexLockAcq = pthread_mutex_lock_acq: Run, LttngUst, Locks {
    "lttng_ust_pthread:pthread_mutex_lock_acq" since "LTTng 2.7";

    MUTEX: Pointer = "The mutex.";
    STATUS: Signed = "0, or an error number.";
}

/// A thread has tried to lock a mutex without waiting.
PthreadMutexTrylock = pthread_mutex_trylock: Run, LttngUst, Locks {
    "lttng_ust_pthread:pthread_mutex_trylock" since "LTTng 2.7";

    MUTEX: Pointer = "The mutex.";
    STATUS: Signed = "0, or an error number.";
}

/// A thread has unlocked a mutex.
PthreadMutexUnlock = pthread_mutex_unlock: Run, LttngUst, Locks {
    "lttng_ust_pthread:pthread_mutex_unlock" since "LTTng 2.7";

    MUTEX: Pointer = "The mutex.";
    STATUS: Signed = "0, or an error number.";
}

/// A function begins.
FuncEntry = func_entry: Run, LttngUst {
    "lttng_ust_cyg_profile:func_entry" since "LTTng 2.2";
    "lttng_ust_cyg_profile_fast:func_entry" since "LTTng 2.2";

    ADDR: Pointer = "The function.";
    CALL_SITE: Pointer only Provider("lttng_ust_cyg_profile") = "Where it was called.";
}

/// A function returns.
FuncExit = func_exit: Run, LttngUst {
    "lttng_ust_cyg_profile:func_exit" since "LTTng 2.2";
    "lttng_ust_cyg_profile_fast:func_exit" since "LTTng 2.2";

    ADDR: Pointer only Provider("lttng_ust_cyg_profile") = "The function.";
    CALL_SITE: Pointer only Provider("lttng_ust_cyg_profile") = "Where it was called.";
}

/// The list of what is loaded in a process begins.
UstStatedumpStart = ust_statedump_start: Run, LttngUst {
    "lttng_ust_statedump:start" since "LTTng 2.7";
}

/// The list of what is loaded in a process is complete.
UstStatedumpEnd = ust_statedump_end: Run, LttngUst {
    "lttng_ust_statedump:end" since "LTTng 2.7";
}

/// A program or library is loaded at this address.
UstBinInfo = ust_bin_info: Init, LttngUst {
    "lttng_ust_statedump:bin_info" since "LTTng 2.8";

    BADDR: Pointer = "Where it is loaded.";
    MEMSZ: Unsigned = "Its size in memory.";
    PATH: Text = "Its file.";
    IS_PIC: Flag = "1 when its code is independent of its position.";
    HAS_BUILD_ID: Flag = "1 when an event with its build id follows.";
    HAS_DEBUG_LINK: Flag = "1 when an event with its debug link follows.";
}

/// The build id of what is loaded at this address.
UstBuildId = ust_build_id: Init, LttngUst {
    "lttng_ust_statedump:build_id" since "LTTng 2.8";
    "lttng_ust_dl:build_id" since "LTTng 2.8";
    "lttng_ust_lib:build_id" since "LTTng 2.9";

    BADDR: Pointer = "Where it is loaded.";
    BUILD_ID: Bytes = "The build id.";
}

/// The debug link of what is loaded at this address.
UstDebugLink = ust_debug_link: Init, LttngUst {
    "lttng_ust_statedump:debug_link" since "LTTng 2.8";
    "lttng_ust_dl:debug_link" since "LTTng 2.8";
    "lttng_ust_lib:debug_link" since "LTTng 2.9";

    BADDR: Pointer = "Where it is loaded.";
    CRC: Unsigned = "Checksum of the file with the debug information.";
    FILENAME: Text = "Name of that file.";
}

/// The name of the process.
UstProcname = ust_procname: Init, LttngUst {
    "lttng_ust_statedump:procname" since "LTTng 2.12";

    PROCNAME: Text = "The name, at most 16 characters.";
}

/// A library was opened with `dlopen`.
UstDlopen = ust_dlopen: Init, LttngUst {
    "lttng_ust_dl:dlopen" since "LTTng 2.7";

    BADDR: Pointer = "Where it is loaded.";
    MEMSZ: Unsigned = "Its size in memory.";
    FLAGS: Signed = "Flags of the call.";
    PATH: Text = "Its file.";
    HAS_BUILD_ID: Flag = "1 when an event with its build id follows.";
    HAS_DEBUG_LINK: Flag = "1 when an event with its debug link follows.";
}

/// A library was opened with `dlmopen`, in a namespace of its own.
UstDlmopen = ust_dlmopen: Init, LttngUst {
    "lttng_ust_dl:dlmopen" since "LTTng 2.9";

    BADDR: Pointer = "Where it is loaded.";
    MEMSZ: Unsigned = "Its size in memory.";
    NSID: Signed = "The namespace.";
    FLAGS: Signed = "Flags of the call.";
    PATH: Text = "Its file.";
    HAS_BUILD_ID: Flag = "1 when an event with its build id follows.";
    HAS_DEBUG_LINK: Flag = "1 when an event with its debug link follows.";
}

/// A library was closed with `dlclose`.
UstDlclose = ust_dlclose: Run, LttngUst {
    "lttng_ust_dl:dlclose" since "LTTng 2.7";

    BADDR: Pointer = "Where it was loaded.";
}

/// A library is now in memory, whatever brought it there.
UstLibLoad = ust_lib_load: Init, LttngUst {
    "lttng_ust_lib:load" since "LTTng 2.9";

    BADDR: Pointer = "Where it is loaded.";
    MEMSZ: Unsigned = "Its size in memory.";
    PATH: Text = "Its file.";
    HAS_BUILD_ID: Flag = "1 when an event with its build id follows.";
    HAS_DEBUG_LINK: Flag = "1 when an event with its debug link follows.";
}

/// A library is no longer in memory.
UstLibUnload = ust_lib_unload: Run, LttngUst {
    "lttng_ust_lib:unload" since "LTTng 2.9";

    BADDR: Pointer = "Where it was loaded.";
}

    } $($later)* } };
}

pub(super) use lttng_ust;

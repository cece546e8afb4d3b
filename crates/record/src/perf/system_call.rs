//! The names of system calls, by the numbers that they have on this architecture.
//!
//! Those that programs usually spend time in; another one is known by its number.

use std::borrow::Cow;

macro_rules! calls {
    ($($name:ident = $number:ident),* $(,)?) => {
        &[$((libc::$number, stringify!($name))),*]
    };
}

const CALLS: &[(libc::c_long, &str)] = calls! {
    accept = SYS_accept, accept4 = SYS_accept4, bind = SYS_bind, brk = SYS_brk,
    clock_getres = SYS_clock_getres, clock_gettime = SYS_clock_gettime, clock_nanosleep = SYS_clock_nanosleep, clone = SYS_clone, clone3 = SYS_clone3, close = SYS_close,
    connect = SYS_connect, copy_file_range = SYS_copy_file_range, dup = SYS_dup, dup3 = SYS_dup3,
    epoll_create1 = SYS_epoll_create1, epoll_ctl = SYS_epoll_ctl, epoll_pwait = SYS_epoll_pwait,
    eventfd2 = SYS_eventfd2, execve = SYS_execve, exit = SYS_exit, exit_group = SYS_exit_group,
    faccessat2 = SYS_faccessat2, fadvise64 = SYS_fadvise64, fallocate = SYS_fallocate, fchmod = SYS_fchmod,
    fcntl = SYS_fcntl, fdatasync = SYS_fdatasync, flock = SYS_flock, fstat = SYS_fstat, fsync = SYS_fsync,
    ftruncate = SYS_ftruncate, futex = SYS_futex, getcwd = SYS_getcwd, getdents64 = SYS_getdents64,
    getpid = SYS_getpid, getrusage = SYS_getrusage, gettimeofday = SYS_gettimeofday, getrandom = SYS_getrandom, getsockopt = SYS_getsockopt, gettid = SYS_gettid,
    inotify_add_watch = SYS_inotify_add_watch, io_destroy = SYS_io_destroy, io_getevents = SYS_io_getevents,
    io_setup = SYS_io_setup, io_submit = SYS_io_submit, io_uring_enter = SYS_io_uring_enter,
    io_uring_setup = SYS_io_uring_setup, ioctl = SYS_ioctl, kill = SYS_kill, listen = SYS_listen,
    lseek = SYS_lseek, madvise = SYS_madvise, membarrier = SYS_membarrier, memfd_create = SYS_memfd_create,
    mkdirat = SYS_mkdirat, mlock = SYS_mlock, mmap = SYS_mmap, mprotect = SYS_mprotect, mremap = SYS_mremap,
    msync = SYS_msync, munlock = SYS_munlock, munmap = SYS_munmap, nanosleep = SYS_nanosleep,
    newfstatat = SYS_newfstatat, openat = SYS_openat, openat2 = SYS_openat2, pipe2 = SYS_pipe2,
    ppoll = SYS_ppoll, prctl = SYS_prctl, pread64 = SYS_pread64, preadv = SYS_preadv,
    process_vm_readv = SYS_process_vm_readv, process_vm_writev = SYS_process_vm_writev,
    pselect6 = SYS_pselect6, pwrite64 = SYS_pwrite64, pwritev = SYS_pwritev, read = SYS_read,
    readahead = SYS_readahead, readlinkat = SYS_readlinkat, readv = SYS_readv, recvfrom = SYS_recvfrom,
    recvmmsg = SYS_recvmmsg, recvmsg = SYS_recvmsg, renameat2 = SYS_renameat2, rseq = SYS_rseq,
    rt_sigaction = SYS_rt_sigaction, rt_sigprocmask = SYS_rt_sigprocmask, rt_sigreturn = SYS_rt_sigreturn,
    rt_sigsuspend = SYS_rt_sigsuspend, rt_sigtimedwait = SYS_rt_sigtimedwait,
    sched_getaffinity = SYS_sched_getaffinity, sched_setaffinity = SYS_sched_setaffinity,
    sched_setscheduler = SYS_sched_setscheduler, sched_yield = SYS_sched_yield, semtimedop = SYS_semtimedop,
    sendfile = SYS_sendfile, sendmmsg = SYS_sendmmsg, sendmsg = SYS_sendmsg, sendto = SYS_sendto,
    set_robust_list = SYS_set_robust_list, setsockopt = SYS_setsockopt, shutdown = SYS_shutdown,
    socket = SYS_socket, socketpair = SYS_socketpair, splice = SYS_splice, statx = SYS_statx,
    sync = SYS_sync, sync_file_range = SYS_sync_file_range, syncfs = SYS_syncfs, tgkill = SYS_tgkill,
    timer_settime = SYS_timer_settime, timerfd_create = SYS_timerfd_create,
    timerfd_settime = SYS_timerfd_settime, unlinkat = SYS_unlinkat, vmsplice = SYS_vmsplice,
    wait4 = SYS_wait4, waitid = SYS_waitid, write = SYS_write, writev = SYS_writev,
};

/// Those that newer architectures have no more.
#[cfg(target_arch = "x86_64")]
const OLD_CALLS: &[(libc::c_long, &str)] = calls! {
    access = SYS_access, alarm = SYS_alarm, creat = SYS_creat, dup2 = SYS_dup2,
    epoll_create = SYS_epoll_create, epoll_wait = SYS_epoll_wait, eventfd = SYS_eventfd, fork = SYS_fork,
    getdents = SYS_getdents, lstat = SYS_lstat, mkdir = SYS_mkdir, open = SYS_open, pause = SYS_pause,
    pipe = SYS_pipe, poll = SYS_poll, readlink = SYS_readlink, rename = SYS_rename, rmdir = SYS_rmdir,
    select = SYS_select, stat = SYS_stat, unlink = SYS_unlink, vfork = SYS_vfork,
};
#[cfg(not(target_arch = "x86_64"))]
const OLD_CALLS: &[(libc::c_long, &str)] = &[];

/// `read`, or `system call 470`.
pub(super) fn name(number: i64) -> Cow<'static, str> {
    let mut calls = CALLS.iter().chain(OLD_CALLS);
    let found = calls.find(|(it, _)| *it == number);
    found.map_or_else(
        || Cow::Owned(format!("system call {number}")),
        |(_, name)| Cow::Borrowed(*name),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_calls_have_the_names_that_this_architecture_gives_them() {
        assert_eq!(name(libc::SYS_read), "read");
        assert_eq!(name(libc::SYS_futex), "futex");
        assert_eq!(name(1 << 20), "system call 1048576");
    }
}

//! Limits that processes inherit.

/// Current and highest value; `u64::MAX` is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    pub current: u64,
    pub highest: u64,
}

/// `libc::RLIMIT_NOFILE` and others. None if the system does not say.
pub fn limit(resource: u32) -> Option<Limit> {
    // SAFETY: the structure is filled in when the call succeeds.
    unsafe {
        let mut found: libc::rlimit = std::mem::zeroed();
        (libc::getrlimit(resource, &mut found) == 0).then_some(Limit {
            current: found.rlim_cur,
            highest: found.rlim_max,
        })
    }
}

/// Raises a limit of this process to what it may be. Says whether that was more than before.
pub(crate) fn raise(resource: u32) -> bool {
    let Some(found) = limit(resource).filter(|it| it.current < it.highest) else {
        return false;
    };
    let raised = libc::rlimit {
        rlim_cur: found.highest,
        rlim_max: found.highest,
    };
    // SAFETY: a plain system call; the structure lives during it.
    unsafe { libc::setrlimit(resource, &raised) == 0 }
}

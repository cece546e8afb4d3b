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

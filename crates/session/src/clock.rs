//! Time, as keepers need it: the monotonic clock, and how it relates to the wall clock.

/// `CLOCK_MONOTONIC` in nanoseconds: what LTTng-UST uses, so that traces merge.
#[cfg(not(all(test, feature = "models")))]
pub fn monotonic() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

#[cfg(all(test, feature = "models"))]
pub(crate) use crate::sync::modelled::monotonic;

fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid place for the result; these clocks always exist.
    unsafe { libc::clock_gettime(clock, &mut time) };
    (time.tv_sec as u64)
        .wrapping_mul(1_000_000_000)
        .wrapping_add(time.tv_nsec as u64)
}

/// Wall clock minus monotonic clock in nanoseconds, from the best of several looks at both.
pub fn offset() -> i64 {
    let looks = (0..10).map(|_| {
        let before = monotonic();
        let wall = read(libc::CLOCK_REALTIME);
        let after = monotonic();
        let middle = before + (after - before) / 2;
        (after - before, wall.wrapping_sub(middle) as i64)
    });
    looks.min().map_or(0, |(_, offset)| offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_offset_leads_to_the_wall_clock() {
        let wall = read(libc::CLOCK_REALTIME) as i64;
        let computed = monotonic() as i64 + offset();
        assert!((computed - wall).abs() < 1_000_000_000);
    }
}

//! How a timestamp field of a few bits moves a stream's full 64-bit clock.

/// The clock's value after a field of `bits` bits with the value `field` was decoded.
///
/// A field of less than 64 bits can only move the clock forward, by less than 2^bits; equal bits mean no move.
#[inline]
pub fn updated_clock(current: u64, field: u64, bits: u32) -> u64 {
    if bits >= 64 {
        return field;
    }
    let span = 1u64 << bits;
    let mask = span - 1;
    let field = field & mask;
    let carried = if field < current & mask {
        current.wrapping_add(span)
    } else {
        current
    };
    carried & !mask | field
}

#[cfg(test)]
mod tests {
    use super::updated_clock;

    #[test]
    fn a_partial_timestamp_only_moves_the_clock_forward() {
        let mut clock = 0;
        let times: Vec<u64> = [0xF0, 0x05, 0x05, 0x04]
            .into_iter()
            .map(|field| {
                clock = updated_clock(clock, field, 8);
                clock
            })
            .collect();
        assert_eq!(times, [240, 261, 261, 516]);
    }

    #[test]
    fn a_full_timestamp_may_move_the_clock_back() {
        assert_eq!(updated_clock(1000, 3, 64), 3);
    }

    #[test]
    fn the_last_wrap_of_the_clock_is_no_overflow() {
        assert_eq!(updated_clock(u64::MAX, 0, 63), 0);
        assert_eq!(updated_clock(u64::MAX, 1, 1), u64::MAX);
    }
}

//! Clocks: from the tracer's cycles to nanoseconds since the clock's origin.
//!
//! Conversions are done in 128 bits, so that no frequency and no offset loses a nanosecond. babeltrace2 computes
//! in double precision instead; who wants to print exactly what it prints uses
//! [`Clock::nanos_in_double_precision`].

use rostrace_base::time::{Cycles, Nanos};

use super::{Identity, Uuid};

#[derive(Debug, Clone, PartialEq)]
pub struct Clock {
    /// TSDL: the clock's `name`. CTF 2: the clock class's `id`, which serves references alone.
    pub id: String,
    /// For CTF 2 namespace, name and uid; for CTF 1.8 the name.
    pub identity: Identity,
    pub uuid: Option<Uuid>,
    pub description: Option<String>,
    /// In Hz; at least 1.
    pub frequency: u64,
    /// In cycles.
    pub precision: Option<u64>,
    pub offset_seconds: i64,
    pub offset_cycles: u64,
    pub origin: Origin,
}

/// What the value zero (with offset) of a clock means; decides which clocks can be compared.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Origin {
    /// CTF 1.8: `absolute = true`. CTF 2: `unix-epoch`.
    UnixEpoch,
    /// CTF 1.8: `absolute = false`; only clocks with the same UUID can be compared.
    Unknown,
    /// CTF 2: an origin of the producer's own.
    Custom(Identity),
}

const NANOS_PER_SECOND: i128 = 1_000_000_000;

impl Clock {
    /// A 1 GHz clock with no offset, for traces that have timestamps but declare no clock.
    pub fn implicit(id: &str) -> Clock {
        Clock {
            id: id.to_owned(),
            identity: Identity {
                name: Some(id.to_owned()),
                ..Identity::default()
            },
            uuid: None,
            description: None,
            frequency: 1_000_000_000,
            precision: None,
            offset_seconds: 0,
            offset_cycles: 0,
            origin: Origin::Unknown,
        }
    }

    /// Nanoseconds since the origin, rounded down and exact; the ends of the range if they do not fit 64 bits.
    pub fn nanos(&self, cycles: Cycles) -> Nanos {
        let frequency = i128::from(self.frequency.max(1));
        let total = i128::from(self.offset_cycles) + i128::from(cycles.0);
        // The product of two 64-bit numbers and 10^9 would not fit when both are huge: whole seconds first.
        let seconds = i128::from(self.offset_seconds) + total / frequency;
        saturate(seconds * NANOS_PER_SECOND + (total % frequency) * NANOS_PER_SECOND / frequency)
    }

    /// What babeltrace2 computes: offset and value are converted apart, in double precision.
    pub fn nanos_in_double_precision(&self, cycles: Cycles) -> Nanos {
        let frequency = self.frequency.max(1);
        let convert = |cycles: u64| -> i128 {
            if frequency == 1_000_000_000 {
                i128::from(cycles)
            } else {
                (1e9 * cycles as f64 / frequency as f64) as i128
            }
        };
        let seconds = i128::from(self.offset_seconds) + i128::from(self.offset_cycles / frequency);
        let base = seconds * NANOS_PER_SECOND + convert(self.offset_cycles % frequency);
        saturate(base + convert(cycles.0))
    }

    /// For a 1 GHz clock the constant that turns cycles into nanoseconds.
    pub fn nanos_offset(&self) -> Option<i64> {
        let base =
            i128::from(self.offset_seconds) * NANOS_PER_SECOND + i128::from(self.offset_cycles);
        (self.frequency == 1_000_000_000)
            .then(|| i64::try_from(base).ok())
            .flatten()
    }
}

fn saturate(nanos: i128) -> Nanos {
    Nanos(nanos.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64)
}

/// How a timestamp field of a few bits moves a stream's full 64-bit clock: the clock's value after a field of `bits` bits with the value `field` was decoded.
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

//! Clocks: from the tracer's cycles to nanoseconds since the clock's origin.
//!
//! Conversions are done in 128 bits, so that no frequency and no offset loses a nanosecond. babeltrace2 computes
//! in double precision instead; who wants to print exactly what it prints uses
//! [`Clock::nanos_in_double_precision`].

use super::{Identity, Uuid};

/// A raw value of a trace's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Cycles(pub u64);

/// Nanoseconds since the clock's origin: 1970 for all clocks that know the wall time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Nanos(pub i64);

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

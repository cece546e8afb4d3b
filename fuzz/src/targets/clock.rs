//! Any clock, any value: conversions neither panic nor contradict each other.

use std::io;
use std::path::Path;

use rostrace_ctf::schema::{Clock, Cycles};

use super::Target;

pub(super) const TARGET: Target = Target {
    name: "clock",
    run,
    seeds,
    dictionary: &[],
};

fn run(data: &[u8]) {
    let mut words = data.chunks_exact(8).map(|word| {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(word);
        u64::from_le_bytes(bytes)
    });
    let mut next = || words.next().unwrap_or(0);
    let clock = Clock {
        frequency: next(),
        offset_seconds: next().cast_signed(),
        offset_cycles: next(),
        ..Clock::implicit("monotonic")
    };
    let value = Cycles(next());
    let nanos = clock.nanos(value);
    assert!(
        clock.nanos(Cycles(value.0.saturating_add(1))) >= nanos,
        "time goes back after {value:?}"
    );
    let _ = clock.nanos_in_double_precision(value);
    let _ = clock.nanos_offset();
}

/// Clocks of 1 GHz, of 1 Hz, and of a processor; with the offset of a wall clock.
fn seeds(_: &Path) -> io::Result<Vec<Vec<u8>>> {
    let clocks = [1_000_000_000, 1, 2_593_906_000].map(|frequency: u64| {
        [
            frequency,
            1_794_710_679,
            342_145_156,
            5_200_188_277_997,
            1 << 60,
        ]
        .into_iter()
        .flat_map(u64::to_le_bytes)
        .collect()
    });
    Ok(clocks.into())
}

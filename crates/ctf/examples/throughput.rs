//! How fast the events of a trace can be gone through in the order of time, on one thread: `throughput TRACE`.
//!
//! Prints the number of events, the seconds that reading took (best of five, without opening the trace) and the rate.

use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use rostrace_ctf::{Conversion, Cursor, TraceSet};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path] = arguments.as_slice() else {
        return Err("usage: throughput TRACE".into());
    };
    let set = TraceSet::open(&[path])?;
    let mut best = Duration::MAX;
    let mut events = 0;
    for _ in 0..5 {
        let start = Instant::now();
        events = read(&set);
        best = best.min(start.elapsed());
    }
    let seconds = best.as_secs_f64();
    let rate = events as f64 / seconds / 1e6;
    println!("{events} events, {seconds:.4} s, {rate:.1} million events per second");
    Ok(())
}

fn read(set: &TraceSet) -> u64 {
    let mut cursor = Cursor::new(set, Conversion::Exact);
    let mut events = 0;
    while let Some(event) = cursor.next() {
        black_box(event.nanos());
        events += 1;
    }
    events
}

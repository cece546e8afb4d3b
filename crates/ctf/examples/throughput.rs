//! How fast a trace can be read, on one thread: `throughput scan TRACE` fills columns of every field of every event,
//! `throughput cursor TRACE` goes through the events in the order of time.
//!
//! Prints the number of events, the seconds that reading took (best of five, without opening the trace) and the rate.

use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use rostrace_ctf::{Column, Conversion, Cursor, Scan, TraceSet};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [way, path] = arguments.as_slice() else {
        return Err("usage: throughput scan|cursor TRACE".into());
    };
    let set = TraceSet::open(&[path])?;
    let read = match way.as_str() {
        "scan" => scan,
        "cursor" => cursor,
        other => return Err(format!("{other} is neither scan nor cursor").into()),
    };
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

fn scan(set: &TraceSet) -> u64 {
    let scan = Scan {
        threads: 1,
        ..Scan::default()
    };
    let (counts, _) = scan.run(
        set,
        &|_| true,
        || 0u64,
        |count, batch| {
            *count += batch.len() as u64;
            // Every value is there to be used: the columns must not be optimised away.
            for column in batch.columns().iter().flatten() {
                match column {
                    Column::Unsigned(values) => drop(black_box(values.as_ptr())),
                    Column::Signed(values) => drop(black_box(values.as_ptr())),
                    Column::Float(values) => drop(black_box(values.as_ptr())),
                    Column::Bytes(values) => drop(black_box(values.as_ptr())),
                    Column::Lists(values) => drop(black_box(values.rows())),
                    Column::Values(values) => drop(black_box(values.as_ptr())),
                }
            }
        },
    );
    counts.iter().sum()
}

fn cursor(set: &TraceSet) -> u64 {
    let mut cursor = Cursor::new(set, Conversion::Exact);
    let mut events = 0;
    while let Some(event) = cursor.next() {
        black_box(event.nanos());
        events += 1;
    }
    events
}

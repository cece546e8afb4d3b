//! How fast a trace becomes a model: `import TRACE` prints events, the seconds of the best of five imports without
//! opening the trace, and millions of events per second.

use std::error::Error;
use std::time::{Duration, Instant};

use rostrace_ctf::TraceSet;
use rostrace_model::Model;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: import TRACE")?;
    let set = TraceSet::open(&[path])?;
    let mut best = Duration::MAX;
    let mut events = 0;
    for _ in 0..5 {
        let start = Instant::now();
        let model = Model::load(&set, &mut |_| true);
        best = best.min(start.elapsed());
        events = model.events;
    }
    let seconds = best.as_secs_f64();
    println!(
        "{events} events, {seconds:.4} s, {:.1} million events per second",
        events as f64 / seconds / 1e6
    );
    Ok(())
}

mod commands {
    pub mod dump {
        pub mod text;
    }
}
mod pipeline;
use commands::dump::text::*;
fn main() {
    let mut options = TextOptions::default();
    let mut paths = vec![];
    for a in std::env::args().skip(2) {
        match a.as_str() {
            "--clock-seconds" => options.clock = ClockFormat::Seconds,
            "--no-delta" => options.no_delta = true,
            p => paths.push(p.to_owned()),
        }
    }
    let set = match rostrace_ctf::TraceSet::open(&paths) {
        Ok(s) => s,
        Err(e) => {
            eprintln!("rostrace: {e}");
            std::process::exit(1)
        }
    };
    let mut out = std::io::stdout().lock();
    let d = dump(
        &set,
        &options,
        &Default::default(),
        None,
        &mut out,
        &mut |_| true,
    )
    .unwrap();
    let mut loss = false;
    for d in set.damage.iter().chain(&d) {
        loss |= d.kind.is_loss();
        eprintln!("{} {:?} {}", d.path.display(), d.offset, d.message);
    }
    std::process::exit(if loss { 3 } else { 0 });
}

//! Serves the timeline of a trace: `cargo run --example serve TRACE`.

use rostrace_analyze::{Analysis, Selection};
use rostrace_ctf::TraceSet;
use rostrace_ctf::schema::Nanos;
use rostrace_model::Model;
use rostrace_model::scheduling::Scheduling;
use rostrace_report::served::{Options, ServedTimeline, Server};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let traces: Vec<String> = std::env::args().skip(1).collect();
    let set = TraceSet::open(&traces)?;
    let model = Model::load(&set, &mut |_| true);
    let mut analysis = Analysis::new(&model, Nanos(i64::MIN)..=Nanos(i64::MAX));
    analysis.scheduling = Scheduling::load(&set, &model, &mut |_| true);
    let options = Options {
        title: traces.join(" "),
        at: None,
        losses: Vec::new(),
        selection: Selection::default(),
    };
    let timeline = ServedTimeline::new(&analysis, options);
    let server = Server::bind(0)?;
    println!("{}", server.address());
    server.run(&timeline, &|| false)?;
    Ok(())
}

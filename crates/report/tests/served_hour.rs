//! An hour with ten million executions: what is asked for is there at once. It takes two gigabytes, so it runs only when asked for:
//! `cargo test --release -p rostrace-report --test tests served_hour -- --ignored --nocapture`.

use std::time::{Duration, Instant};

use rostrace_analyze::Analysis;
use rostrace_ctf::TraceSet;
use rostrace_ctf::schema::Nanos;
use rostrace_model::Model;
use rostrace_model::entity::{
    Address, Callback, CallbackId, CallbackOwner, Host, HostId, Process, ProcessId, Thread,
    ThreadId,
};
use rostrace_model::flow::CallbackInstance;
use rostrace_report::served::{Options, Query, ServedTimeline};

const THREADS: u32 = 50;
const EXECUTIONS: i64 = 10_000_000;
const HOUR: i64 = 3_600_000_000_000;

fn hour() -> Model {
    let set = TraceSet::open(&[] as &[&str]).unwrap();
    let mut model = Model::load(&set, &mut |_| true);
    model.hosts.push(Host {
        clock: None,
        name: "robot".to_owned(),
    });
    for number in 0..THREADS {
        model.processes.push(Process {
            host: HostId(0),
            pid: i64::from(number),
            name: "process".to_owned(),
            first: Nanos(0),
            last: Nanos(HOUR),
            recorded_from: Nanos(0),
            events: 0,
            distribution: None,
            tracetools_version: None,
            rmw_implementation: None,
            has_caret: false,
            unseen: Vec::new(),
        });
        model.threads.push(Thread {
            process: ProcessId(number),
            tid: i64::from(number),
        });
        model.callbacks.push(Callback {
            process: ProcessId(number),
            owner: CallbackOwner::Unknown,
            addresses: vec![Address(u64::from(number) + 1)],
            symbol: None,
            group: None,
            created: Nanos(0),
        });
    }
    let step = HOUR / EXECUTIONS;
    for number in 0..EXECUTIONS {
        let thread = (number % i64::from(THREADS)) as u32;
        let start = number * step;
        let length = step * 10 + number % 9973 * 100;
        model.instances.push(CallbackInstance {
            thread: ThreadId(thread),
            address: Address(u64::from(thread) + 1),
            callback: Some(CallbackId(thread)),
            start: Nanos(start),
            end: Some(Nanos(start + length)),
            intra_process: false,
            take: None,
            source: None,
        });
    }
    model.begin = Some(Nanos(0));
    model.end = Some(Nanos(HOUR));
    model
}

/// Of this process so far, counted by the kernel in hundredths of a second.
fn processor_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let (_, after_name) = stat.rsplit_once(") ").unwrap();
    let fields: Vec<&str> = after_name.split(' ').collect();
    let ticks = |place: usize| fields[place].parse::<u64>().unwrap();
    Duration::from_millis((ticks(11) + ticks(12)) * 10)
}

#[test]
#[ignore = "takes two gigabytes"]
fn any_window_of_an_hour_is_answered_at_once() {
    let model = hour();
    let analysis = Analysis::new(&model, Nanos(i64::MIN)..=Nanos(i64::MAX));
    let begin = Instant::now();
    let timeline = ServedTimeline::new(&analysis, Options::default());
    eprintln!("prepared in {:?}", begin.elapsed());
    let tracks: Vec<String> = (timeline.lanes().threads.iter())
        .flat_map(|group| &group.lanes)
        .map(|lane| lane.track.to_string())
        .collect();
    let tracks = tracks.join(",");
    for (name, from, to) in [
        ("the hour, first", 0, HOUR),
        ("the hour", 0, HOUR),
        ("a minute", HOUR / 3, HOUR / 3 + HOUR / 60),
        ("a millisecond", HOUR / 3, HOUR / 3 + 1_000_000),
        ("a microsecond", HOUR / 3, HOUR / 3 + 1_000),
    ] {
        let query = Query::parse(&format!("from={from}&to={to}&pixels=3200&tracks={tracks}"));
        // The first look builds the lanes. Of the others the fastest counts, and what they cost: the machine may be busy.
        let times = if name.ends_with("first") { 1 } else { 20 };
        let spent = processor_time();
        let asked = (0..times).map(|_| {
            let begin = Instant::now();
            let answer = timeline.answer("view", &query).unwrap();
            (begin.elapsed(), answer.body.len())
        });
        let (took, bytes) = asked.min().unwrap();
        let spent = (processor_time() - spent) / times;
        eprintln!("{name}: {took:?}, {spent:?} of processors, {bytes} bytes, 50 lanes");
    }
    let begin = Instant::now();
    timeline.answer("overview", &Query::default()).unwrap();
    eprintln!("overview: {:?}", begin.elapsed());
}

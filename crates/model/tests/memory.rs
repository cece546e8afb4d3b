//! What processes and callbacks allocate.

use rostrace_model::Model;
use rostrace_model::entity::InstanceId;
use rostrace_model::memory::{Memory, Totals};

use rostrace_testkit::made_up::{Recording, time};

fn load(recording: &Recording) -> (Model, Memory) {
    let set = recording.open();
    let model = rostrace_testkit::made_up::model_of(&set);
    let memory = Memory::load(&set, &model, &mut |_| true).unwrap();
    (model, memory)
}

#[test]
fn a_set_without_allocations_has_no_memory() {
    let mut recording = Recording::jazzy();
    recording.process(100, "app").node(0x10, "/n");
    let set = recording.open();
    let model = rostrace_testkit::made_up::model_of(&set);
    assert!(Memory::load(&set, &model, &mut |_| true).is_none());
}

#[test]
fn every_way_to_allocate_counts_and_the_peak_is_remembered() {
    let mut recording = Recording::jazzy();
    recording.process(100, "app").at(2_000_000);
    recording.malloc(10, 0x100).calloc(4, 5, 0x200);
    recording.realloc(0x100, 50, 0x300);
    recording
        .posix_memalign(30, 0x400, 0)
        .posix_memalign(1, 0x500, 12);
    recording.at(9_000_000).free(0x300).free(0).free(0x999);
    let (model, memory) = load(&recording);
    let [process] = &memory.processes[..] else {
        panic!("one process, not {:?}", memory.processes);
    };
    assert_eq!(model.processes[process.process.unwrap().index()].pid, 100);
    let totals = Totals {
        allocations: 4,
        frees: 2,
        allocated_bytes: 110,
        freed_bytes: 60,
        unknown_frees: 1,
        lost_frees: 0,
        failures: 1,
    };
    assert_eq!(process.totals, totals);
    let peak = process.peak.unwrap();
    assert_eq!((peak.bytes, peak.blocks), (100, 3));
    let series: Vec<_> = process.series.iter().map(|usage| usage.bytes).collect();
    assert_eq!(series, [100, 50]);
    assert_eq!(process.series[1].time, time(9_000_000));
    assert!(!process.uncertain);
}

#[test]
fn the_same_address_in_two_processes_is_two_blocks() {
    let mut recording = Recording::jazzy();
    recording.process(100, "a").malloc(10, 0x100);
    recording.process(200, "b").malloc(20, 0x100).free(0x100);
    let (_, memory) = load(&recording);
    let rows: Vec<_> = (memory.processes.iter())
        .map(|row| (row.name.as_str(), row.totals.frees, row.totals.lost_frees))
        .collect();
    assert_eq!(rows, [("a", 0, 0), ("b", 1, 0)]);
}

#[test]
fn a_callback_has_what_its_thread_allocates_while_it_is_executed() {
    let mut recording = Recording::jazzy();
    recording.process(100, "app").malloc(1, 0x100);
    recording.start(0x40).malloc(10, 0x200).free(0x100);
    recording.thread(101).malloc(100, 0x300);
    recording.thread(100).end(0x40).free(0x200);
    recording.start(0x40).end(0x40);
    let (_, memory) = load(&recording);
    let [row] = &memory.instances[..] else {
        panic!("{:?}", memory.instances)
    };
    assert_eq!(row.instance, InstanceId(0));
    assert_eq!((row.allocations, row.allocated_bytes), (1, 10));
    assert_eq!((row.frees, row.freed_bytes), (1, 1));
    assert!(!row.uncertain);
}

#[test]
fn what_was_lost_makes_the_memory_in_use_uncertain() {
    let mut recording = Recording::jazzy();
    recording.process(100, "app").at(2_000_000).malloc(1, 0x100);
    recording.lose(3_000_000, 4_000_000);
    recording.at(5_000_000).malloc(2, 0x100);
    let (_, memory) = load(&recording);
    assert!(memory.processes[0].uncertain);
    assert_eq!(memory.processes[0].totals.lost_frees, 1);
}

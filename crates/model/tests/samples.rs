//! Samples of call stacks: which belong to an execution, and which file each address was in.

use rostrace_model::entity::ThreadId;
use rostrace_model::sampling::Sampling;
use rostrace_testkit::made_up::{Recording, time};

/// A callback of thread 100 from 2 ms to 3 ms, of which two samples are; what is mapped is reported after the first.
fn callback() -> Recording {
    let mut recording = Recording::jazzy();
    recording.process(100, "app").node(0x10, "/n");
    recording.at(2_000_000).start(0x40).at(3_000_000).end(0x40);
    recording.cpu(1).at(500_000).sample_source(1_000_000);
    let frames = [0x1_010, 0x2_000, 0x9_000];
    recording.at(2_100_000).stack_sample(100, 100, &frames);
    recording.at(2_200_000).code_mapping(100, 0x1_000, "/app");
    recording.code_mapping(100, 0x2_000, "/lib.so");
    recording.at(2_300_000).stack_sample(101, 100, &frames);
    recording.at(2_500_000).stack_sample(100, 100, &frames);
    recording.at(3_500_000).stack_sample(100, 100, &frames);
    recording
}

#[test]
fn samples_of_a_thread_are_found_by_time_and_addresses_by_what_is_mapped() {
    let set = callback().open();
    let model = rostrace_testkit::made_up::model_of(&set);
    let sampling = Sampling::load(&set, &model, None, &mut |_| true).unwrap();
    assert_eq!(sampling.period, 1_000_000);
    let thread = model.threads.iter().position(|thread| thread.tid == 100);
    let thread = ThreadId(thread.unwrap() as u32);
    let samples = sampling.of_thread(thread, time(2_000_000), time(3_000_000));
    assert_eq!(samples.len(), 2);
    for sample in samples {
        assert!(sample.is_complete);
        let stack = sampling.stack(sample).iter().map(|frame| {
            let path = frame.code.map(|code| sampling.code(code).path.as_str());
            (frame.address, frame.is_return, path)
        });
        // The second function was called by the last instruction of the first file, and returns behind its end.
        let expected = [
            (0x1_010, false, Some("/app")),
            (0x2_000, true, Some("/app")),
            (0x9_000, true, None),
        ];
        assert_eq!(stack.collect::<Vec<_>>(), expected);
    }
    assert!(
        sampling
            .of_thread(thread, time(3_600_000), time(9_000_000))
            .is_empty()
    );
}

#[test]
fn without_samples_there_is_nothing_to_read() {
    let mut recording = Recording::jazzy();
    recording.process(100, "app").node(0x10, "/n");
    let set = recording.open();
    let model = rostrace_testkit::made_up::model_of(&set);
    assert!(Sampling::load(&set, &model, None, &mut |_| true).is_none());
}

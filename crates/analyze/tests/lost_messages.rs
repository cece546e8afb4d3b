//! Messages that did not arrive, and what their receivers did meanwhile.

use rostrace_analyze::communication::DropCause;
use rostrace_analyze::lost_message::{LostMessage, lost_messages};
use rostrace_analyze::why::{Cause, Relation, Why};
use rostrace_model::Model;
use rostrace_model::entity::{DeliveryId, InstanceId};

use crate::observed::whole;
use crate::recordings::load;
use crate::support::{Flavour, Recording, stamp, time};

fn all(model: &Model) -> Vec<DeliveryId> {
    (0..model.deliveries.len())
        .map(DeliveryId::from_index)
        .collect()
}

fn only(lost: &[LostMessage]) -> LostMessage {
    assert_eq!(lost.len(), 1, "{lost:?}");
    lost[0]
}

#[test]
fn a_message_that_is_pushed_out_of_a_ring_buffer_is_lost_at_that_moment() {
    let mut recording = Recording::talker_to_itself(Flavour::Jazzy);
    recording.at(10_000_000).intra_publish(0x20, 0x5000);
    recording.enqueue(0x33, 0, false);
    // The callback runs, and two later messages come meanwhile, by another thread.
    recording.dequeue(0x33, 0).start_with(0x41, true);
    recording.thread(107);
    for (number, (slot, full)) in [(1, false), (0, false), (1, true)].into_iter().enumerate() {
        recording.at(11_000_000 + number as u64 * 1_000_000);
        recording.intra_publish(0x20, 0x5001 + number as u64);
        recording.enqueue(0x33, slot, full);
    }
    recording.thread(100).at(14_000_000).end(0x41);
    recording.receive_intra(0x33, 0, 0x41);
    recording.receive_intra(0x33, 1, 0x41);
    let model = recording.load();
    let analysis = whole(&model);
    let lost = only(&lost_messages(&analysis, &all(&model)));
    assert_eq!(lost.cause, DropCause::RingBufferFull);
    assert_eq!((lost.begin, lost.end), (time(11_000_000), time(13_001_000)));
    let explained = Why::new(&analysis).lost(&lost);
    let parts: Vec<_> = explained
        .parts
        .iter()
        .map(|it| (it.duration(), it.cause))
        .collect();
    let busy = Cause::OtherCallback(InstanceId(0), Relation::SameThread);
    assert_eq!(parts, [(2_001_000, busy)]);
    assert!(lost.sentence(&analysis).contains("did not arrive"));
}

#[test]
fn a_message_that_the_middleware_lost_is_lost_when_a_later_one_is_taken() {
    let mut recording = Recording::talker_and_listener(Flavour::Jazzy);
    for number in 0..3 {
        let at = 10_000_000 + number * 1_000_000;
        recording.process(100, "talker").at(at);
        recording.publish(0x20, 0x5000, stamp(at + 2_500));
        if number != 1 {
            recording.process(200, "listener").at(at + 100_000);
            recording.receive(0x30, stamp(at + 2_500), 0x40);
        }
    }
    let model = recording.load();
    let analysis = whole(&model);
    let lost = only(&lost_messages(&analysis, &all(&model)));
    assert_eq!(lost.cause, DropCause::Middleware);
    assert_eq!((lost.begin, lost.end), (time(11_000_000), time(12_100_000)));
    let explained = Why::new(&analysis).lost(&lost);
    let causes: Vec<_> = explained.parts.iter().map(|it| it.cause).collect();
    assert_eq!(
        causes,
        [Cause::Publishing, Cause::Lost(DropCause::Middleware)]
    );
}

/// Of real recordings too, each explanation adds up, and begins when the message was published.
#[test]
fn messages_that_real_programs_lost_are_explained() {
    for name in ["jazzy/intra", "jazzy/multi", "jazzy/load_1m"] {
        let Some(recording) = load(name) else {
            continue;
        };
        let analysis = recording.analysis();
        let mut why = Why::new(&analysis);
        for lost in lost_messages(&analysis, &all(analysis.model))
            .iter()
            .take(500)
        {
            let explained = why.lost(lost);
            let sum: i64 = explained.parts.iter().map(|part| part.duration()).sum();
            assert_eq!((explained.begin, explained.end), (lost.begin, lost.end));
            assert_eq!(sum, lost.end.0 - lost.begin.0, "{name} {lost:?}");
            assert!(lost.end >= lost.begin);
        }
    }
}

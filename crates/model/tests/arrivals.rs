//! When messages came to the middleware of their receivers, which CARET's recordings up to version 0.2 tell.

use rostrace_ctf::schema::Nanos;
use rostrace_model::Model;
use rostrace_testkit::made_up::{Flavour, Recording, stamp, time};
use rostrace_testkit::recordings;

fn arrivals(model: &Model) -> Vec<Option<Nanos>> {
    model.deliveries.iter().map(|row| row.arrived).collect()
}

/// Published at so many nanoseconds; the stamp is the publication's own.
fn publish(recording: &mut Recording, at: u64) -> i64 {
    let stamp = stamp(at + 2_500);
    recording.process(100, "talker").at(at);
    recording.publish(0x20, 0x5000 + at, stamp);
    stamp
}

fn take(recording: &mut Recording, at: u64, stamp: i64) {
    recording.process(200, "listener").at(at);
    recording.dispatch(0x40, stamp).run(0x40);
}

fn available(recording: &mut Recording, at: u64, stamp: i64) {
    recording.process(200, "listener").thread(207).at(at);
    recording.data_available(stamp);
    recording.thread(200);
}

#[test]
fn a_message_arrived_when_its_reader_got_data() {
    let mut recording = Recording::talker_and_listener(Flavour::GalacticFork);
    let stamp = publish(&mut recording, 10_000_000);
    available(&mut recording, 10_100_000, stamp);
    take(&mut recording, 12_000_000, stamp);
    assert_eq!(arrivals(&recording.load()), [Some(time(10_100_000))]);
}

/// The second arrival is reported with the first one's stamp, and the second one's stamp with the third arrival.
#[test]
fn while_an_older_message_was_not_taken_the_stamp_is_not_that_of_what_arrived() {
    let mut recording = Recording::talker_and_listener(Flavour::GalacticFork);
    let first = publish(&mut recording, 10_000_000);
    available(&mut recording, 10_100_000, first);
    let second = publish(&mut recording, 11_000_000);
    available(&mut recording, 11_100_000, first);
    take(&mut recording, 12_000_000, first);
    let third = publish(&mut recording, 13_000_000);
    available(&mut recording, 13_100_000, second);
    take(&mut recording, 14_000_000, second);
    take(&mut recording, 15_000_000, third);
    let fourth = publish(&mut recording, 16_000_000);
    available(&mut recording, 16_100_000, fourth);
    take(&mut recording, 17_000_000, fourth);
    let expected = [Some(time(10_100_000)), None, None, Some(time(16_100_000))];
    assert_eq!(arrivals(&recording.load()), expected);
}

#[test]
fn of_two_subscriptions_of_a_process_nobody_knows_which_one_got_data() {
    let mut recording = Recording::talker_and_listener(Flavour::GalacticFork);
    recording.process(200, "listener");
    recording.subscription(0x50, 0x10, "/a", 0x60);
    let stamp = publish(&mut recording, 10_000_000);
    available(&mut recording, 10_100_000, stamp);
    take(&mut recording, 12_000_000, stamp);
    recording.at(12_500_000).dispatch(0x60, stamp).run(0x60);
    assert_eq!(arrivals(&recording.load()), [None, None]);
}

/// What comes after the take is about another reader.
#[test]
fn nothing_arrives_after_it_was_taken() {
    let mut recording = Recording::talker_and_listener(Flavour::GalacticFork);
    let stamp = publish(&mut recording, 10_000_000);
    take(&mut recording, 12_000_000, stamp);
    available(&mut recording, 13_000_000, stamp);
    assert_eq!(arrivals(&recording.load()), [None]);
}

/// The five messages of the recording for which CARET's authors published their own result.
#[test]
fn messages_of_a_real_recording_arrived_when_caret_says_so() {
    let Some(model) = recordings::load("public/caret-talker-listener-galactic") else {
        return;
    };
    let chatter = model.deliveries.iter().filter(|row| {
        let subscription = row.subscription.map(|id| &model.subscriptions[id.index()]);
        subscription.is_some_and(|it| it.topic == "/chatter")
    });
    let arrived: Vec<i64> = chatter
        .map(|row| row.arrived.unwrap().0 - 1_631_078_990_000_000_000)
        .collect();
    let expected = [
        289_522_219,
        1_288_905_821,
        2_289_011_165,
        3_288_932_110,
        4_289_027_475,
    ];
    assert_eq!(arrived, expected);
}

/// With Fast DDS, where messages wait in the queue, the stamps of other messages are reported too.
#[test]
fn messages_of_a_real_recording_arrived_between_publication_and_take() {
    let Some(model) = recordings::load("public/caret-end-to-end-fastdds-galactic") else {
        return;
    };
    let mut arrived = 0;
    for row in &model.deliveries {
        let Some(at) = row.arrived else { continue };
        arrived += 1;
        let publication = &model.publications[row.publication.index()];
        let take = row.instance.and_then(|id| model.instances[id.index()].take);
        let take = &model.takes[take.unwrap().index()];
        assert!(publication.publish <= at && at <= take.time, "{row:?}");
        // None of them was 1 ms under way; that long they only waited.
        assert!(at.0 - publication.publish.0 < 1_000_000, "{row:?}");
    }
    assert!(arrived > 200, "{arrived}");
}

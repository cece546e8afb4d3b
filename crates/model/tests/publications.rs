//! Publications: the events that one call of `publish` leaves, whatever way the message goes.

use rostrace_testkit::made_up::{Flavour, Recording, rmw, topic, topics};

#[test]
fn a_typed_message_goes_through_all_layers_that_a_distribution_shows() {
    use Flavour::*;
    for (flavour, has_rmw, stamp) in [
        (Galactic, false, None),
        (GalacticFork, true, Some(5)),
        (Humble, true, None),
        (HumbleFork, true, Some(5)),
        (Iron, true, None),
        (Jazzy, true, Some(5)),
        (Kilted, true, Some(5)),
        (Lyrical, true, Some(5)),
    ] {
        let mut recording = Recording::talker(flavour);
        recording.publish(0x20, 0x7, 5);
        let model = recording.load();
        assert_eq!(model.publications.len(), 1, "{flavour:?}");
        let publication = &model.publications[0];
        assert!(
            publication.rclcpp.is_some() && publication.rcl.is_some(),
            "{flavour:?}"
        );
        assert_eq!(publication.rmw.is_some(), has_rmw, "{flavour:?}");
        assert_eq!(publication.source_timestamp, stamp, "{flavour:?}");
        assert_eq!(topic(&model, publication), Some("/a"), "{flavour:?}");
    }
}

#[test]
fn one_message_object_published_again_and_again_makes_several_publications() {
    let mut recording = Recording::talker(Flavour::Jazzy);
    recording
        .publish(0x20, 0x7, 1)
        .publish(0x20, 0x7, 2)
        .publish(0x20, 0x7, 3);
    let model = recording.load();
    let stamps = model.publications.iter();
    let stamps: Vec<_> = stamps.map(|p| p.source_timestamp).collect();
    assert_eq!(stamps, [Some(1), Some(2), Some(3)]);
}

#[test]
fn a_serialised_message_skips_rclcpp() {
    let mut recording = Recording::talker(Flavour::Jazzy);
    recording.rcl_publish(0x20, 0x7).rmw_publish(0x20, 0x7, 5);
    recording.rcl_publish(0x20, 0x7).rmw_publish(0x20, 0x7, 6);
    let model = recording.load();
    assert_eq!(model.publications.len(), 2);
    let mut publications = model.publications.iter();
    assert!(publications.all(|p| p.rclcpp.is_none() && p.rmw.is_some()));
}

#[test]
fn a_serialised_message_of_an_old_rcl_leaves_only_the_middleware() {
    let mut recording = Recording::talker(Flavour::Jazzy);
    recording.rmw_publish(0x20, 0x7, 5);
    let model = recording.load();
    assert_eq!(topic(&model, &model.publications[0]), Some("/a"));
}

#[test]
fn the_middlewares_own_data_is_no_publication() {
    let mut recording = Recording::talker(Flavour::Jazzy);
    recording
        .rmw_publish(0x99, 0x7, 5)
        .publish(0x20, 0x7, 6)
        .rmw_publish(0x98, 0x7, 7);
    let model = recording.load();
    let stamps = model.publications.iter().map(|p| p.source_timestamp);
    let stamps: Vec<_> = stamps.collect();
    assert_eq!(stamps, [Some(6)]);
}

#[test]
fn a_message_of_rosout_is_known_by_its_rmw_handle() {
    let mut recording = Recording::talker(Flavour::Jazzy);
    recording.publisher(0x7ffd_0000, 0x10, "/rosout");
    // What rcl_publish tells is an address that no event announced.
    recording
        .rcl_publish(0x5555, 0x7)
        .rmw_publish(0x7ffd_0000, 0x7, 5);
    let model = recording.load();
    let publication = &model.publications[0];
    assert_eq!(
        (publication.handle.0, publication.rmw_handle.0),
        (0x5555, rmw(0x7ffd_0000))
    );
    assert_eq!(topic(&model, publication), Some("/rosout"));
}

#[test]
fn a_message_may_go_to_the_own_process_and_to_others() {
    let mut recording = Recording::talker(Flavour::Jazzy);
    recording
        .intra_publish(0x20, 0x7)
        .enqueue(0x33, 0, false)
        .publish(0x20, 0x7, 5);
    let model = recording.load();
    assert_eq!(model.publications.len(), 1);
    assert!(model.publications[0].intra < model.publications[0].rclcpp);
    assert_eq!(model.enqueues[0].publication.unwrap().0, 0);
}

#[test]
fn a_type_adapter_publishes_another_object() {
    let mut recording = Recording::talker(Flavour::Jazzy);
    recording
        .intra_publish(0x20, 0x7)
        .enqueue(0x33, 0, false)
        .publish(0x20, 0x8, 5);
    let model = recording.load();
    assert_eq!(model.publications.len(), 1);
    assert_eq!(model.publications[0].source_timestamp, Some(5));
}

#[test]
fn a_message_for_the_own_process_alone_does_not_swallow_the_next_publication() {
    let mut recording = Recording::talker(Flavour::Jazzy);
    recording
        .publisher(0x21, 0x10, "/b")
        .intra_publish(0x20, 0x7)
        .enqueue(0x33, 0, false);
    recording.publish(0x21, 0x8, 5);
    let model = recording.load();
    assert_eq!(topics(&model), [Some("/a"), Some("/b")]);
    let [intra, inter] = &model.publications[..] else {
        panic!()
    };
    assert_eq!(
        (intra.rclcpp, intra.rcl, intra.source_timestamp),
        (None, None, None)
    );
    assert!(inter.rclcpp.is_some() && inter.rclcpp < inter.rcl);
    assert_eq!(inter.publish, inter.rclcpp.unwrap());
    assert_eq!(intra.last, intra.intra.unwrap());
}

#[test]
fn the_second_message_for_the_own_process_is_another_publication() {
    let mut recording = Recording::talker(Flavour::Jazzy);
    recording.intra_publish(0x20, 0x7).intra_publish(0x20, 0x7);
    assert_eq!(recording.load().publications.len(), 2);
}

#[test]
fn a_stamp_does_not_belong_to_a_message_that_stayed_in_its_process() {
    let mut recording = Recording::talker(Flavour::HumbleFork);
    recording.intra_publish(0x20, 0x7).event(
        "ros2_caret:dds_bind_addr_to_stamp",
        &[
            ("addr", rostrace_testkit::made_up::Payload::Pointer(0)),
            (
                "source_stamp",
                rostrace_testkit::made_up::Payload::Unsigned(9),
            ),
        ],
    );
    assert_eq!(recording.load().publications[0].source_timestamp, None);
}

#[test]
fn a_stamp_without_an_address_belongs_to_the_write_before_it() {
    let mut recording = Recording::talker(Flavour::HumbleFork);
    recording.rclcpp_publish(0x20, 0x7).rcl_publish(0x20, 0x7);
    recording
        .event(
            "ros2_caret:dds_write",
            &[("message", rostrace_testkit::made_up::Payload::Pointer(0x7))],
        )
        .event(
            "ros2_caret:dds_bind_addr_to_stamp",
            &[
                ("addr", rostrace_testkit::made_up::Payload::Pointer(0)),
                (
                    "source_stamp",
                    rostrace_testkit::made_up::Payload::Unsigned(9),
                ),
            ],
        );
    assert_eq!(recording.load().publications[0].source_timestamp, Some(9));
}

#[test]
fn patched_middleware_tells_the_stamp_of_the_write_before_it() {
    let mut recording = Recording::talker(Flavour::Humble);
    recording.publish(0x20, 0x7, 0);
    recording.event(
        "dds:write_pre",
        &[
            ("writer", rostrace_testkit::made_up::Payload::Pointer(1)),
            ("data", rostrace_testkit::made_up::Payload::Pointer(0x7)),
        ],
    );
    recording.event(
        "dds:write",
        &[
            ("writer", rostrace_testkit::made_up::Payload::Pointer(1)),
            ("timestamp", rostrace_testkit::made_up::Payload::Signed(9)),
        ],
    );
    let model = recording.load();
    assert_eq!(model.publications.len(), 1);
    assert_eq!(model.publications[0].source_timestamp, Some(9));
}

#[test]
fn publications_of_two_threads_do_not_mix() {
    let mut recording = Recording::talker(Flavour::Humble);
    recording
        .publisher(0x21, 0x10, "/b")
        .thread(101)
        .rclcpp_publish(0x20, 0x7);
    recording
        .thread(102)
        .rclcpp_publish(0x21, 0x7)
        .rcl_publish(0x21, 0x7);
    recording
        .thread(101)
        .rcl_publish(0x20, 0x7)
        .rmw_publish(0x20, 0x7, 0);
    recording.thread(102).rmw_publish(0x21, 0x7, 0);
    let model = recording.load();
    assert_eq!(topics(&model), [Some("/a"), Some("/b")]);
    assert!(model.publications.iter().all(|p| p.rmw.is_some()));
}

#[test]
fn a_generic_publisher_of_the_humble_fork_is_known_by_rclcpp_alone() {
    let mut recording = Recording::talker(Flavour::HumbleFork);
    recording
        .rclcpp_publish(0x20, 0x7)
        .rmw_publish(0x20, 0x7, 5);
    let model = recording.load();
    assert_eq!(topic(&model, &model.publications[0]), Some("/a"));
    assert_eq!(model.publications[0].source_timestamp, Some(5));
}

#[test]
fn log_messages_that_rcl_sends_from_its_stack_are_of_rosout() {
    for flavour in [Flavour::Galactic, Flavour::Humble] {
        let mut recording = Recording::talker(flavour);
        recording.publisher(0x30, 0x10, "/rosout");
        for depth in 0..3 {
            // Another copy of the publisher each time; rclcpp knows nothing of it.
            recording
                .wait(1000)
                .rcl_publish(0x7fff_0000 + depth * 0x40, 0x70 + depth);
        }
        let model = recording.load();
        assert_eq!(topics(&model), [Some("/rosout"); 3], "{flavour:?}");
    }
}

#[test]
fn what_rclcpp_sends_with_an_unknown_publisher_is_of_nobody() {
    let mut recording = Recording::talker(Flavour::Galactic);
    recording.publisher(0x30, 0x10, "/rosout");
    recording.wait(1000).publish(0x7fff_0000, 0x70, 0);
    let model = recording.load();
    assert_eq!(model.publications.len(), 1);
    assert_eq!(topic(&model, &model.publications[0]), None);
}

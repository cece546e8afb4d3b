//! What applications say of themselves.

use rostrace_model::flow::{UserEventKind, UserField, UserValue};

use rostrace_testkit::made_up::application::Given;
use rostrace_testkit::made_up::{Recording, time};

#[test]
fn a_moment_keeps_its_name_and_all_that_was_given_with_it() {
    let mut recording = Recording::jazzy();
    recording.process(100, "app").at(2_000).user_instant(
        "obstacle",
        &Given {
            integers: &[("lanes", -3), ("count", 4)],
            reals: &[("speed", 2.5)],
            texts: &[("reason", "blocked \"left\"")],
        },
    );
    let model = recording.load();
    let [event] = &model.user_events[..] else {
        panic!("one event, not {:?}", model.user_events);
    };
    assert_eq!((&*event.name, event.time), ("obstacle", time(2_000)));
    assert_eq!(event.kind, UserEventKind::Instant);
    let field = |name: &str, value: UserValue| UserField {
        name: name.to_owned(),
        value,
    };
    let expected = [
        field("lanes", UserValue::Integer(-3)),
        field("count", UserValue::Integer(4)),
        field("speed", UserValue::Real(2.5)),
        field("reason", UserValue::Text("blocked \"left\"".to_owned())),
    ];
    assert_eq!(&*event.fields, expected);
}

#[test]
fn a_span_ends_where_its_number_ends_in_the_same_process_also_on_another_thread() {
    let mut recording = Recording::jazzy();
    recording.process(100, "app").at(2_000);
    recording.span_begin("outer", 1, &Given::default());
    recording.span_begin("inner", 2, &Given::default());
    recording.process(200, "other").span_end("outer", 1);
    recording.process(100, "app").thread(101).at(9_000);
    recording.span_end("inner", 2);
    let model = recording.load();
    let kinds: Vec<_> = model.user_events.iter().map(|event| event.kind).collect();
    let expected = [
        UserEventKind::Span { end: None },
        UserEventKind::Span {
            end: Some(time(9_000)),
        },
        UserEventKind::SpanEnd,
    ];
    assert_eq!(kinds, expected);
}

#[test]
fn the_end_of_a_span_during_which_events_were_lost_is_unknown() {
    let mut recording = Recording::jazzy();
    recording.process(100, "app").at(2_000);
    recording.span_begin("long", 1, &Given::default());
    recording.at(9_000).span_end("long", 1);
    recording.lose(4_000, 5_000);
    let model = recording.load();
    let [span] = &model.user_events[..] else {
        panic!("one span, not {:?}", model.user_events);
    };
    assert_eq!(span.kind, UserEventKind::Span { end: None });
}

#[test]
fn a_quantity_has_its_values_over_time() {
    let mut recording = Recording::jazzy();
    recording.process(100, "app").at(2_000);
    recording
        .user_counter("queue", 7.0)
        .user_counter("queue", 7.5);
    let model = recording.load();
    let values: Vec<_> = model.user_events.iter().map(|event| event.kind).collect();
    let expected = [UserEventKind::Counter(7.0), UserEventKind::Counter(7.5)];
    assert_eq!(values, expected);
}

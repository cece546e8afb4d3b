//! The oldest public sample of CARET (0.1, Galactic), which today's CARET cannot load: five messages, with the instants that its authors
//! published.

use rostrace_analyze::declared::Style;
use rostrace_analyze::declared::chain::Spread;
use rostrace_analyze::declared::records::Records;
use rostrace_analyze::declared::tables::{Indexed, Link};
use rostrace_architecture::communication::communications;
use rostrace_architecture::{CallbackKind, from_trace_with_flows};
use rostrace_tracepoints::Kind;

const SECOND: i64 = 1_631_078_990_000_000_000;

/// Start and end of the talker's callback, publication in rclcpp, rcl and the middleware, start and end of the listener's.
const MESSAGES: [[i64; 7]; 5] = [
    [
        288672218, 289455570, 289280521, 289285974, 289288278, 290029433, 290489184,
    ],
    [
        1288504289, 1288833864, 1288704199, 1288706584, 1288708358, 1289088197, 1289245927,
    ],
    [
        2288552728, 2288939076, 2288808701, 2288811360, 2288813307, 2289240824, 2289414557,
    ],
    [
        3288516650, 3288851544, 3288721394, 3288723922, 3288725659, 3289141210, 3289309262,
    ],
    [
        4288567220, 4288948699, 4288800056, 4288802458, 4288804095, 4289306007, 4289483961,
    ],
];

fn since(records: &Records, columns: &[usize]) -> Vec<Vec<i64>> {
    let row = |row: &Vec<Option<i64>>| row.iter().map(|cell| cell.unwrap() - SECOND).collect();
    records.select(columns).rows.iter().map(row).collect()
}

fn expected(columns: &[usize]) -> Vec<Vec<i64>> {
    let row = |row: &[i64; 7]| columns.iter().map(|column| row[*column]).collect();
    MESSAGES.iter().map(row).collect()
}

fn milliseconds(records: &Records) -> String {
    let spread = Spread::of(records).unwrap();
    let values = [spread.min as f64, spread.mean, spread.max as f64];
    values.map(|value| format!("{:.2}", value / 1e6)).join("/")
}

#[test]
fn five_messages_are_followed_from_timer_to_listener() {
    let Some(model) = rostrace_testkit::recordings::load("public/caret-talker-listener-galactic")
    else {
        return;
    };
    for (kind, count) in [
        (Kind::DdsWrite, 61),
        (Kind::DdsBindAddrToStamp, 61),
        (Kind::RclPublish, 25),
        (Kind::CallbackStart, 23),
        (Kind::CallbackEnd, 23),
        (Kind::DispatchSubscriptionCallback, 18),
        (Kind::OnDataAvailable, 17),
        (Kind::RclcppCallbackRegister, 16),
        (Kind::RclcppPublish, 15),
        (Kind::RclServiceInit, 12),
        (Kind::RclPublisherInit, 5),
        (Kind::RclSubscriptionInit, 3),
        (Kind::RclInit, 2),
        (Kind::RclNodeInit, 2),
        (Kind::RclTimerInit, 1),
    ] {
        assert_eq!(model.count(kind), count, "{kind:?}");
    }
    assert_eq!(model.events, 304);
    // The first packet begins 37 ms before the first event.
    assert_eq!(model.begin.unwrap().0, 1_631_078_989_242_099_107);
    assert_eq!(model.end.unwrap().0, 1_631_078_994_528_337_647);

    let architecture = from_trace_with_flows(&model);
    let all = communications(&architecture);
    let it = all.iter().find(|it| it.topic() == "/chatter").unwrap();
    for style in [Style::Caret, Style::Own] {
        let indexed = Indexed::new(&model, style);
        let timer = |kind: &CallbackKind| matches!(kind, CallbackKind::Timer { .. });
        let talker = it.publishing_node;
        let callback = talker.callbacks.iter().find(|it| timer(&it.kind)).unwrap();
        let executions = indexed.callback(talker, callback);
        assert_eq!(since(&executions, &[0, 1]), expected(&[0, 1]), "{style:?}");
        assert_eq!(milliseconds(&executions), "0.33/0.44/0.78");

        let listener = it.subscribe_callback().unwrap();
        let link = Link {
            publishing_node: talker,
            publisher: it.publisher.endpoint(),
            subscribing_node: it.subscribing_node,
            subscription: it.subscription.endpoint(),
            callback: listener.name.clone(),
        };
        let messages = indexed.communication(&link);
        let found = since(&messages, &[0, 1, 2, 4]);
        assert_eq!(found, expected(&[2, 3, 4, 5]), "{style:?}");
        assert_eq!(milliseconds(&messages), "0.38/0.50/0.75");

        let executions = indexed.callback(it.subscribing_node, listener);
        assert_eq!(since(&executions, &[0, 1]), expected(&[5, 6]), "{style:?}");
        assert_eq!(milliseconds(&executions), "0.16/0.23/0.46");
    }
}

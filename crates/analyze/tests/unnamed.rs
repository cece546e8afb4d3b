//! What is known where nothing has a name, because the recording began after the nodes were made: which message an execution received, by its
//! stamp, and so how long messages took and why.

use std::collections::HashMap;

use rostrace_analyze::flow_path::FlowPaths;
use rostrace_analyze::why::Why;
use rostrace_model::entity::DeliveryId;
use rostrace_model::flow::Match;

use crate::recordings::load;

#[test]
fn messages_of_a_recording_that_began_late_are_those_that_were_logged() {
    let Some(recording) = load("jazzy/late") else {
        return;
    };
    let analysis = recording.analysis();
    let model = analysis.model;
    assert!(model.subscriptions.is_empty() && model.publishers.is_empty());
    // When each message was published, by topic, number and publisher; the call took a while.
    let number = |text: &str| text.parse::<i64>().unwrap();
    let mut sent: HashMap<[&str; 3], (i64, i64)> = HashMap::new();
    for (_, line) in recording.lines("pub") {
        let at = number(&line[0]) + recording.mono_to_real;
        let took = line.iter().find_map(|word| word.strip_prefix("ret_ns="));
        sent.insert(
            [&line[2], &line[3], &line[4]],
            (at, at + number(took.unwrap())),
        );
    }
    let mut reported = 0;
    for (index, delivery) in model.deliveries.iter().enumerate() {
        assert_eq!(delivery.by, Match::Stamp);
        let arrival = analysis.arrival(DeliveryId::from_index(index)).unwrap();
        let instance = analysis.instance(delivery.instance.unwrap());
        let pid = model.processes[model.process_of(instance.thread).index()].pid;
        let inside = instance.start.0..=instance.end.map_or(i64::MAX, |end| end.0);
        let logged = recording.lines("recv").find(|(of, line)| {
            *of == pid && inside.contains(&(number(&line[0]) + recording.mono_to_real))
        });
        let Some((_, line)) = logged else { continue };
        let from = line.iter().find_map(|word| word.strip_prefix("from="));
        let (begin, end) = sent[&[line[2].as_str(), line[3].as_str(), from.unwrap()]];
        assert!((begin..=end).contains(&arrival.publish.0), "{line:?}");
        reported += 1;
    }
    assert!(reported > 850, "{reported} of {}", model.deliveries.len());
}

#[test]
fn paths_without_names_lead_through_addresses() {
    let Some(recording) = load("jazzy/late") else {
        return;
    };
    let analysis = recording.analysis();
    let paths = FlowPaths::observed(&analysis);
    let longest = paths.iter().max_by_key(|path| path.hops.len()).unwrap();
    assert!(longest.hops.len() > 2, "{}", longest.title());
    assert!(longest.flows.len() > 50 && !longest.is_named());
    let last = longest.hops.last().unwrap();
    assert!(last.callback.starts_with("callback 0x"), "{last:?}");
    assert!(last.topic.starts_with("topic of publisher 0x"), "{last:?}");
    let mut why = Why::new(&analysis);
    for flow in &longest.flows {
        let explained = why.flow(flow).unwrap();
        let sum: i64 = explained.parts.iter().map(|part| part.duration()).sum();
        assert_eq!(sum, explained.end.0 - explained.begin.0);
    }
}

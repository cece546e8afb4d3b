//! `rostrace topics`: who sends, who receives, how often, and which messages did not arrive.
//!
//! `count` goes once over publications, executions, takes and deliveries, `row` says what is told of a topic.

mod count;
mod row;

use rostrace_analyze::list::TOPICS;

use crate::args::LookArguments;
use crate::family;
use crate::listing::Reading;
use crate::outcome::Outcome;
use count::Counts;
use rostrace_base::units;
use row::TopicRow;

pub(crate) fn topics(arguments: &LookArguments) -> anyhow::Result<Outcome> {
    let Some(reading) = Reading::of(&TOPICS, arguments)? else {
        return Ok(Outcome::Interrupted);
    };
    let view = reading.view()?;
    let counts = Counts::of(&view);
    let mut rows: Vec<TopicRow<'_>> = view
        .topics()
        .map(|(name, topic)| TopicRow::of(&counts, view.model, name, topic))
        .collect();
    let unnamed = TopicRow::unnamed(&counts, &view);
    let has_address = |row: &&TopicRow<'_>| row.publishers.iter().any(|it| it.address.is_some());
    let number = unnamed.iter().filter(has_address).count();
    let unsent = unnamed.iter().filter(|row| !has_address(row));
    let unsent: u64 = unsent.map(|row| row.messages).sum();
    rows.extend(unnamed);
    let kinds = &view.model.kinds;
    let notes = reading
        .unnamed(number, "publisher")
        .into_iter()
        .chain(went_no_further(unsent))
        .chain(family::PUBLISH.lack(kinds).map(str::to_owned))
        .chain(family::TAKE.lack(kinds).map(str::to_owned));
    reading.print(rows, notes)
}

/// Of messages that left no event below rclcpp, which does not say whose they are; nothing for none.
fn went_no_further(messages: u64) -> Option<String> {
    let (was, its) = match messages {
        0 => return None,
        1 => ("message was", "its topic is"),
        _ => ("messages were", "their topics are"),
    };
    Some(format!(
        "{} {was} handed to rclcpp and went no further, so that {its} not known: after shutdown() nothing is sent, or \
         events were lost",
        units::count(messages)
    ))
}

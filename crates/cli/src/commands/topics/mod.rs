//! `rostrace topics`: who sends, who receives, how often, and which messages did not arrive.
//!
//! `count` goes once over publications, executions, takes and deliveries, `row` says what is told of a topic, `table` how people see it.

mod count;
mod row;
mod table;

use crate::args::LookArguments;
use crate::family;
use crate::listing::Reading;
use crate::outcome::Outcome;
use count::Counts;
use row::TopicRow;

pub(crate) fn topics(arguments: &LookArguments) -> anyhow::Result<Outcome> {
    let Some(reading) = Reading::of(arguments)? else {
        return Ok(Outcome::Interrupted);
    };
    let view = reading.view()?;
    let counts = Counts::of(&view);
    let mut rows: Vec<TopicRow<'_>> = view
        .topics()
        .map(|(name, topic)| TopicRow::of(&counts, view.model, name, topic))
        .collect();
    let unnamed = TopicRow::unnamed(&counts, &view);
    let number = unnamed.len();
    rows.extend(unnamed);
    let kinds = &view.model.kinds;
    let notes = reading
        .unnamed(number, "publisher")
        .into_iter()
        .chain(family::PUBLISH.lack(kinds).map(str::to_owned))
        .chain(family::TAKE.lack(kinds).map(str::to_owned));
    reading.print(&rows, || table::table(&rows, arguments.all), notes)
}

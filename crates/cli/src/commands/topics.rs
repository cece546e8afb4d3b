//! `rostrace topics`: who sends, who receives, how often, and which messages did not arrive.

use std::collections::BTreeSet;

use rostrace_analyze::list::{List, TOPICS};
use rostrace_analyze::table::{Cell, Deliveries, TopicRow};

use crate::args::LookArguments;
use crate::capabilities;
use crate::listing::{Reading, Row};
use crate::outcome::Outcome;
use rostrace_base::units;

pub(crate) fn topics(arguments: &LookArguments) -> anyhow::Result<Outcome> {
    let reading = Reading::of(&TOPICS, arguments)?;
    let view = reading.view()?;
    let rows = TopicRow::all(&view.analysis());
    let unnamed = rows.iter().filter(|row| row.is_unnamed);
    let (unsent, unnamed): (Vec<_>, Vec<_>) = unnamed.partition(|row| row.has_no_publisher);
    let unsent = unsent.iter().map(|row| row.messages).sum();
    let kinds = &view.model.kinds;
    let notes = reading
        .unnamed(unnamed.len(), "publisher")
        .into_iter()
        .chain(went_no_further(unsent))
        .chain(capabilities::PUBLISH.lack(kinds).map(str::to_owned))
        .chain(capabilities::TAKE.lack(kinds).map(str::to_owned));
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

impl Row for TopicRow<'_> {
    const LIST: &'static List = &TOPICS;

    fn cells(&self) -> Vec<Cell<'_>> {
        self.cells()
    }

    fn shown(&self, title: &str, _all: bool) -> Option<String> {
        match title {
            "from" => Some(some_names(&self.senders)),
            "to" => Some(some_names(&self.receivers)),
            "received at" => Some(rates(self.slowest, self.fastest)),
            _ => None,
        }
    }

    fn is_folded(&self) -> bool {
        self.built_in
    }

    /// One line for all.
    fn folded(rows: &[&Self]) -> Vec<Vec<(&'static str, String)>> {
        const TITLES: [&str; 7] = [
            "delivered",
            "lost",
            "overwritten",
            "queued",
            "unknown",
            "inter",
            "intra",
        ];
        let number = units::counted(rows.len() as u64, "built-in topic");
        let messages = rows.iter().map(|row| row.messages).sum();
        let deliveries = rows.iter().map(|row| row.deliveries);
        let deliveries = deliveries.fold(Deliveries::default(), Deliveries::plus);
        let mut line = vec![("topic", number), ("messages", units::count(messages))];
        line.extend(
            TITLES
                .into_iter()
                .zip(deliveries.numbers().map(units::count)),
        );
        vec![line]
    }

    /// Messages did not arrive.
    fn is_conspicuous(&self) -> bool {
        !self.built_in && self.deliveries.is_any_missing()
    }
}

/// `/a, /b`, `/a, /b and 3 more`
fn some_names(names: &BTreeSet<&str>) -> String {
    const MOST: usize = 2;
    let shown = names.iter().take(MOST).copied().collect::<Vec<&str>>();
    let shown = shown.join(", ");
    match names.len() {
        0 => "–".to_owned(),
        1..=MOST => shown,
        number => format!("{shown} and {} more", number - MOST),
    }
}

/// `99.8 Hz`, or from the slowest to the fastest where they differ.
fn rates(slowest: Option<f64>, fastest: Option<f64>) -> String {
    let (Some(slowest), Some(fastest)) = (slowest.map(units::hertz), fastest.map(units::hertz))
    else {
        return String::new();
    };
    if slowest == fastest {
        return fastest;
    }
    let slowest = slowest.trim_end_matches(" Hz");
    format!("{slowest} – {fastest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_rates_are_short() {
        let some_names =
            |names: &[&'static str]| super::some_names(&names.iter().copied().collect());
        assert_eq!(some_names(&[]), "–");
        assert_eq!(some_names(&["/a", "/b"]), "/a, /b");
        assert_eq!(some_names(&["/a", "/b", "/c", "/d"]), "/a, /b and 2 more");
        assert_eq!(rates(Some(10.01), Some(10.02)), "10.0 Hz");
        assert_eq!(rates(Some(0.0), Some(99.9)), "0.0 – 99.9 Hz");
        assert_eq!(rates(None, None), "");
    }
}

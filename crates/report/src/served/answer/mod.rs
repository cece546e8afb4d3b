//! What the page asks, and what it is answered. Names and facts are JSON, what is drawn is a table of numbers.

mod arrow;
mod description;
mod dropped;
mod explanation;
mod instance;
mod occurrence;
mod overview;
mod range;
mod view;

use serde::Serialize;

use super::http::Query;
use super::timeline::ServedTimeline;

/// A body and its type.
#[derive(Debug, Clone)]
pub struct Answer {
    pub media_type: &'static str,
    pub body: Vec<u8>,
}

impl Answer {
    fn json(value: &impl Serialize) -> Answer {
        Answer {
            media_type: "application/json",
            // Only maps whose keys are no texts cannot be written, and there are none.
            body: serde_json::to_vec(value).unwrap_or_default(),
        }
    }

    fn binary(body: Vec<u8>) -> Answer {
        Answer {
            media_type: "application/octet-stream",
            body,
        }
    }
}

impl ServedTimeline<'_> {
    /// What is asked for under a name; nothing if there is no such question, or if it makes no sense.
    pub fn answer(&self, question: &str, query: &Query) -> Option<Answer> {
        match question {
            "trace" => Some(self.description()),
            "overview" => Some(self.overview()),
            "view" => self.view(query),
            "arrows" => self.arrows(query),
            "instance" => self.instance(query),
            "occurrence" => self.occurrence(query),
            "dropped" => self.dropped(query),
            "range" => self.range(query),
            "awake" => self.awake(query),
            _ => None,
        }
    }
}

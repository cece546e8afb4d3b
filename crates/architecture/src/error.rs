//! What can be wrong with a request about an architecture. What can be wrong with a file is in `read`.

use std::fmt;

use rostrace_base::similar::most_similar;

/// The kinds of things that have names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Item {
    Node,
    Topic,
    Callback,
    CallbackGroup,
    Executor,
    Path,
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Item::Node => "node",
            Item::Topic => "topic",
            Item::Callback => "callback",
            Item::CallbackGroup => "callback group",
            Item::Executor => "executor",
            Item::Path => "path",
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("there is no {item} `{name}`{}", proposal(similar.as_deref()))]
    Unknown {
        item: Item,
        name: String,
        similar: Option<String>,
    },
    #[error("there is {} {item} `{name}` already", if *item == Item::Executor { "an" } else { "a" })]
    Exists { item: Item, name: String },
    #[error("node `{node}` {fault}{}", proposal(similar.as_deref()))]
    InNode {
        node: String,
        fault: String,
        similar: Option<String>,
    },
    #[error("the paths `{left}` and `{right}` cannot be combined: {reason}")]
    Combine {
        left: String,
        right: String,
        reason: String,
    },
    #[error("{0}")]
    Path(String),
}

impl Error {
    pub(crate) fn unknown<'a>(
        item: Item,
        name: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Error {
        Error::Unknown {
            item,
            name: name.to_owned(),
            similar: most_similar(name, known),
        }
    }

    pub(crate) fn exists(item: Item, name: &str) -> Error {
        Error::Exists {
            item,
            name: name.to_owned(),
        }
    }
}

pub(crate) fn proposal(similar: Option<&str>) -> String {
    match similar {
        Some(similar) => format!("; do you mean `{similar}`?"),
        None => String::new(),
    }
}

//! Which output a node makes from which input.

use super::{Endpoint, Extras};

/// What the file declares about one pair of topics of a node. What follows from variable passings without being
/// declared is found by [`crate::node_path::node_paths`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageContext {
    /// None: `UNDEFINED`, kept only where the file has unknown keys with it.
    pub context_type: Option<ContextType>,
    pub subscription: Endpoint,
    pub publisher: Endpoint,
    /// The chain that the file names for `callback_chain`. It only informs: the chain follows from the variable
    /// passings.
    pub callbacks: Vec<String>,
    pub extras: Extras,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ContextType {
    /// The input callback, then by variable passings the callback that publishes.
    CallbackChain,
    /// The output uses the newest input received before it.
    UseLatestMessage,
    /// The output has the header stamp of its input.
    InheritUniqueStamp,
    /// Message ids from TILDE tell.
    Tilde,
}

impl MessageContext {
    pub(crate) fn is_about(&self, subscription: &Endpoint, publisher: &Endpoint) -> bool {
        self.subscription == *subscription && self.publisher == *publisher
    }
}

impl ContextType {
    pub const ALL: [ContextType; 4] = [
        ContextType::CallbackChain,
        ContextType::UseLatestMessage,
        ContextType::InheritUniqueStamp,
        ContextType::Tilde,
    ];

    pub fn keyword(self) -> &'static str {
        match self {
            ContextType::CallbackChain => "callback_chain",
            ContextType::UseLatestMessage => "use_latest_message",
            ContextType::InheritUniqueStamp => "inherit_unique_stamp",
            ContextType::Tilde => "tilde",
        }
    }

    pub fn from_keyword(word: &str) -> Option<ContextType> {
        ContextType::ALL
            .into_iter()
            .find(|kind| kind.keyword() == word)
    }
}

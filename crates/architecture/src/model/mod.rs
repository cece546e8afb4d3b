//! The application's structure as plain data. References are names, as in the file; nothing derived is stored, so
//! nothing can go stale: node paths, contexts and communications are computed from here when asked for.

mod architecture;
mod callback;
mod callback_group;
mod endpoint;
mod executor;
mod extra;
mod message_context;
mod node;
mod path;
mod publisher;
mod subscription;
mod variable_passing;

pub use architecture::{Architecture, HIDDEN_TOPICS, is_hidden_topic};
pub use callback::{Callback, CallbackKind};
pub use callback_group::{CallbackGroup, CallbackGroupType};
pub use endpoint::Endpoint;
pub use executor::Executor;
pub use extra::{Extra, Extras};
pub use message_context::{ContextType, MessageContext};
pub use node::Node;
pub use path::{NamedPath, PathStep};
pub use publisher::Publisher;
pub use subscription::Subscription;
pub use variable_passing::VariablePassing;

/// What the file says where there is nothing to say.
pub const UNDEFINED: &str = "UNDEFINED";

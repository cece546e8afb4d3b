//! Changes to an architecture. Everything is found by name, an unknown name is an error that proposes a similar one,
//! and a change reaches every place that the thing occurs in, named paths too. On an error nothing has changed.

mod combine;
mod flow;
mod path;
mod rename;

pub use flow::EndpointQuery;

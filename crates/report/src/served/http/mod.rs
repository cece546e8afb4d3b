//! The little of HTTP/1.1 that a page on the same machine needs, and the doors that keep everyone else out.
//!
//! Written here and not taken from a crate: the small ones that exist are hardly kept, and the others bring an asynchronous runtime. What is
//! needed is a list of refusals: only GET, no bodies, a head of limited size and age, one request per connection, few connections.
//! [`access`] says who may ask.

mod access;
mod request;
mod response;
mod server;

pub use request::Query;
pub use server::Server;

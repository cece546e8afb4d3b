//! Whether this process records, and by whose command: the `gate` that every event passes, the life of the `process`, and the keeper of its
//! own (`own_keeper`) where no recorder can reach it.

pub(crate) mod complaint;
pub(crate) mod gate;
pub(crate) mod identity;
pub(crate) mod own_keeper;
pub(crate) mod path;
pub(crate) mod process;
pub(crate) mod settings;
pub(crate) mod snapshot_signal;

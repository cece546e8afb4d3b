//! The events that this library can write, generated from the declared vocabulary.

/// How an event looks.
#[derive(Debug)]
pub struct Event {
    /// With its provider: `ros2:rcl_init`.
    pub name: &'static str,
    /// Kept, so that later recordings have it too.
    pub is_initialisation: bool,
    pub identified: Identified,
    pub fields: &'static [(&'static str, Kind)],
}

/// What tells two remembered events of the same kind apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Identified {
    ByFirstField,
    ByAll,
}

/// What a field holds; the names are those of the vocabulary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Pointer,
    Unsigned,
    Signed,
    Flag,
    Text,
    Gid,
    Pointers,
    Numbers,
    Real,
    Reals,
    Texts,
}

include!(concat!(env!("OUT_DIR"), "/events.rs"));

/// One bit per event of initialisation.
pub fn initialisation() -> [u64; crate::MASK_WORDS] {
    let mut mask = [0; crate::MASK_WORDS];
    for (number, event) in EVENTS.iter().enumerate() {
        if event.is_initialisation {
            mask[number / 64] |= 1 << (number % 64);
        }
    }
    mask
}

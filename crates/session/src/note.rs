//! How a tracer library says which layout of the control page it knows, without being loaded: an ELF note, as build ids are.

use crate::control::VERSION;

/// Who the note is of.
pub const NOTE_NAME: [u8; 12] = *b"rostrace\0\0\0\0";
/// `ROST`.
pub const NOTE_TYPE: u32 = 0x524f_5354;

/// To be put into the section `.note.rostrace`.
#[repr(C, align(4))]
#[derive(Debug)]
pub struct Note {
    name_bytes: u32,
    description_bytes: u32,
    kind: u32,
    name: [u8; 12],
    layout: u32,
}

impl Note {
    /// Of this version.
    pub const fn new() -> Note {
        Note {
            // With one zero; the others fill up to a multiple of four.
            name_bytes: 9,
            description_bytes: 4,
            kind: NOTE_TYPE,
            name: NOTE_NAME,
            layout: VERSION,
        }
    }
}

impl Default for Note {
    fn default() -> Note {
        Note::new()
    }
}

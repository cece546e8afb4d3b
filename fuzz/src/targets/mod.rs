//! All targets, declared once. To add one: a file here, and a line in [`TARGETS`].

mod architecture;
mod clock;
mod folder;
mod metadata;
mod packet;
mod schemas;
mod session;

use std::io;
use std::path::Path;

pub struct Target {
    /// The word on the command line, and the folder below `corpus`, `artifacts` and `regressions`.
    pub name: &'static str,
    pub run: fn(&[u8]),
    /// Inputs to begin with, made from the recordings in the given folder (`testdata`).
    pub seeds: fn(&Path) -> io::Result<Vec<Vec<u8>>>,
    /// Words of the input's language, which blind mutation would not find.
    pub dictionary: &'static [&'static str],
}

pub const TARGETS: &[Target] = &[
    architecture::TARGET,
    clock::TARGET,
    metadata::TARGET,
    packet::TARGET,
    folder::TARGET,
    session::TARGET,
];

pub fn find(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

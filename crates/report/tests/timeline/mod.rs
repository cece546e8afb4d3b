//! What the tests of timelines share.

#![allow(unreachable_pub, clippy::unwrap_used)]

pub mod decoded;
pub mod profile;

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::Command;

use rostrace_analyze::{Analysis, Selection};
use rostrace_ctf::schema::Nanos;
use rostrace_ctf::{Damage, TraceSet};
use rostrace_model::Model;
use rostrace_model::memory::Memory;
use rostrace_model::scheduling::Scheduling;
use rostrace_report::timeline::{Format, Written};

pub const ALWAYS: RangeInclusive<Nanos> = Nanos(i64::MIN)..=Nanos(i64::MAX);

/// A trace and what it means.
pub struct Loaded {
    pub set: TraceSet,
    pub model: Model,
}

impl Loaded {
    pub fn of(set: TraceSet) -> Loaded {
        let model = Model::load(&set, &mut |_| true);
        Loaded { set, model }
    }

    pub fn analysis(&self, window: RangeInclusive<Nanos>) -> Analysis<'_> {
        let mut analysis = Analysis::new(&self.model, window);
        analysis.scheduling = Scheduling::load(&self.set, &self.model, &mut |_| true);
        analysis.memory = Memory::load(&self.set, &self.model, &mut |_| true);
        analysis
    }

    pub fn damage(&self) -> Vec<Damage> {
        let damage = self.set.damage.iter().chain(&self.model.damage);
        damage.cloned().collect()
    }
}

pub fn write(
    format: Format,
    analysis: &Analysis<'_>,
    selection: &Selection,
    damage: &[Damage],
) -> (Vec<u8>, Written) {
    let mut bytes = Vec::new();
    let written = format
        .write(analysis, selection, damage, &mut bytes)
        .unwrap();
    assert_eq!(written.bytes, bytes.len() as u64);
    (bytes, written)
}

/// The recordings that come with the source, and those of `shared/traces` that are small, where there are any.
pub fn recordings() -> Vec<PathBuf> {
    let names = [
        "testdata/pingpong",
        "testdata/lossy",
        "testdata/lifecycle_caret",
        "jazzy/chain",
        "jazzy/executors_caret",
        "jazzy/intra",
        "jazzy/lossy_overwrite",
        "jazzy/names",
        "jazzy/services",
        "humble/multi_caret",
        "humble/timers",
    ];
    names
        .iter()
        .filter_map(|name| crate::recordings::find(name))
        .collect()
}

/// Python with Perfetto's definitions, where `cargo xtask test` has put them; says so if they are not there.
pub fn python() -> Option<Command> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let named = std::env::var_os("ROSTRACE_PERFETTO_SCHEMA").map(PathBuf::from);
    let packages = named.unwrap_or_else(|| root.join("target/perfetto-schema"));
    if !packages.join("perfetto").is_dir() {
        use std::io::Write;
        let sentence = "NOT TESTED: Perfetto's own definitions are not in target/perfetto-schema, where `cargo xtask test` puts them.";
        // Not `eprintln`: the test harness would keep that to itself.
        let _ = writeln!(std::io::stderr(), "{sentence}");
        return None;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/timeline/decode.py");
    let mut command = Command::new("python3");
    command.env("PYTHONPATH", packages).arg(script);
    Some(command)
}

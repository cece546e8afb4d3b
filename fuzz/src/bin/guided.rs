//! Coverage-guided fuzzing of the target that `FUZZ_TARGET` names. `cargo xtask fuzz TARGET` builds and runs this.

#![no_main]

use std::sync::LazyLock;

use rostrace_fuzz::targets::{self, Target};

static TARGET: LazyLock<&Target> = LazyLock::new(|| {
    let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
    targets::find(&name).unwrap_or_else(|| panic!("FUZZ_TARGET={name} names no target"))
});

libfuzzer_sys::fuzz_target!(|data: &[u8]| (TARGET.run)(data));

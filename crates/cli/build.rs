//! Tells the program where cargo puts the tracer library, which is a dependency of it: apart from finished programs if the build
//! folder is not the target folder. Installed programs find the library in other ways.

use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let out = std::env::var_os("OUT_DIR").unwrap_or_default();
    // PROFILE/build/PACKAGE/out
    if let Some(profile) = Path::new(&out).ancestors().nth(3) {
        let libraries = profile.join("deps");
        println!(
            "cargo::rustc-env=ROSTRACE_BUILT_LIBRARIES={}",
            libraries.display()
        );
    }
}

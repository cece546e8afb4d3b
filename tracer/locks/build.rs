//! How the library is linked.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // The dynamic linker bound calls of the whole program to our functions: `dlclose` must not unload the library.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
}

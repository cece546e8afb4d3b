//! How the library is linked.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Other threads and the dynamic linker hold addresses of ours: `dlclose` must not unload the library.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    // Its memory is its own: see `src/own_heap.rs`.
    for function in ["malloc", "calloc", "realloc", "posix_memalign", "free"] {
        println!("cargo::rustc-cdylib-link-arg=-Wl,--wrap={function}");
    }
}

//! A function by the name that people know, and whether it belongs to those who wrote the program.

use rostrace_base::cpp_name;

/// An index into the functions of a [`Resolver`](crate::Resolver).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub u32);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Function {
    /// Without parameters: `pcl::VoxelGrid<pcl::PointXYZ>::applyFilter`. Where nothing tells it, file and place: `libfilter.so+0x11c0`.
    pub name: String,
    /// The file that it is in, without folders; empty if that is not known.
    pub file: String,
    /// Whether the name is one.
    pub is_named: bool,
    /// Whether it is of the C or C++ library and the like: what it does, it does for whoever called it.
    pub is_library: bool,
}

/// A function that an address is in, and where in its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Location {
    pub function: FunctionId,
    /// 0 where that is not known.
    pub line: u32,
    /// Whether the compiler put it into the function that comes next.
    pub is_inlined: bool,
}

impl Function {
    pub(crate) fn named(symbol: &[u8], file: &str) -> Function {
        let (name, is_rust) = demangled(&String::from_utf8_lossy(symbol));
        Function {
            is_library: is_library_file(file) || is_library_name(&name, is_rust),
            name,
            file: file.to_owned(),
            is_named: true,
        }
    }

    pub(crate) fn nameless(name: String, file: &str) -> Function {
        Function {
            name,
            file: file.to_owned(),
            is_named: false,
            is_library: is_library_file(file),
        }
    }
}

/// Files of what every program uses. Boost, Eigen and the like are in the files of those who use them.
fn is_library_file(file: &str) -> bool {
    const LIBRARIES: [&str; 14] = [
        "[vdso]",
        "libc.so",
        "libc-",
        "libm.so",
        "libm-",
        "libmvec",
        "libstdc++",
        "libc++",
        "libgcc_s",
        "libpthread",
        "librt.so",
        "libdl.so",
        "ld-linux",
        "libatomic",
    ];
    LIBRARIES.iter().any(|library| file.starts_with(library))
}

fn is_library_name(name: &str, is_rust: bool) -> bool {
    const OF_CPP: [&str; 7] = [
        "std::",
        "__gnu_cxx::",
        "__cxxabiv1::",
        "operator new",
        "operator delete",
        "boost::",
        "Eigen::internal::",
    ];
    // In C++ these may be names of anybody.
    const OF_RUST: [&str; 6] = [
        "std::", "core::", "alloc::", "<std::", "<core::", "<alloc::",
    ];
    const OF_C: [&str; 8] = [
        "malloc", "free", "calloc", "realloc", "memcpy", "memmove", "memset", "memcmp",
    ];
    let beginnings = if is_rust { &OF_RUST[..] } else { &OF_CPP[..] };
    let has_beginning = beginnings.iter().any(|library| name.starts_with(library));
    has_beginning || OF_C.contains(&name)
}

/// What compilers add to the names of parts and copies of functions.
const SUFFIXES: [&str; 6] = [
    ".cold",
    ".part.",
    ".constprop.",
    ".isra.",
    ".lto_priv.",
    ".llvm.",
];

/// The name, and whether it is of Rust.
fn demangled(symbol: &str) -> (String, bool) {
    let end = (SUFFIXES.iter())
        .filter_map(|suffix| symbol.find(suffix))
        .min();
    let symbol = &symbol[..end.unwrap_or(symbol.len())];
    // Versions of a symbol, as the dynamic linker sees them.
    let symbol = symbol.split('@').next().unwrap_or(symbol);
    // Older symbols of Rust look like those of C++, and end with a hash.
    if let Ok(name) = rustc_demangle::try_demangle(symbol)
        && (symbol.starts_with("_R") || format!("{name:#}") != name.to_string())
    {
        return (format!("{name:#}"), true);
    }
    let name = cpp_name::demangled_without_parameters(symbol);
    (name.unwrap_or_else(|| symbol.to_owned()), false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_source() {
        for (symbol, name) in [
            ("main", "main"),
            (
                "_ZN3pcl9VoxelGridINS_8PointXYZEE11applyFilterERNS_10PointCloudIS1_EE",
                "pcl::VoxelGrid<pcl::PointXYZ>::applyFilter",
            ),
            ("_Z3hoti", "hot"),
            ("_Z3hoti.cold", "hot"),
            ("compute.constprop.0", "compute"),
            ("memcpy@@GLIBC_2.14", "memcpy"),
            ("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"),
            ("_RNvC6_123foo3bar", "123foo::bar"),
            ("_Znonsense", "_Znonsense"),
        ] {
            assert_eq!(demangled(symbol).0, name);
        }
    }

    #[test]
    fn what_everybody_uses_is_known_as_such() {
        let function =
            |symbol: &str, file: &str| Function::named(symbol.as_bytes(), file).is_library;
        assert!(function("anything", "libc.so.6"));
        assert!(function("_ZNSt6vectorIiSaIiEE9push_backERKi", "node"));
        assert!(!function("_ZN4Node8callbackEv", "node"));
        assert!(!function("_ZN4core4Node8callbackEv", "node"));
        assert!(function("_ZN4core3fmt5write17h0123456789abcdefE", "node"));
    }
}

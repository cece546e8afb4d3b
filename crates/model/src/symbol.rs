//! Names of functions, as people can read them.

use rostrace_base::cpp_name;

/// A symbol of the trace, demangled if it is still mangled. Tracers that could not find one write `(null)`.
pub(crate) fn demangled(symbol: &str) -> String {
    cpp_name::demangled(symbol).unwrap_or_else(|| symbol.to_owned())
}

#[cfg(test)]
mod tests {
    use super::demangled;

    #[test]
    fn only_mangled_names_are_changed() {
        assert_eq!(demangled("_ZN4Node8callbackEv"), "Node::callback()");
        assert_eq!(demangled("void (Node::?)()"), "void (Node::?)()");
        assert_eq!(demangled("(null)"), "(null)");
        assert_eq!(demangled("_Znonsense"), "_Znonsense");
    }
}

//! Names of C++ functions, as people can read them. A symbol of a hundred bytes can stand for a name that no memory holds, because each part
//! may say twice what the last one said: such a name is none.

use std::fmt;

use cpp_demangle::{DemangleOptions, Symbol};

/// Longer names are of no use to anybody.
const MOST_BYTES: usize = 1 << 16;

/// The function that a mangled symbol stands for, with its parameters.
pub fn demangled(symbol: &str) -> Option<String> {
    written(symbol, DemangleOptions::new())
}

/// The same without its parameters, and without the type of its result.
pub fn demangled_without_parameters(symbol: &str) -> Option<String> {
    written(symbol, DemangleOptions::new().no_params().no_return_type())
}

fn written(symbol: &str, options: DemangleOptions) -> Option<String> {
    let symbol = (symbol.starts_with("_Z")).then(|| Symbol::new(symbol).ok())??;
    let mut name = Name(String::new());
    symbol.structured_demangle(&mut name, &options).ok()?;
    Some(name.0)
}

struct Name(String);

impl fmt::Write for Name {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        if self.0.len() + part.len() > MOST_BYTES {
            return Err(fmt::Error);
        }
        self.0.push_str(part);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_mangled_names_are_changed() {
        let name = "_ZN4Node8callbackEi";
        assert_eq!(demangled(name).unwrap(), "Node::callback(int)");
        assert_eq!(
            demangled_without_parameters(name).unwrap(),
            "Node::callback"
        );
        assert_eq!(demangled("callback"), None);
        assert_eq!(demangled("_Znonsense"), None);
    }

    /// Each parameter is a pair of the one before it.
    #[test]
    fn a_name_that_no_memory_holds_is_none() {
        for (pairs, is_one) in [(4, true), (20, false)] {
            // What can be said again is numbered: the first is `std::pair` itself, the second the first pair.
            let pair = |number: u8| {
                let before =
                    char::from(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[usize::from(number)]);
                format!("S_IS{before}_S{before}_E")
            };
            let pairs: String = (0..pairs).map(pair).collect();
            let symbol = format!("_Z1fSt4pairIiiE{pairs}");
            assert_eq!(demangled(&symbol).is_some(), is_one, "{symbol}");
        }
    }
}

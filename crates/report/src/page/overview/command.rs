//! Commands that can be copied from the page into a terminal.

use rostrace_analyze::selection::Pattern;
use rostrace_base::text::shell_word;
use rostrace_ctf::schema::Nanos;

use crate::page::Subject;

/// Writes commands about one recording.
#[derive(Debug)]
pub(super) struct Commands {
    /// The recording's folders or archives, for a shell.
    pub(super) traces: String,
    origin: i64,
}

impl Commands {
    pub(super) fn of(subject: Subject<'_>) -> Commands {
        let sources = subject.options.sources.iter();
        let sources: Vec<String> = sources.map(|source| shell_word(source)).collect();
        Commands {
            traces: match sources.is_empty() {
                true => "TRACE".to_owned(),
                false => sources.join(" "),
            },
            origin: subject.origin,
        }
    }

    /// A verb that lists something.
    pub(super) fn list(&self, verb: &str) -> String {
        format!("rostrace {verb} {}", self.traces)
    }

    pub(super) fn why_callback(&self, name: &str, at: Option<Nanos>) -> String {
        let at = self.at(at);
        format!("rostrace why {} --callback {}{at}", self.traces, glob(name))
    }

    /// By options with names.
    pub(super) fn why(&self, options: &[(&str, String)], at: Nanos) -> String {
        let options = options.iter();
        let options = options.map(|(option, name)| format!(" {option} {}", glob(name)));
        let (options, at) = (options.collect::<String>(), self.at(Some(at)));
        format!("rostrace why {}{options}{at}", self.traces)
    }

    /// From a node to a node.
    pub(super) fn why_path(&self, from: &str, to: &str, at: Option<Nanos>) -> String {
        let (from, to, at) = (shell_word(from), shell_word(to), self.at(at));
        format!("rostrace why {} --from {from} --to {to}{at}", self.traces)
    }

    pub(super) fn topic(&self, topic: &str) -> String {
        format!("rostrace topics {} --topic {}", self.traces, glob(topic))
    }

    pub(super) fn timeline(&self, at: Option<Nanos>) -> String {
        format!("rostrace timeline {} --open{}", self.traces, self.at(at))
    }

    /// To the nanosecond: an instance is found by its very begin.
    fn at(&self, at: Option<Nanos>) -> String {
        let Some(at) = at else {
            return String::new();
        };
        let since = at.0.saturating_sub(self.origin).max(0);
        let (seconds, nanos) = (since / 1_000_000_000, since % 1_000_000_000);
        format!(" --at +{seconds}.{nanos:09}s")
    }
}

/// A name where a pattern is asked for.
fn glob(name: &str) -> String {
    shell_word(&Pattern::escape(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_no_pattern() {
        assert_eq!(glob("/a · timer [1]"), "'/a · timer [[]1[]]'");
    }

    #[test]
    fn an_instant_is_exact() {
        let commands = Commands {
            traces: "session".to_owned(),
            origin: 5,
        };
        assert_eq!(
            commands.timeline(Some(Nanos(1_000_000_006))),
            "rostrace timeline session --open --at +1.000000001s"
        );
        assert_eq!(commands.timeline(None), "rostrace timeline session --open");
    }
}

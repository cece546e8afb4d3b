//! What a program says that it planted: its log, read.
//!
//! `xtask/planted/truth.c` writes it. Times are on CLOCK_MONOTONIC; `clock` has one instant on both clocks, so that they can be compared with those of
//! the trace, which are nanoseconds since 1970.

use anyhow::{Context, Result, bail};

/// What a thread did from one instant to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) what: What,
    /// The node that ran, where it is another one.
    pub(super) node: String,
    pub(super) thread: i64,
    /// Nanoseconds since 1970, as in the trace.
    pub(super) begin: i64,
    pub(super) end: i64,
    /// By the thread's own CPU clock.
    pub(super) cpu: i64,
    /// How much of it the thread slept of its own accord.
    pub(super) asleep: i64,
    /// Within this time the clocks were read.
    pub(super) slack: i64,
    /// The thread that is to blame, and what it had of a CPU meanwhile.
    pub(super) culprit: i64,
    pub(super) culprit_cpu: i64,
}

impl Span {
    pub(super) fn wall(&self) -> i64 {
        self.end - self.begin
    }

    /// What the thread neither computed nor slept: others took it.
    pub(super) fn disturbed(&self) -> i64 {
        (self.wall() - self.cpu - self.asleep).max(0)
    }
}

macro_rules! words {
    ($($(#[$about:meta])* $variant:ident = $word:literal,)+) => {
        /// The word of a span.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(super) enum What { $($(#[$about])* $variant,)+ }

        impl What {
            #[cfg(test)]
            pub(super) const ALL: &[What] = &[$(What::$variant),+];

            fn of(word: &str) -> Option<What> {
                match word { $($word => Some(What::$variant),)+ _ => None }
            }

            #[cfg(test)]
            pub(super) fn word(self) -> &'static str {
                match self { $(What::$variant => $word),+ }
            }
        }
    };
}

words! {
    /// It computed; what is missing on its own clock, others had.
    Compute = "compute",
    /// It waited of its own will: slept, or for a lock, a page, a file.
    Block = "block",
    /// It computed while the culprit wanted the same CPU, with more right to it.
    Hog = "hog",
    /// Of no length of its own: in the span before it this culprit had the CPU as well.
    Also = "also",
    /// The process was stopped.
    Stop = "stop",
    /// Another callback ran on the thread.
    Busy = "busy",
    /// A callback of the same mutually exclusive group ran on another thread.
    Group = "group",
    /// The same, but that thread went on with what had to wait, so that either may be said.
    Either = "either",
    /// The message was under way, and nobody kept the receiver from anything.
    Transit = "transit",
    /// In the call of publish, before the middleware had the message.
    Publish = "publish",
    /// There too, and the culprit had the CPU.
    PublishHog = "publish_hog",
    /// The timer was due, and its thread slept on.
    Late = "late",
    /// The timer was due, and its thread could have run, but the culprit had its CPU.
    Starve = "starve",
    /// The callback of the service ran.
    Served = "served",
    /// The request waited, because the server's thread ran this callback.
    Queued = "queued",
}

/// What `why` is to be asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AskedFor {
    /// An execution of a node's only callback.
    Callback(String),
    /// A message of a topic.
    Message(String),
    /// A message that did not arrive, with the reason.
    Lost(String, String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Truth {
    pub(super) subject: AskedFor,
    /// An instant at which it was in progress, in nanoseconds since 1970.
    pub(super) at: i64,
    pub(super) spans: Vec<Span>,
}

/// A log, or why there is nothing to be judged.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Log {
    Truth(Truth),
    /// The system does not allow what the program wanted to do.
    Impossible(String),
}

impl Log {
    pub(super) fn read(text: &str) -> Result<Log> {
        let mut offset = None;
        let mut subject = None;
        let mut reason = None;
        let mut spans = Vec::new();
        for line in text.lines() {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            let words: Vec<&str> = rest.split(' ').collect();
            let clock = || offset.context("the log does not begin with its clock");
            match (word, words.as_slice()) {
                ("clock", [monotonic, real]) => offset = Some(number(real)? - number(monotonic)?),
                (
                    "span",
                    [
                        what,
                        node,
                        thread,
                        begin,
                        end,
                        cpu,
                        asleep,
                        slack,
                        culprit,
                        culprit_cpu,
                    ],
                ) => {
                    spans.push(Span {
                        what: What::of(what).with_context(|| format!("no span is a `{what}`"))?,
                        node: (*node).to_owned(),
                        thread: number(thread)?,
                        begin: number(begin)? + clock()?,
                        end: number(end)? + clock()?,
                        cpu: number(cpu)?,
                        asleep: number(asleep)?,
                        slack: number(slack)?,
                        culprit: number(culprit)?,
                        culprit_cpu: number(culprit_cpu)?,
                    });
                }
                ("lost", [cause, _]) => reason = Some((*cause).to_owned()),
                ("subject", [kind, name, at]) => {
                    subject = Some((
                        (*kind).to_owned(),
                        (*name).to_owned(),
                        number(at)? + clock()?,
                    ));
                }
                ("impossible", _) => return Ok(Log::Impossible(rest.to_owned())),
                ("trouble", _) => bail!("the program had trouble: {rest}"),
                _ => bail!("`{line}` is no line of a log"),
            }
        }
        let (kind, name, at) = subject.context("the program does not say what it planted")?;
        let subject = match (kind.as_str(), reason) {
            ("callback", _) => AskedFor::Callback(name),
            ("message", _) => AskedFor::Message(name),
            ("lost", Some(reason)) => AskedFor::Lost(name, reason),
            _ => bail!("`{kind}` is no subject"),
        };
        if spans.is_empty() && !matches!(subject, AskedFor::Lost(..)) {
            bail!("the program did not say how it went");
        }
        spans.sort_by_key(|span| span.begin);
        Ok(Log::Truth(Truth { subject, at, spans }))
    }
}

fn number(word: &str) -> Result<i64> {
    word.parse()
        .with_context(|| format!("`{word}` is no number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_read_on_the_clock_of_the_trace() {
        let text = "clock 100 1000100\n\
            span hog - 7 300 500 60 0 2 8 130\n\
            span compute /node 7 200 300 100 0 1 0 0\n\
            subject callback /node 310\n";
        let Log::Truth(truth) = Log::read(text).unwrap() else {
            panic!("nothing was impossible");
        };
        assert_eq!(truth.subject, AskedFor::Callback("/node".to_owned()));
        assert_eq!(truth.at, 1_000_310);
        assert_eq!(truth.spans[0].what, What::Compute);
        assert_eq!(truth.spans[1].begin, 1_000_300);
        assert_eq!(
            (truth.spans[1].culprit, truth.spans[1].culprit_cpu),
            (8, 130)
        );
    }

    #[test]
    fn what_a_program_could_not_plant_is_no_case() {
        let impossible = Log::read("clock 1 2\nimpossible no userfaultfd here\n").unwrap();
        assert_eq!(
            impossible,
            Log::Impossible("no userfaultfd here".to_owned())
        );
        assert!(Log::read("clock 1 2\n").is_err());
        assert!(Log::read("clock 1 2\ntrouble it rained\n").is_err());
    }

    #[test]
    fn every_word_of_the_programs_is_known() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("planted");
        let sources = ["inside.c", "message.c", "service.c"]
            .map(|name| std::fs::read_to_string(folder.join(name)).unwrap())
            .concat();
        for what in What::ALL {
            let word = format!("\"{}\"", what.word());
            assert!(sources.contains(&word), "{word} is said nowhere");
        }
    }
}

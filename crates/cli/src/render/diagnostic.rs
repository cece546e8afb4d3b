//! What goes to standard error: errors, warnings, hints. Each is one line.

use std::io::Write;

use super::palette::Palette;
use rostrace_base::text::visible;

const MOST_WARNINGS: usize = 10;

/// Writes a line. There is nobody to tell if that fails.
pub(crate) fn line(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// `rostrace: sentence: cause: cause`.
pub(crate) fn error(error: &anyhow::Error) {
    let name = Palette::for_stderr().alarm("rostrace:");
    line(&format!("{name} {}", visible(&sentence(error))));
}

pub(crate) fn note(text: &str) {
    line(&format!("rostrace: {}", visible(text)));
}

pub(crate) fn notes(sentences: &[String]) {
    for sentence in sentences {
        note(sentence);
    }
}

/// Many errors already quote their cause: it is not said twice.
fn sentence(error: &anyhow::Error) -> String {
    let mut sentence = error.to_string();
    for cause in error.chain().skip(1) {
        let cause = cause.to_string();
        if !sentence.ends_with(&cause) {
            sentence.push_str(": ");
            sentence.push_str(&cause);
        }
    }
    // Whoever writes a file names it, so what names none was meant for standard output.
    let root = error.root_cause();
    let of_writing = root.is::<std::io::Error>() || root.is::<csv::Error>();
    if of_writing && sentence == root.to_string() {
        return format!("standard output cannot be written: {sentence}");
    }
    sentence
}

/// What the metadata says that we do not know: the first few, dimmed, then how many more.
pub(crate) fn warnings(warnings: &[String]) {
    let palette = Palette::for_stderr();
    for warning in warnings.iter().take(MOST_WARNINGS) {
        line(&palette.dim(&format!("rostrace: {}", visible(warning))));
    }
    let more = warnings.len().saturating_sub(MOST_WARNINGS);
    if more > 0 {
        line(&palette.dim(&format!("rostrace: and {more} more warnings of this kind")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::{Context, anyhow};

    #[test]
    fn an_error_without_a_place_is_that_of_standard_output() {
        let full = || std::io::Error::other("no space left");
        assert_eq!(
            sentence(&anyhow::Error::from(full())),
            "standard output cannot be written: no space left"
        );
        let of_file = Err::<(), _>(full()).context("report.html: cannot be written");
        assert_eq!(
            sentence(&of_file.unwrap_err()),
            "report.html: cannot be written: no space left"
        );
    }

    #[test]
    fn causes_are_chained_once() {
        let error = Err::<(), _>(anyhow!("permission denied"))
            .context("t/metadata: cannot be read: permission denied")
            .context("the trace cannot be opened")
            .unwrap_err();
        assert_eq!(
            sentence(&error),
            "the trace cannot be opened: t/metadata: cannot be read: permission denied"
        );
    }
}

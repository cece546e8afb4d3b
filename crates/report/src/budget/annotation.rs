//! Commands by which a step of GitHub Actions marks lines of a file.

use rostrace_analyze::budget::Judgement;
use rostrace_base::text::is_unsafe;

use super::sentence::sentence;

/// `::error file=budgets.yaml,line=3,col=17,title=…::…`, one line; nothing for what is kept.
pub fn annotation(judgement: &Judgement, file: &str) -> Option<String> {
    let command = match judgement.verdict.is_failure() {
        true => "error",
        false if judgement.damaged > 0 => "warning",
        false => return None,
    };
    Some(format!(
        "::{command} file={},line={},col={},title={}::{}",
        property(file),
        judgement.line,
        judgement.column,
        property(&format!("budget of {}", judgement.subject)),
        data(&sentence(judgement))
    ))
}

/// What would end the line, or the text, is written in hexadecimal.
fn data(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '%' => safe.push_str("%25"),
            '\r' => safe.push_str("%0D"),
            '\n' => safe.push_str("%0A"),
            // Other characters that end a line for somebody, or that a terminal obeys.
            c if is_unsafe(c) => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    safe
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_begin_a_command_of_its_own() {
        let hostile = "a\n::error::b, c: 100%\r\u{1b}";
        assert_eq!(data(hostile), "a%0A::error::b, c: 100%25%0D\u{fffd}");
        assert_eq!(
            property(hostile),
            "a%0A%3A%3Aerror%3A%3Ab%2C c%3A 100%25%0D\u{fffd}"
        );
    }
}

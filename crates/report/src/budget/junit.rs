//! JUnit XML, as continuous integration shows it: a test case for each limit and thing.

use std::fmt::Write;

use rostrace_analyze::budget::{Judgement, Verdict};

use super::sentence::{instant, limit_text, measured_text, sentence};
use rostrace_base::text::markup;

/// The whole file. `file` is the budget file, `recording` what was checked, `damage` what was lost in it.
pub fn junit(judgements: &[Judgement], file: &str, recording: &str, damage: &[String]) -> String {
    let count = |is_it: fn(&Judgement) -> bool| judgements.iter().filter(|it| is_it(it)).count();
    let numbers = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\"",
        judgements.len(),
        count(|it| it.verdict.is_failure()),
        count(|it| it.verdict == Verdict::Skipped)
    );
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(xml, "<testsuites name=\"rostrace check\" {numbers}>");
    let _ = writeln!(
        xml,
        "  <testsuite name=\"{}\" {numbers}>\n    <properties>\n      <property name=\"recording\" value=\"{}\"/>",
        markup(file),
        markup(recording)
    );
    for line in damage {
        let _ = writeln!(
            xml,
            "      <property name=\"damage\" value=\"{}\"/>",
            markup(line)
        );
    }
    let _ = writeln!(xml, "    </properties>");
    for judgement in judgements {
        case(&mut xml, judgement, file);
    }
    let _ = write!(xml, "  </testsuite>\n</testsuites>\n");
    xml
}

fn case(xml: &mut String, judgement: &Judgement, file: &str) {
    let limit = judgement.limit.as_ref();
    let name = limit.map_or_else(|| "matches something".to_owned(), limit_text);
    let _ = write!(
        xml,
        "    <testcase classname=\"{}\" name=\"{}\" file=\"{}\" line=\"{}\"",
        markup(&format!("{}.{}", judgement.kind.name(), judgement.subject)),
        markup(&name),
        markup(file),
        judgement.line
    );
    let text = markup(&sentence(judgement));
    let inside = match judgement.verdict {
        Verdict::Broken | Verdict::Nothing => {
            let kind = judgement.verdict.name();
            let worst = judgement
                .worst
                .map_or(String::new(), |at| format!("\nworst at {}", instant(at)));
            format!("      <failure type=\"{kind}\" message=\"{text}\">{text}{worst}</failure>\n")
        }
        Verdict::Skipped => format!("      <skipped message=\"{text}\"/>\n"),
        Verdict::Kept => String::new(),
    };
    let measured = match (&inside, measured_text(judgement)) {
        (_, None) => String::new(),
        (_, Some(_)) => format!("      <system-out>{text}</system-out>\n"),
    };
    let _ = match inside.is_empty() && measured.is_empty() {
        true => writeln!(xml, "/>"),
        false => writeln!(xml, ">\n{inside}{measured}    </testcase>"),
    };
}

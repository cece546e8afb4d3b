//! The comparison as one HTML file: nothing is loaded, nothing but sorting and dark colours needs a script, every name is escaped.

use std::fmt::Write;

use rostrace_analyze::comparison::{ComparedMetric, Comparison, Difference, Verdict};

use super::sentence::{better, change_sentence, worse};
use crate::quantity::{change, quantity, signed};
use rostrace_base::text::markup;

const COLOURS: &str = include_str!("../../assets/base/colours.css");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// What the page says of the recordings of one side.
#[derive(Debug, Clone, Default)]
pub struct Recorded {
    /// Where they are.
    pub recordings: Vec<String>,
    /// What was lost in them, as sentences; none if nothing was.
    pub damage: Vec<String>,
}

/// The whole file.
pub fn page(comparison: &Comparison, base: &Recorded, new: &Recorded) -> String {
    let mut html = String::with_capacity(32_768);
    let title = format!(
        "{} → {}",
        base.recordings.join(", "),
        new.recordings.join(", ")
    );
    let _ = write!(
        html,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{}</title>\n<style>\n{COLOURS}{STYLE}</style>\n</head>\n<body>\n",
        markup(&title)
    );
    head(&mut html, comparison, base, new);
    for (verdict, name, open) in [
        (Verdict::Worse, "Worse", true),
        (Verdict::Better, "Better", true),
    ] {
        section(&mut html, comparison, verdict, name, open);
    }
    structure(&mut html, comparison);
    section(
        &mut html,
        comparison,
        Verdict::Undecided,
        "Undecided",
        false,
    );
    section(&mut html, comparison, Verdict::Same, "Same", false);
    footer(&mut html, comparison);
    let _ = write!(html, "<script>\n{SCRIPT}</script>\n</body>\n</html>\n");
    html
}

fn head(html: &mut String, comparison: &Comparison, base: &Recorded, new: &Recorded) {
    let _ = writeln!(html, "<header>\n<h1>Comparison</h1>");
    for (side, recorded) in [("base", base), ("new", new)] {
        let names = markup(&recorded.recordings.join(", "));
        let _ = writeln!(
            html,
            "<p class=\"side\"><b>{side}</b> <bdi>{names}</bdi></p>"
        );
        for damage in &recorded.damage {
            let damage = markup(damage);
            let _ = writeln!(
                html,
                "<p class=\"damage\" role=\"alert\">{side}: {damage}</p>"
            );
        }
    }
    let _ = writeln!(html, "<ul class=\"counts\">");
    for (verdict, class, text) in [
        (Verdict::Worse, "worse", "worse"),
        (Verdict::Better, "better", "better"),
        (Verdict::Undecided, "undecided", "undecided"),
        (Verdict::Same, "same", "the same"),
    ] {
        let number = comparison.count(verdict);
        let _ = writeln!(html, "<li class=\"{class}\"><b>{number}</b> {text}</li>");
    }
    let _ = writeln!(html, "</ul>\n</header>");
}

fn section(
    html: &mut String,
    comparison: &Comparison,
    verdict: Verdict,
    name: &str,
    is_open: bool,
) {
    let number = comparison.count(verdict);
    if number == 0 {
        return;
    }
    let open = if is_open { " open" } else { "" };
    let class = verdict.name();
    let _ = writeln!(
        html,
        "<details class=\"{class}\"{open}>\n<summary>{name} ({number})</summary>\n<div class=\"wide\"><table>\n<thead><tr>\
         <th>what</th><th>metric</th><th class=\"n\">base</th><th class=\"n\">new</th><th class=\"n\">change</th>\
         <th>interval of the difference</th><th class=\"n\">effect</th><th class=\"n\">values</th></tr></thead>\n<tbody>"
    );
    for row in comparison.with(verdict) {
        line(html, row);
    }
    let _ = writeln!(html, "</tbody></table></div>\n</details>");
}

fn line(html: &mut String, row: &ComparedMetric) {
    let unit = row.unit;
    let said = match row.verdict {
        Verdict::Worse => worse(row.metric),
        Verdict::Better => better(row.metric),
        _ => "",
    };
    let was = match &row.base_name {
        Some(old) => format!("<small>was <bdi>{}</bdi></small>", markup(old)),
        None => String::new(),
    };
    let mark = match row.is_damaged() {
        true => format!(
            " <abbr class=\"lost\" title=\"{} values touched by lost events\">⚠</abbr>",
            row.base.damaged + row.new.damaged
        ),
        false => String::new(),
    };
    let _ = write!(
        html,
        "<tr><td><small>{}</small> <bdi>{}</bdi>{mark} {was}</td>",
        row.kind.name(),
        markup(&row.name)
    );
    let values = format!("{} → {}", row.base.values, row.new.values);
    let Some(main) = row.main().or(row.differences.first()) else {
        let _ = writeln!(
            html,
            "<td>{}</td><td colspan=\"5\">too few values</td><td class=\"n\" data-v=\"{}\">{values}</td></tr>",
            row.metric.name(),
            row.new.values
        );
        return;
    };
    let effect = row
        .cliffs_delta
        .map_or(String::new(), |it| format!("{it:+.2}"));
    let interval = main.interval.map_or_else(
        || "too few independent values".to_owned(),
        |(low, high)| {
            let text = format!("{} … {}", signed(low, unit), signed(high, unit));
            format!("{}<small>{}</small>", picture(main, &text), markup(&text))
        },
    );
    let changed = match main.ratio {
        Some(ratio) => change(ratio),
        None => signed(main.difference, unit),
    };
    let _ = writeln!(
        html,
        "<td>{} {} <small>{said}</small></td><td class=\"n\" data-v=\"{}\">{}</td><td class=\"n\" data-v=\"{}\">{}</td>\
         <td class=\"n\" data-v=\"{}\">{}</td><td data-v=\"{}\">{interval}</td><td class=\"n\" data-v=\"{}\">{effect}</td>\
         <td class=\"n\" data-v=\"{}\">{values}</td></tr>",
        row.metric.name(),
        main.statistic.phrase(),
        main.base,
        markup(&quantity(main.base, unit)),
        main.new,
        markup(&quantity(main.new, unit)),
        main.ratio.unwrap_or(main.difference),
        markup(&changed),
        main.difference,
        row.cliffs_delta.unwrap_or(0.0),
        row.new.values,
    );
}

/// Zero in the middle; the shaded band is what does not matter.
fn picture(difference: &Difference, text: &str) -> String {
    const HALF: f64 = 70.0;
    let (low, high) = difference.interval.unwrap_or((0.0, 0.0));
    let margin = difference.margin;
    let reach = [
        low.abs(),
        high.abs(),
        difference.difference.abs(),
        1.5 * margin,
    ];
    let reach = reach.into_iter().fold(f64::MIN_POSITIVE, f64::max);
    let x = |value: f64| HALF + (value / reach).clamp(-1.0, 1.0) * (HALF - 4.0);
    format!(
        "<svg viewBox=\"0 0 140 16\" width=\"140\" height=\"16\" role=\"img\" aria-label=\"{}\">\
         <rect class=\"band\" x=\"{:.1}\" y=\"2\" width=\"{:.1}\" height=\"12\"/>\
         <path class=\"zero\" d=\"M{HALF} 1V15\"/><path class=\"interval\" d=\"M{:.1} 8H{:.1}M{:.1} 4V12M{:.1} 4V12\"/>\
         <circle cx=\"{:.1}\" cy=\"8\" r=\"3\"/></svg>",
        markup(text),
        x(-margin),
        x(margin) - x(-margin),
        x(low),
        x(high),
        x(low),
        x(high),
        x(difference.difference)
    )
}

fn structure(html: &mut String, comparison: &Comparison) {
    if comparison.changes.is_empty() {
        return;
    }
    let number = comparison.changes.len();
    let _ = writeln!(
        html,
        "<details open>\n<summary>Appeared, disappeared, renamed ({number})</summary>\n<ul class=\"changes\">"
    );
    for change in &comparison.changes {
        let _ = writeln!(
            html,
            "<li><bdi>{}</bdi></li>",
            markup(&change_sentence(change))
        );
    }
    let _ = writeln!(html, "</ul>\n</details>");
}

fn footer(html: &mut String, comparison: &Comparison) {
    let options = &comparison.options;
    let _ = writeln!(
        html,
        "<footer><p>A difference is reported if its whole interval lies beyond the margin (the shaded band): {} % of the base value, and at \
         least {}. Intervals come from {} samples that were drawn again in blocks of neighbouring values; of the differences that are reported at \
         most {:.0} % should be chance. The effect is Cliff's delta: how much more often the new value of a pair is the larger one than the smaller \
         one.</p></footer>",
        (options.threshold * 1e5).round() / 1e3,
        markup(&quantity(
            options.floor as f64,
            rostrace_analyze::comparison::Unit::Nanoseconds
        )),
        options.resamples,
        options.level * 100.0,
    );
}

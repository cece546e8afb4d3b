//! The report: every part of it opens, sorts, filters, draws and saves, on every screen.

use serde_json::{Value, json};

use crate::browser::driver::Browser;
use crate::browser::opened::{Opened, report_of, show};
use crate::browser::{scenarios, title};

/// Every part of a report, and the first thing in each list.
pub(crate) const PLACES: &[&str] = &[
    "overview",
    "graph",
    "callbacks",
    "topics",
    "nodes",
    "paths",
    "processes",
    "schedule",
    "definitions",
];

fn first_detail(browser: &Browser, view: &str) -> Option<String> {
    let selector = json!(format!("#main a[href^='#{view}/']"));
    let link = browser.value(&format!(
        "document.querySelector({selector})?.getAttribute('href') ?? null"
    ));
    link.as_str()
        .map(|link| link.trim_start_matches('#').to_owned())
}

#[test]
fn every_part_of_every_report_opens_without_an_error() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    for scenario in scenarios() {
        let name = title(&scenario);
        let file = report_of(&scenario, folder.path());
        show(&browser, &file, "overview");
        for place in PLACES {
            browser.go(place);
            assert_eq!(
                browser.value(
                    "document.querySelector('#main .notice.bad:not(#damage)')?.textContent ?? null"
                ),
                Value::Null,
                "{name}: {place}"
            );
            if let Some(detail) = first_detail(&browser, place) {
                browser.go(&detail);
            }
            assert_eq!(browser.problems(), Vec::<String>::new(), "{name}: {place}");
        }
        std::fs::remove_file(&file).unwrap();
    }
}

#[test]
fn tables_sort_and_filter_and_links_land() {
    let Some(browser) = Opened::recorded("jazzy/multi_caret") else {
        return;
    };
    browser.show("callbacks");
    browser.wait("document.querySelectorAll('#main tbody tr').length > 1");
    let durations = || -> Vec<f64> {
        let values = browser.value("Array.from(document.querySelectorAll('#main td[data-column=duration_max_ns]'), (cell) => cell.dataset.value === '' ? null : Number(cell.dataset.value))");
        values
            .as_array()
            .unwrap()
            .iter()
            .filter_map(Value::as_f64)
            .collect()
    };
    let heading = "(() => { const index = Array.from(document.querySelector('#main tbody tr').cells).findIndex((cell) => cell.dataset.column === 'duration_max_ns'); document.querySelectorAll('#main thead th')[index].querySelector('button').click(); return true; })()";
    browser.value(heading);
    let first = durations();
    assert!(first.is_sorted_by(|a, b| a >= b), "{first:?}");
    browser.value(heading);
    let mut second = durations();
    assert!(second.is_sorted(), "{second:?}");
    second.reverse();
    assert_eq!(first.len(), second.len());

    let all = first.len();
    browser.write("#main input[type=search]", "timer");
    browser.wait(&format!(
        "document.querySelectorAll('#main tbody tr').length < {all}"
    ));
    let kinds = browser.value("Array.from(document.querySelectorAll('#main tbody tr'), (row) => row.textContent.includes('timer'))");
    assert!(
        kinds
            .as_array()
            .unwrap()
            .iter()
            .all(|it| it == &json!(true)),
        "{kinds}"
    );

    browser.go("overview");
    let links = browser.value("Array.from(document.querySelectorAll('#main .finding a'), (link) => link.getAttribute('href'))");
    for link in links.as_array().unwrap() {
        browser.go(link.as_str().unwrap().trim_start_matches('#'));
        assert_eq!(browser.problems(), Vec::<String>::new());
    }
    browser.write("#find", "timer");
    browser.click("#found a");
    browser.wait("document.getElementById('main').dataset.ready === 'callbacks'");
    assert_eq!(browser.problems(), Vec::<String>::new());
}

#[test]
fn charts_draw_and_can_be_saved() {
    let Some(browser) = Opened::recorded("jazzy/chain_caret") else {
        return;
    };
    browser.show("callbacks");
    browser.wait("document.querySelector('#main tbody a')");
    let detail = first_detail(&browser, "callbacks").unwrap();
    browser.go(&detail);
    // What is out of sight is not drawn.
    browser.value("(document.querySelector('#main figure.chart .plot').scrollIntoView(), true)");
    browser.wait("document.querySelector('#main .plot[data-drawn]')");
    assert_eq!(browser.value("document.querySelectorAll('#main .plot[data-drawn] .scatterlayer path.js-line, #main .plot[data-drawn] .point').length > 0"), json!(true));
    let save = |kind: &str| {
        let number = browser.value(&format!("Array.from(document.querySelectorAll('#main figure.chart .actions button')).findIndex((it) => it.textContent === {})", json!(kind)));
        browser.value(&format!("(document.querySelectorAll('#main figure.chart .actions button')[{number}].click(), true)"));
    };
    save("PNG");
    assert!(browser.download("png").starts_with(b"\x89PNG"));
    save("SVG");
    assert!(
        String::from_utf8(browser.download("svg"))
            .unwrap()
            .contains("<svg")
    );
    save("CSV");
    let numbers = String::from_utf8(browser.download("csv")).unwrap();
    assert!(numbers.lines().count() > 10, "{numbers}");
    assert_eq!(browser.problems(), Vec::<String>::new());
}

#[test]
fn it_is_looked_at_in_light_and_dark_on_narrow_and_wide_screens() {
    let Some(browser) = Opened::recorded("jazzy/multi_caret") else {
        return;
    };
    for (dark, width) in [(false, 1500), (true, 1500), (false, 390), (true, 390)] {
        browser.resize(width, 900);
        browser.dark(dark);
        browser.show("overview");
        let theme = if dark { "dark" } else { "light" };
        assert_eq!(
            browser.text("document.documentElement.dataset.theme"),
            theme
        );
        for place in PLACES {
            browser.go(place);
            let mut shown = vec![(*place).to_owned()];
            shown.extend(first_detail(&browser, place));
            for place in shown {
                browser.go(&place);
                // The page itself never scrolls sideways; wide tables do so inside.
                assert_eq!(
                    browser.value("document.documentElement.scrollWidth <= innerWidth"),
                    json!(true),
                    "{place} at {width}"
                );
                if browser.value("document.querySelector('#main figure.chart') !== null")
                    == json!(true)
                {
                    std::thread::sleep(std::time::Duration::from_millis(400));
                }
                browser.screenshot(&format!("{}-{theme}-{width}", place.replace('/', "-")));
            }
        }
        assert_eq!(browser.problems(), Vec::<String>::new());
    }
}

//! The timeline that is served.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Child;

use serde_json::json;

use crate::browser::driver::Browser;
use crate::browser::{scenarios, title};
use crate::support;
use crate::support::Says;

pub(crate) struct Served {
    program: Child,
    pub(crate) address: String,
}

impl Served {
    pub(crate) fn start(trace: &Path, options: &[&str]) -> Served {
        let mut arguments = vec!["timeline", trace.to_str().unwrap(), "--no-browser"];
        arguments.extend(options);
        let mut program = support::spawn(&arguments);
        let mut address = String::new();
        let mut out = BufReader::new(program.stdout.take().unwrap());
        out.read_line(&mut address).unwrap();
        Served {
            program,
            address: address.trim().to_owned(),
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

#[test]
fn every_timeline_opens_zooms_and_explains_without_an_error() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let scenarios = scenarios();
    let mut explained = 0;
    for scenario in &scenarios {
        let name = title(scenario);
        let served = Served::start(scenario, &[]);
        browser.open(&served.address);
        browser.wait("window.rostrace?.ready");
        assert_eq!(
            browser.value("rostrace.error ?? null"),
            json!(null),
            "{name}"
        );
        // The token is no longer in the address, and what is shown survives a reload.
        assert_eq!(browser.value("location.search"), json!(""), "{name}");
        let lanes = browser.value("rostrace.lanes.length");
        assert!(lanes.as_u64().unwrap() > 0, "{name}");

        let whole = browser
            .value("rostrace.view.to - rostrace.view.from")
            .as_f64()
            .unwrap();
        browser.wheel(800, 300, -600);
        browser.wait(&format!(
            "rostrace.view.to - rostrace.view.from < {}",
            whole * 0.9
        ));
        browser.wait("rostrace.ready");
        browser.value("(rostrace.select(0), true)");
        browser.wait("document.body.dataset.selected === '0' && rostrace.ready");
        // An execution whose end is not in the trace has no explanation.
        let reasons = browser.value("document.querySelectorAll('[data-cause]').length");
        explained += u64::from(reasons.as_u64().unwrap() > 0);
        assert_eq!(
            browser.value("rostrace.error ?? null"),
            json!(null),
            "{name}"
        );
        assert_eq!(browser.problems(), Vec::<String>::new(), "{name}");
        // The page must be gone before its server is.
        browser.open("about:blank");
        browser.problems();
    }
    assert!(explained * 2 > scenarios.len() as u64, "{explained}");
}

#[test]
fn a_reload_works_and_a_second_visitor_is_refused() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Some(shared) = support::shared_recordings() else {
        return;
    };
    let served = Served::start(&shared.join("jazzy/chain_caret"), &["--at", "+4s"]);
    browser.open(&served.address);
    browser.wait("window.rostrace?.ready && rostrace.selected");
    for (dark, width) in [(false, 1500), (true, 1500), (false, 390)] {
        browser.resize(width, 850);
        browser.dark(dark);
        browser.wait("rostrace.ready");
        std::thread::sleep(std::time::Duration::from_millis(300));
        browser.screenshot(&format!(
            "timeline-{}-{width}",
            if dark { "dark" } else { "light" }
        ));
    }
    let here = browser.text("location.href");
    browser.open(&here);
    browser.wait("window.rostrace?.ready");
    assert_eq!(browser.problems(), Vec::<String>::new());

    let Some(other) = Browser::start() else {
        return;
    };
    other.open(&served.address);
    assert_eq!(other.value("window.rostrace === undefined"), json!(true));
    let reported = other.text("document.body.textContent");
    reported.says("press Enter in the terminal");
    other.open(&here);
    assert_eq!(other.value("window.rostrace === undefined"), json!(true));
}

//! A report in the browser: what most of the tests begin with.

use std::ops::Deref;
use std::path::{Path, PathBuf};

use serde_json::json;
use tempfile::TempDir;

use crate::browser::driver::Browser;
use crate::browser::title;
use crate::support;

/// Writes the report of a recording; a recording with losses ends with 3.
pub(crate) fn report_of(trace: &Path, folder: &Path) -> PathBuf {
    let file = folder.join(format!("{}.html", title(trace)));
    let arguments = [
        "report",
        trace.to_str().unwrap(),
        "-o",
        file.to_str().unwrap(),
    ];
    let output = support::rostrace(&arguments).output().unwrap();
    let status = output.status.code();
    assert!(
        matches!(status, Some(0 | 3)),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    file
}

/// Shows a part of a report, and waits until it is there.
pub(crate) fn show(browser: &Browser, report: &Path, place: &str) {
    browser.open_file(report, place);
    let place = json!(place);
    browser.wait(&format!(
        "document.getElementById('main').dataset.ready === {place}"
    ));
}

/// A browser and the report that it shows.
pub(crate) struct Opened {
    browser: Browser,
    report: PathBuf,
    _folder: TempDir,
}

impl Opened {
    /// The report of a recording of ours; nothing where there is no browser, or no recordings.
    pub(crate) fn recorded(name: &str) -> Option<Opened> {
        let browser = Browser::start()?;
        let trace = support::shared_recordings()?.join(name);
        Some(Opened::of(browser, |_| trace))
    }

    /// The report of a recording that is made up in a folder; nothing where there is no browser.
    pub(crate) fn made_up(make_up: impl FnOnce(&Path) -> PathBuf) -> Option<Opened> {
        Some(Opened::of(Browser::start()?, make_up))
    }

    /// The report of a recording that is packed; nothing where there is no browser, or no recording.
    pub(crate) fn packed(name: &str) -> Option<Opened> {
        let browser = Browser::start()?;
        let (unpacked, _) = rostrace_testkit::recordings::unpack(name)?;
        Some(Opened::of(browser, |_| unpacked.path().to_owned()))
    }

    fn of(browser: Browser, trace: impl FnOnce(&Path) -> PathBuf) -> Opened {
        let folder = tempfile::tempdir().unwrap();
        let trace = trace(folder.path());
        let report = report_of(&trace, folder.path());
        Opened {
            browser,
            report,
            _folder: folder,
        }
    }

    pub(crate) fn show(&self, place: &str) {
        show(&self.browser, &self.report, place);
    }
}

impl Deref for Opened {
    type Target = Browser;

    fn deref(&self) -> &Browser {
        &self.browser
    }
}

//! What a report looks like says what is in it: a thread that is hardly busy does not look busy, the path page opens with the why, tables and
//! names are not cut, points lead to what they stand for, and it prints.

use serde_json::json;

use crate::browser::opened::Opened;
use crate::support;
use crate::support::Says;

/// The largest share of pixels with a strong colour of all lanes of the schedule that is in view.
const STRONG: &str = "(() => { \
    const canvas = document.querySelector('.timeview canvas'); \
    const scale = canvas.width / canvas.clientWidth; \
    const [left, right] = [canvas.width * 0.35, canvas.width * 0.95].map(Math.round); \
    let most = 0; \
    for (let lane = 0; lane < 4; lane += 1) { \
        const top = Math.round((3 + lane * 26 + 10) * scale); \
        const { data } = canvas.getContext('2d').getImageData(left, top, right - left, Math.round(8 * scale)); \
        let strong = 0; \
        for (let at = 0; at < data.length; at += 4) { \
            const [low, high] = [Math.min(data[at], data[at + 1], data[at + 2]), Math.max(data[at], data[at + 1], data[at + 2])]; \
            if (data[at + 3] > 60 && (high - low) * data[at + 3] / 255 > 60) strong += 1; \
        } \
        most = Math.max(most, strong / (data.length / 4)); \
    } \
    return most; })()";

#[test]
fn a_schedule_looks_as_busy_as_it_is() {
    let Some(browser) = Opened::packed("jazzy/load_1m_caret.tar.zst") else {
        return;
    };
    // Four threads that are in callbacks for about a sixteenth of the time, in thousands of executions a second.
    browser.show("schedule");
    browser.wait("document.querySelector('.timeview canvas')?.width > 300");
    std::thread::sleep(std::time::Duration::from_millis(300));
    browser.screenshot("schedule-load");
    let strong = browser.number(STRONG);
    assert!(strong > 0.0 && strong < 0.3, "{strong}");
    // Processes are named by their nodes.
    let lanes =
        browser.value("document.querySelector('figure.chart').shownLoad().map((it) => it.label)");
    for lane in lanes.as_array().unwrap() {
        assert!(lane.as_str().unwrap().starts_with("/w"), "{lanes}");
    }
}

#[test]
fn a_path_opens_with_the_stages_over_time_and_the_why() {
    let Some(browser) = Opened::recorded("jazzy/chain_caret") else {
        return;
    };
    browser.resize(1400, 900);
    browser.show("paths");
    browser.wait("document.querySelector('#main tbody a')");
    let first = browser.text("document.querySelector('#main tbody a').getAttribute('href')");
    browser.go(first.trim_start_matches('#'));
    browser.wait("document.querySelector('[data-section=over-time] .plot[data-drawn]')");
    browser.screenshot("path-top");
    for part in ["[data-section=over-time]", "[data-worst='0']"] {
        let bottom = browser.number(&format!(
            "document.querySelector({}).getBoundingClientRect().bottom",
            json!(part)
        ));
        assert!(bottom < 900.0, "{part}: {bottom}");
    }
    // The largest part of the slowest message, in words.
    let why = browser.text("document.querySelector('[data-worst=\"0\"] .mostly li').textContent");
    why.says("execution of /filter ← /raw_a");
    // A bar leads to its message.
    browser.value("(document.querySelector('[data-section=over-time] .plot').emit('plotly_click', { points: [{ curveNumber: 0, pointIndex: 5 }] }), true)");
    browser.wait("(() => { const { top } = document.querySelector('[data-message]').closest('.card').getBoundingClientRect(); return top > -200 && top < 700; })()");
    assert_eq!(browser.problems(), Vec::<String>::new());
}

#[test]
fn no_table_of_callbacks_is_cut_and_names_keep_their_ends() {
    let Some(browser) = Opened::recorded("jazzy/names") else {
        return;
    };
    for width in [2200, 1900, 1700, 1500, 1300, 1000, 800] {
        browser.resize(width, 900);
        browser.show("callbacks");
        browser.wait("document.querySelector('#main tbody tr')");
        let room = browser.value("(() => { const it = document.querySelector('#callbacks .scroll'); return [it.scrollWidth, it.clientWidth]; })()");
        assert!(room[0].as_u64() <= room[1].as_u64(), "{width}: {room}");
        // Whatever is cut is the middle, and the whole name is the title.
        let cut = browser.value("Array.from(document.querySelectorAll('#main td .clip')).filter((it) => it.title !== it.textContent || it.lastElementChild.scrollWidth > it.lastElementChild.clientWidth + 1).map((it) => it.title)");
        assert_eq!(cut, json!([]), "{width}");
    }
    browser.screenshot("callbacks-800");
    assert_eq!(browser.problems(), Vec::<String>::new());
}

#[test]
fn points_lead_to_their_executions_and_axes_become_logarithmic() {
    let Some(browser) = Opened::recorded("jazzy/chain_caret") else {
        return;
    };
    browser.show("callbacks");
    browser.wait("document.querySelector('#main tbody a')");
    let first = browser.text("document.querySelector('#main tbody a').getAttribute('href')");
    browser.go(first.trim_start_matches('#'));
    let chart = "document.querySelector('[data-chart=\"Duration over time\"]')";
    browser.value(&format!("({chart}.scrollIntoView(), true)"));
    browser.wait(&format!("{chart}.querySelector('.plot[data-drawn]')"));
    let axis = format!("{chart}.querySelector('.plot')._fullLayout.yaxis.type");
    assert_eq!(browser.value(&axis), json!("linear"));
    browser.value(&format!(
        "({chart}.querySelector('button.log').click(), true)"
    ));
    browser.wait(&format!("{axis} === 'log'"));
    assert_eq!(
        browser.value(&format!(
            "{chart}.querySelector('button.log').getAttribute('aria-pressed')"
        )),
        json!("true")
    );
    browser.value(&format!("(window.at = {chart}.querySelector('.plot').data[0].x[7], {chart}.querySelector('.plot').emit('plotly_click', {{ points: [{{ curveNumber: 0, pointIndex: 7 }}] }}), true)"));
    browser.wait("location.hash.startsWith('#schedule/callback/') && document.querySelector('[data-instance]:not([hidden])')");
    let apart =
        browser.number("Math.abs(Number(location.hash.split('/').at(-1)) / 1e9 - window.at)");
    assert!(apart < 1e-6, "{apart}");
    assert_eq!(browser.problems(), Vec::<String>::new());
}

/// A message leads to the execution that it started, a publication to what published it.
#[test]
fn points_of_topics_lead_to_their_instance() {
    let Some(browser) = Opened::recorded("jazzy/chain_caret") else {
        return;
    };
    browser.show("topics");
    browser.go("topics/%2Fraw_a");
    let click = |title: &str, curve: usize| {
        let chart = format!("document.querySelector('[data-chart=\"{title}\"]')");
        browser.value(&format!("({chart}.scrollIntoView(), true)"));
        browser.wait(&format!("{chart}.querySelector('.plot.leads[data-drawn]')"));
        browser.value(&format!("(window.point = ((it) => [it.x[7], it.y[7]])({chart}.querySelector('.plot').data[{curve}]), {chart}.querySelector('.plot').emit('plotly_click', {{ points: [{{ curveNumber: {curve}, pointIndex: 7 }}] }}), true)"));
        browser.wait("location.hash.startsWith('#schedule/') && document.querySelector('[data-instance]:not([hidden])')");
    };
    let at = "Number(location.hash.split('/').at(-1)) / 1e9";
    click("Latency over time", 0);
    // The chart has seconds, and a duration in its own unit: the execution is later than the publication.
    assert_eq!(
        browser.value("location.hash.startsWith('#schedule/callback/')"),
        json!(true)
    );
    let after = browser.number(&format!("{at} - window.point[0]"));
    assert!((0.0..0.1).contains(&after), "{after}");
    assert_eq!(
        browser.text("document.querySelector('[data-instance] h3').textContent"),
        "/filter ← /raw_a"
    );
    browser.go("topics/%2Fraw_a");
    // The publisher comes first.
    click("Period over time", 0);
    let apart = browser.number(&format!("Math.abs({at} - window.point[0])"));
    assert!(apart < 1e-6, "{apart}");
    assert_eq!(
        browser.text("document.querySelector('[data-instance] h3').textContent"),
        "/sensors · timer 20 ms"
    );
    browser.go("topics/%2Fraw_a");
    click("Period over time", 1);
    assert_eq!(
        browser.value("location.hash.startsWith('#schedule/callback/')"),
        json!(true)
    );
    assert_eq!(browser.problems(), Vec::<String>::new());
}

#[test]
fn it_prints_on_white_without_what_only_a_mouse_can_use() {
    let Some(browser) = Opened::recorded("jazzy/chain_caret") else {
        return;
    };
    browser.dark(true);
    browser.show("callbacks");
    browser.wait("document.querySelector('#main tbody a')");
    browser.medium("print");
    browser.wait("matchMedia('print').matches");
    let seen = "Array.from(document.querySelectorAll('#main button, #main input, #main select, #tabs, .tools')).filter((it) => it.getClientRects().length > 0 && !it.closest('th')).length";
    assert_eq!(browser.value(seen), json!(0));
    assert_eq!(
        browser.value("getComputedStyle(document.body).backgroundColor"),
        json!("rgb(255, 255, 255)")
    );
    browser.screenshot("callbacks-printed");
    browser.medium("");
    let file = browser.print();
    assert!(
        file.starts_with(b"%PDF") && file.len() > 20_000,
        "{}",
        file.len()
    );
}

#[test]
fn times_in_which_events_are_missing_are_reported_and_shown() {
    let Some(shared) = support::shared_recordings() else {
        return;
    };
    let chain = shared.join("jazzy/chain");
    let truncated = |folder: &std::path::Path| {
        let copy = folder.join("chain");
        let mut command = std::process::Command::new("cp");
        command
            .arg("-r")
            .arg("--no-preserve=mode")
            .args([&chain, &copy]);
        assert!(command.status().unwrap().success());
        let stream = copy.join("ust/uid/0/64-bit/ros2_1");
        let stream = std::fs::OpenOptions::new()
            .write(true)
            .open(stream)
            .unwrap();
        stream.set_len(100_000).unwrap();
        copy
    };
    let Some(browser) = Opened::made_up(truncated) else {
        return;
    };
    browser.show("overview");
    let reported = browser.text("document.getElementById('lost-times').textContent");
    reported.says("+2.712");
    let command = browser.text("document.querySelector('#damage code').textContent");
    assert!(command.starts_with("rostrace info /"), "{command}");
    browser.go("schedule");
    let hints = browser.text("document.getElementById('main').textContent");
    hints.says("Red background: events are missing then");
    assert_eq!(browser.problems(), Vec::<String>::new());
}

#[test]
fn the_first_thing_that_a_report_says_is_what_to_change() {
    let Some(browser) = Opened::recorded("jazzy/timers") else {
        return;
    };
    browser.resize(1400, 1000);
    browser.show("overview");
    browser.wait("document.querySelector('#main .changes .change')");
    browser.screenshot("overview-changes");
    let first = browser.value("document.querySelector('#changes').compareDocumentPosition(document.querySelector('.findings')) & Node.DOCUMENT_POSITION_FOLLOWING");
    assert_eq!(first, json!(4), "findings come behind it");
    let sentence = browser.text(
        "Array.from(document.querySelectorAll('.change .sentence'), (it) => it.textContent).find((it) => it.startsWith('Move '))",
    );
    sentence.says("/slow_timers · timer 10 ms off the thread of /slow_timers · timer 5 ms: ");
    sentence.says("of its lateness (");
    let command = browser.text("document.querySelector('.change .command').textContent");
    command.says("rostrace why ");
    command.says(" --callback ");
    let links = browser.value(
        "Array.from(document.querySelectorAll('#changes .change a'), (link) => link.getAttribute('href'))",
    );
    assert!(!links.as_array().unwrap().is_empty());
    for link in links.as_array().unwrap() {
        let link = link.as_str().unwrap();
        link.says("#callbacks/");
        browser.go(link.trim_start_matches('#'));
        assert_eq!(browser.problems(), Vec::<String>::new());
    }
}

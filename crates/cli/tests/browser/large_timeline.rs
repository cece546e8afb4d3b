//! The timeline of a large system: what is asked of 454 threads is to be seen without looking through them.

use serde_json::{Value, json};

use crate::browser::driver::Browser;
use crate::browser::timeline::Served;
use crate::support;

fn words(value: &Value) -> Vec<String> {
    let list = value.as_array().unwrap().iter();
    list.map(|it| it.as_str().unwrap().to_owned()).collect()
}

/// Names of what is laid out of one kind, from the top.
fn names(browser: &Browser, kind: &str) -> Vec<String> {
    words(&browser.value(&format!(
        "rostrace.layout.filter((it) => it.kind === '{kind}').map((it) => it.name)"
    )))
}

/// Numbers of the lanes that are laid out, from the top.
fn numbers(browser: &Browser, key: &str) -> Vec<f64> {
    let found = browser.value(&format!(
        "rostrace.layout.filter((it) => it.kind === 'lane').map((it) => it.{key})"
    ));
    let list = found.as_array().unwrap().iter();
    list.map(|it| it.as_f64().unwrap()).collect()
}

#[test]
fn hundreds_of_threads_are_sorted_folded_filtered_and_pinned() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Some((folder, _)) =
        rostrace_testkit::recordings::unpack("public/autoware-carla-galactic.tar.zst")
    else {
        return;
    };
    let served = Served::start(folder.path(), &[]);
    browser.open(&served.address);
    browser.wait("window.rostrace?.ready");
    let threads = browser
        .number("rostrace.trace.threads.reduce((sum, group) => sum + group.lanes.length, 0)");
    assert!(threads > 400.0, "{threads}");

    // The busiest is on top, under the name of its container and not under that of its program.
    let busy = numbers(&browser, "busy");
    let most = browser.number("Math.max(...rostrace.trace.threads.flatMap((group) => group.lanes.map((lane) => lane.busy)))");
    assert_eq!(busy[0], most);
    let lanes = names(&browser, "lane");
    assert!(
        lanes[0].ends_with("behavior_planning_container"),
        "{}",
        lanes[0]
    );
    let everything = [names(&browser, "group"), lanes].concat();
    let is_program = |name: &&String| name.starts_with("component_conta");
    assert_eq!(everything.iter().find(is_program), None);
    // Listeners of transforms are one heading at the end, threads that do the same are folded, and the rest fits on few screens.
    assert_eq!(
        everything
            .iter()
            .filter(|name| *name == "Listeners of /tf")
            .count(),
        1
    );
    assert!(browser.value("rostrace.layout.some((it) => it.kind === 'more')") == json!(true));
    assert!(busy.len() < 100, "{}", busy.len());
    assert!(browser.number("rostrace.hidden.builtIn") > 100.0);
    browser.screenshot("timeline-large");

    // By the longest execution.
    browser.value("(() => { const it = document.getElementById('sort'); it.value = 'worst'; it.dispatchEvent(new Event('change')); })()");
    let longest = numbers(&browser, "longest");
    let most = browser.number("Math.max(...rostrace.trace.threads.flatMap((group) => group.lanes.map((lane) => lane.longest)))");
    assert_eq!(longest[0], most);

    // A moment: only lanes with something in it, also with what began long before.
    browser.value("(rostrace.setView(90e9, 90.2e9), true)");
    browser.wait("rostrace.hidden.idle > 100 && rostrace.ready");
    let lanes = names(&browser, "lane");
    assert!(lanes.len() < 20, "{lanes:?}");
    assert!(
        lanes
            .iter()
            .any(|name| name.ends_with("behavior_planning_container")),
        "{lanes:?}"
    );
    browser.press("i");
    browser.wait("rostrace.hidden.idle === 0");

    // By name: of the process, of a node, or of a callback.
    browser.value("(document.getElementById('filter').focus(), true)");
    for letter in ["n", "d", "t", "_", "s", "c", "a", "n"] {
        browser.press(letter);
    }
    browser.wait("rostrace.hidden.filtered > 100");
    let lanes = names(&browser, "lane");
    assert!(!lanes.is_empty() && lanes.len() < 20, "{lanes:?}");
    browser.press("Escape");
    browser.wait("rostrace.hidden.filtered === 0");

    // A pinned lane is the first, also after a reload.
    browser.value("(window.pinned = rostrace.layout.filter((it) => it.kind === 'lane').at(-1).track, rostrace.pin(window.pinned), true)");
    browser
        .wait("rostrace.layout[0].name === 'Pinned' && rostrace.layout[1].track === window.pinned");
    let track = browser.number("window.pinned");
    browser.wait(&format!("location.hash.endsWith(',{track}')"));
    let here = browser.text("location.href");
    browser.open("about:blank");
    browser.open(&here);
    browser.wait(&format!(
        "window.rostrace?.ready && rostrace.layout[1].track === {track}"
    ));
    assert_eq!(browser.problems(), Vec::<String>::new());
    browser.open("about:blank");
}

#[test]
fn the_longest_execution_is_found_wherever_it_is() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Some(shared) = support::shared_recordings() else {
        return;
    };
    let served = Served::start(&shared.join("jazzy/executors_caret"), &[]);
    browser.open(&served.address);
    browser.wait("window.rostrace?.ready");
    // Neither a filter that hides it nor a closed heading is in the way.
    browser.value("(() => { const it = document.getElementById('filter'); it.value = 'nothing is called so'; it.dispatchEvent(new Event('input')); })()");
    browser.wait("rostrace.layout.length === 0");
    let mut before = f64::INFINITY;
    for round in 0..3 {
        browser.value("(document.getElementById('scroller').focus(), window.before = rostrace.selected?.place.id, true)");
        browser.press("g");
        browser.wait(
            "rostrace.selected && rostrace.selected.place.id !== window.before && rostrace.ready",
        );
        let length = browser.number("rostrace.selected.place.length");
        assert!(length <= before, "{length} is not less than {before}");
        if round == 0 {
            let most = browser.number("Math.max(...rostrace.trace.callbacks.flatMap((group) => group.lanes.map((lane) => lane.longest)))");
            assert_eq!(length, most);
            let reported = browser.text("document.querySelector('#panel .beside').textContent");
            assert!(
                reported.starts_with("usual ") && reported.contains(" longest of "),
                "{reported}"
            );
        }
        let is_seen = "rostrace.lanes.some((lane) => lane.spans.some((span) => span.instance === rostrace.selected.place.id))";
        browser.wait(is_seen);
        before = length;
    }
    // `l` shows what the signs mean.
    browser.press("l");
    browser.wait("document.getElementById('signs').open && document.querySelectorAll('#signs-list dd').length >= 8");
    browser.screenshot("timeline-legend");
    assert_eq!(browser.problems(), Vec::<String>::new());
    browser.open("about:blank");
}

#[test]
fn a_marked_range_is_counted_and_a_dropped_message_says_why() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Some(shared) = support::shared_recordings() else {
        return;
    };
    let served = Served::start(&shared.join("jazzy/multi"), &[]);
    browser.open(&served.address);
    browser.wait("window.rostrace?.ready");
    let (from, to) = (
        browser.point("#axis", 0.4, 0.5),
        browser.point("#axis", 0.8, 0.5),
    );
    browser.drag(from, to, false);
    browser.wait("document.querySelectorAll('table.range tbody tr').length > 5");
    browser.screenshot("timeline-range");
    // The rows add up to what stands above them, and the worst is a link to itself.
    assert_eq!(
        browser.value("Array.from(document.querySelectorAll('table.range tbody tr'), (row) => Number(row.dataset.count)).reduce((a, b) => a + b).toLocaleString('en')"),
        browser.value("document.querySelectorAll('#panel .big b')[1].textContent")
    );
    let drops = browser.number("Array.from(document.querySelectorAll('table.range tbody tr'), (row) => Number(row.dataset.drops)).reduce((a, b) => a + b)");
    assert!(drops > 50.0, "{drops}");
    let worst =
        browser.number("Number(document.querySelector('table.range tbody tr').dataset.worst)");
    browser.click("table.range tbody tr td button");
    browser.wait("rostrace.selected && rostrace.ready");
    assert_eq!(browser.number("rostrace.selected.duration"), worst);
    // Escape first takes the range away, then the selection.
    browser.press("Escape");
    browser.press("Escape");
    browser.wait("!rostrace.selected && document.getElementById('panel').hidden");

    browser.press("v");
    browser.press("0");
    browser.wait("rostrace.mode === 'callbacks' && rostrace.ready");
    browser.value("(document.getElementById('scroller').scrollTop = 1e6, true)");
    browser.wait("rostrace.ready && rostrace.lanes.some((lane) => lane.drops.length > 0)");
    let drop = browser.value("rostrace.lanes.flatMap((lane) => lane.drops)[0]");
    let place = |key: &str| drop[key].as_f64().unwrap().round() as i64;
    let at = (place("x"), place("y"));
    browser.drag(at, at, false);
    browser.wait("rostrace.dropped && document.querySelector('#panel[data-kind=dropped]')");
    assert_eq!(
        browser.value("document.querySelector('#panel [data-cause]').dataset.cause"),
        json!("history_full")
    );
    let reported = browser.text("document.querySelector('#panel .alarm').textContent");
    assert!(
        reported.starts_with("The subscription keeps 1 message,"),
        "{reported}"
    );
    let first = browser.number("rostrace.dropped.published");
    browser.click("#panel .actions button:last-child");
    browser.wait(&format!("rostrace.dropped.published > {first}"));
    // What its thread did meanwhile is a link.
    browser.click("#panel button.message");
    browser.wait("rostrace.selected && !rostrace.dropped");
    assert_eq!(
        browser.value("rostrace.selected.name"),
        json!("/slowpoke ← /burst")
    );
    assert_eq!(browser.problems(), Vec::<String>::new());
    browser.open("about:blank");
}

//! Without a mouse: everything can be reached with Tab, is seen when it has the focus, and does what it should with Enter.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::browser::opened::Opened;

/// What a person could use with a mouse, in the open.
const USABLE: &str = "Array.from(document.querySelectorAll('header a[href], header input, header select, header button, #main a[href], #main button, #main input, #main select, #main summary, #main [tabindex=\"0\"]')).filter((it) => it.tabIndex >= 0 && it.getClientRects().length > 0 && !it.hidden && !it.closest('.plot') && getComputedStyle(it).visibility !== 'hidden')";

#[test]
fn everything_is_reached_with_tab_and_seen() {
    let Some(browser) = Opened::recorded("jazzy/pingpong") else {
        return;
    };
    for place in ["overview", "graph", "callbacks", "paths", "schedule"] {
        browser.show(place);
        if place == "graph" {
            browser.wait("document.querySelector('svg.graph[data-drawn]')");
        }
        let number = browser.number(&format!("(window.usable = {USABLE}).length")) as usize;
        assert!(number > 10, "{place}");
        let mut reached = BTreeSet::new();
        for _ in 0..number + 10 {
            browser.press("Tab");
            let reported = browser.value("(() => { const it = document.activeElement; const style = getComputedStyle(it); const body = it.querySelector?.('.body'); const seen = (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0) || (body && parseFloat(getComputedStyle(body).strokeWidth) > 2); return [window.usable.indexOf(it), seen, it.outerHTML.slice(0, 120)]; })()");
            let Some(index) = reported[0].as_u64() else {
                continue;
            };
            assert_eq!(
                reported[1],
                json!(true),
                "{place}: the focus is not seen: {}",
                reported[2]
            );
            reached.insert(index);
        }
        let missed: Vec<Value> = (0..number as u64)
            .filter(|index| !reached.contains(index))
            .map(|index| browser.value(&format!("window.usable[{index}].outerHTML.slice(0, 160)")))
            .collect();
        assert!(missed.is_empty(), "{place}: Tab never reaches {missed:?}");
    }
    assert_eq!(browser.problems(), Vec::<String>::new());
}

#[test]
fn keys_find_open_and_close() {
    let Some(browser) = Opened::recorded("jazzy/multi") else {
        return;
    };
    browser.show("overview");

    // The skip link is the first, and leads to the content.
    browser.press("Tab");
    assert_eq!(
        browser.value("document.activeElement.className"),
        json!("skip")
    );
    browser.press("Enter");
    browser.wait("document.activeElement.id === 'main'");
    assert_eq!(
        browser.value("document.querySelector('#main .view')?.dataset.view"),
        json!("overview")
    );

    browser.press("/");
    browser.wait("document.activeElement.id === 'find'");
    assert_eq!(
        browser.value("document.getElementById('find').value"),
        json!("")
    );
    for letter in ["c", "h", "a", "t"] {
        browser.press(letter);
    }
    browser.wait("document.querySelectorAll('#found a').length > 1");
    browser.press("Escape");
    browser.wait("document.getElementById('found').hidden");
    browser.press("t");
    browser.wait("!document.getElementById('found').hidden");
    browser.value("(() => { const field = document.getElementById('find'); field.value = 'talker'; field.dispatchEvent(new Event('input')); return true; })()");
    browser
        .value("(window.wanted = document.querySelector('#found a').getAttribute('href'), true)");
    browser.press("Enter");
    browser.wait("location.hash === window.wanted");

    // Tabs and tables.
    browser.value("(document.querySelector('#tabs a[data-view=callbacks]').focus(), true)");
    browser.press("Enter");
    browser.wait("document.querySelector('#main .view')?.dataset.view === 'callbacks'");
    browser.value("(document.querySelector('#main th button').focus(), true)");
    browser.press("Enter");
    browser.wait("document.querySelector('#main th[aria-sort]')");
    browser.value("(document.querySelector('#main tbody a').focus(), window.wanted = document.activeElement.getAttribute('href'), true)");
    browser.press("Enter");
    browser.wait("location.hash === window.wanted");

    // The graph: a node is chosen, its panel closed, a namespace closed and opened; the focus is not lost.
    browser.go("graph");
    browser.wait("document.querySelector('svg.graph[data-drawn]')");
    browser.value("(document.querySelector('svg.graph .box.node').focus(), true)");
    browser.press("Enter");
    browser.wait("!document.querySelector('.graph-panel').hidden");
    browser.press("Escape");
    browser.wait("document.querySelector('.graph-panel').hidden");
    browser.value("(document.querySelector('svg.graph .cluster .toggle').focus(), true)");
    browser.press("Enter");
    browser.wait("document.querySelector('svg.graph .box.namespace') && document.activeElement.closest('.box.namespace')");
    browser.press("Enter");
    browser.wait("!document.querySelector('svg.graph .box.namespace')");
    browser.wait("document.activeElement.closest('svg.graph')");
    assert_eq!(browser.problems(), Vec::<String>::new());
}

//! Zooming: Plotly's charts, our own drawings, the graph; and what the x axis shows.

use serde_json::json;

use crate::browser::driver::Browser;
use crate::browser::made_up;
use crate::browser::opened::Opened;
use crate::support::Says;

#[test]
fn charts_zoom_and_come_back() {
    let Some(browser) = Opened::recorded("jazzy/chain_caret") else {
        return;
    };
    browser.show("callbacks");
    browser.wait("document.querySelector('#main tbody a')");
    let link = browser.text("document.querySelector('#main tbody a').getAttribute('href')");
    let drawing = "#main .plot .nsewdrag";
    browser.go(link.trim_start_matches('#'));
    browser.wait("document.querySelector('#main .plot')");
    browser.point("#main .plot", 0.5, 0.5);
    browser.wait("document.querySelector('#main .plot[data-drawn] .nsewdrag')");
    // On a busy machine a double click is two clicks, of which each would lead to what it hits.
    browser
        .value("(document.querySelector('#main .plot').removeAllListeners('plotly_click'), true)");
    let width = "((range) => range ? range[1] - range[0] : -1)(document.querySelector('#main .plot')?.layout?.xaxis.range)";
    let whole = browser.number(width);
    browser.drag(
        browser.point(drawing, 0.3, 0.5),
        browser.point(drawing, 0.6, 0.5),
        false,
    );
    browser.wait(&format!("{width} < {}", whole * 0.5));
    let part = browser.number(width) / whole;
    assert!((part - 0.3).abs() < 0.05, "{part}");
    browser.repeat(&format!("{width} > {}", whole * 0.99), || {
        browser.double_click(browser.point(drawing, 0.5, 0.03));
    });
    assert_eq!(browser.problems(), Vec::<String>::new());
}

/// Zooms one of our own drawings in every way that it knows.
fn zoom_drawing(browser: &Browser, what: &str) {
    browser.wait("document.querySelector('#main canvas.over[data-drawn]')");
    let over = "document.querySelector('#main canvas.over')";
    let view = || {
        let from = browser.number(&format!("Number({over}.dataset.from)"));
        (from, browser.number(&format!("Number({over}.dataset.to)")))
    };
    let until = |condition: &str| {
        browser.wait(&format!(
            "((from, to) => {condition})(Number({over}.dataset.from), Number({over}.dataset.to))"
        ))
    };
    browser.value("(document.querySelector('#main .timeview .scroller').focus(), true)");
    browser.press("0");
    browser.wait(&format!("Number({over}.dataset.from) === 0"));
    let (begin, end) = view();
    let whole = end - begin;

    browser.press("+");
    until(&format!("Math.abs((to - from) / {whole} - 0.5) < 0.01"));
    let (from, _) = view();
    browser.press("ArrowRight");
    until(&format!("from > {from} + {whole} * 0.09"));
    browser.press("ArrowLeft");
    until(&format!("Math.abs(from - {from}) < {whole} * 0.001"));
    browser.press("-");
    until(&format!("to - from >= {whole} * 0.999"));

    let (x, y) = browser.point("#main canvas.over", 0.7, 0.5);
    browser.wheel(x, y, -300);
    until(&format!("to - from < {whole} * 0.9"));
    browser.press("0");
    until(&format!("to - from >= {whole} * 0.999"));

    let (from, to) = (
        browser.point("#main canvas.over", 0.5, 0.4),
        browser.point("#main canvas.over", 0.7, 0.4),
    );
    browser.drag(from, to, true);
    until(&format!("to - from < {whole} * 0.5"));
    let (from, to) = view();
    assert!(
        from > begin && to < end,
        "{what}: {from} to {to} of {whole}"
    );
    // Without shift it moves.
    browser.drag(
        browser.point("#main canvas.over", 0.7, 0.4),
        browser.point("#main canvas.over", 0.5, 0.4),
        false,
    );
    until(&format!(
        "from > {from} && Math.abs((to - from) - {}) < 2",
        to - from
    ));
    browser.repeat(
        &format!("Number({over}.dataset.to) - Number({over}.dataset.from) >= {whole} * 0.999"),
        || browser.double_click(browser.point("#main canvas.over", 0.9, 0.95)),
    );
}

#[test]
fn schedules_and_message_flows_zoom_by_wheel_keys_and_selection() {
    let Some(browser) = Opened::recorded("jazzy/chain_caret") else {
        return;
    };
    browser.show("schedule");
    zoom_drawing(&browser, "schedule");
    browser.go("paths");
    let link = browser.text("document.querySelector('#main tbody a').getAttribute('href')");
    browser.go(link.trim_start_matches('#'));
    zoom_drawing(&browser, "message flow");
    assert_eq!(browser.problems(), Vec::<String>::new());
}

#[test]
fn the_x_axis_shows_system_time_the_index_or_the_simulated_clock() {
    let Some(browser) = Opened::made_up(made_up::asking) else {
        return;
    };
    browser.show("callbacks");
    browser.wait("document.querySelector('#main tbody a')");
    let link = browser.text("Array.from(document.querySelectorAll('#main tbody a')).find((it) => it.textContent.includes('timer')).getAttribute('href')");
    browser.go(link.trim_start_matches('#'));
    browser.point("#main .plot", 0.5, 0.5);
    browser.wait("document.querySelector('#main .plot[data-drawn]')");
    let choose = |axis: &str| {
        browser.value(&format!("(() => {{ const select = document.getElementById('axis'); select.value = {}; select.dispatchEvent(new Event('change')); return select.value; }})()", json!(axis)))
    };
    let values = |axis: &str| -> Vec<f64> {
        assert_eq!(choose(axis), json!(axis));
        let title = json!(match axis {
            "system" => "system time [s]",
            "simulated" => "simulated time [s]",
            _ => "index",
        });
        browser.wait(&format!(
            "document.querySelector('#main .plot .xtitle')?.textContent === {title}"
        ));
        let values = browser.value("Array.from(document.querySelector('#main .plot').data[0].x)");
        let values = values.as_array().unwrap().iter();
        // What happened before the clock was heard of has no place on it.
        values
            .map(|value| value.as_f64().unwrap_or(f64::NAN))
            .collect()
    };
    // Eight executions, a second apart; the simulated clock began at 500 s and runs at half the speed.
    let system = values("system");
    assert_eq!(system.len(), 8);
    for pair in system.windows(2) {
        assert!((pair[1] - pair[0] - 1.0).abs() < 1e-6, "{system:?}");
    }
    let expected: Vec<f64> = (0..8).map(f64::from).collect();
    assert_eq!(values("index"), expected);
    let simulated = values("simulated");
    for (number, value) in simulated.iter().enumerate().skip(1) {
        let expected = 500.0 + (number + 1) as f64 / 2.0;
        assert!((value - expected).abs() < 1e-3, "{simulated:?}");
    }

    // Our own drawings have it too.
    browser.go("schedule");
    browser
        .wait("document.querySelector('#main canvas.over')?.dataset.axis === 'simulated time [s]'");
    let ticks = browser.text("document.querySelector('#main canvas.over').dataset.ticks");
    assert!(ticks.split(' ').all(|it| it.starts_with("50")), "{ticks}");
    choose("system");
    browser.wait("document.querySelector('#main canvas.over').dataset.axis === 'system time [s]'");
    let ticks = browser.text("document.querySelector('#main canvas.over').dataset.ticks");
    assert!(ticks.split(' ').any(|it| it.starts_with('2')), "{ticks}");
    assert_eq!(browser.problems(), Vec::<String>::new());
}

#[test]
fn the_graph_zooms_and_finds_and_shows_services_and_actions() {
    let Some(browser) = Opened::made_up(made_up::asking) else {
        return;
    };
    browser.show("graph");
    browser.wait("document.querySelector('svg.graph[data-drawn]')");
    let scale = || browser.number("Number(document.querySelector('svg.graph').dataset.scale)");
    let first = scale();
    let (x, y) = browser.point("svg.graph", 0.5, 0.5);
    browser.wheel(x, y, -300);
    browser.wait(&format!(
        "Number(document.querySelector('svg.graph').dataset.scale) > {first}"
    ));
    browser.value("(document.querySelector('svg.graph').focus(), true)");
    browser.press("0");
    browser.wait(&format!(
        "Math.abs(document.querySelector('svg.graph').dataset.scale - {first}) < 0.001"
    ));
    browser.press("+");
    browser.wait(&format!(
        "Number(document.querySelector('svg.graph').dataset.scale) > {first}"
    ));
    browser.press("-");
    browser.press("0");

    browser.write(".graph-tools input[type=search]", "answerer");
    browser.wait("document.querySelectorAll('svg.graph .box.chosen').length === 1");
    browser.value("(() => { const field = document.querySelector('.graph-tools input[type=search]'); field.value = ''; field.dispatchEvent(new Event('input')); return true; })()");

    // One edge, from who asks to who answers, for the service and for the action.
    assert_eq!(
        browser.value("document.querySelectorAll('svg.graph .edge.service').length"),
        json!(1)
    );
    let between = "(() => { const [a, b] = ['/asker', '/answerer'].map((name) => document.querySelector(`svg.graph [data-box='${name}']`).getBoundingClientRect()); return [(Math.min(a.right, b.right) + Math.max(a.left, b.left)) / 2, (a.top + a.bottom) / 2]; })()";
    let place = browser.value(between);
    let place = (
        place[0].as_f64().unwrap() as i64,
        place[1].as_f64().unwrap() as i64,
    );
    browser.drag(place, place, false);
    browser.wait("document.querySelector('.graph-panel h2')?.textContent === '/asker → /answerer'");
    let panel = browser.text("document.querySelector('.graph-panel').textContent");
    assert!(panel.contains("/add") && panel.contains("/dock"), "{panel}");
    panel.says_all(&["8 calls, 8 answers", "max 11.0 ms"]);
    // The wait for the result of the action is no latency.
    panel.lacks("600 ms");
    browser.click("[data-switch=services]");
    browser.wait("document.querySelectorAll('svg.graph .edge').length === 0");
    assert_eq!(browser.problems(), Vec::<String>::new());
}

/// How long a part of the script takes is compared with what the machine needs for something known, because others may be at work on it.
#[test]
fn the_graph_of_300_nodes_and_2600_edges_responds_at_once() {
    let Some(browser) = Opened::made_up(|folder| made_up::crowd(folder, 300, 9)) else {
        return;
    };
    browser.show("overview");
    // Some 300 ms of a machine with nothing else to do.
    let known = browser.number("(() => { const since = performance.now(); let sum = 0; for (let step = 0; step < 3e8; step++) sum = (sum + step * 7) | 0; return performance.now() - since + (sum === 1 ? 1 : 0); })()");
    browser.value("(window.since = performance.now(), location.hash = '#graph', true)");
    browser.wait("document.querySelector('svg.graph[data-drawn]') && (window.took ??= performance.now() - window.since)");
    let took = browser.number("window.took");
    let edges = browser.number("Number(document.querySelector('svg.graph').dataset.edges)");
    assert!(edges > 2400.0, "{edges}");
    println!("{edges} edges: {took:.0} ms, known {known:.0} ms");
    // Far more than it takes: only a drawing that has become slow in kind fails.
    assert!(
        took < 1500.0_f64.max(known * 5.0),
        "{took} ms; what is known takes {known} ms"
    );
    // Colours need no new arrangement: every box is still the same element.
    browser.value("(() => { window.before = document.querySelector('svg.graph .box'); const select = document.querySelector('[data-switch=picked]'); select.value = 'busy'; select.dispatchEvent(new Event('change')); return true; })()");
    assert_eq!(
        browser.value("window.before === document.querySelector('svg.graph .box')"),
        json!(true)
    );
    assert_eq!(browser.problems(), Vec::<String>::new());
}

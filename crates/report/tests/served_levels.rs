//! Levels of detail: whatever the zoom, nothing is hidden and everything is counted once.

use proptest::prelude::*;
use rostrace_report::served::row::SpanRow;
use rostrace_report::served::window::{VisibleSpan, Window, look};

fn seen(row: &SpanRow, window: &Window) -> Vec<VisibleSpan> {
    let mut seen = Vec::new();
    look(row, window, |_| 0, |span| seen.push(span));
    seen
}

/// Spans as they come: gaps and durations of very different sizes, also of none.
fn spans() -> impl Strategy<Value = Vec<(i64, i64, u32)>> {
    let size = || {
        prop_oneof![
            3 => 0i64..20,
            3 => 0i64..5_000,
            1 => 0i64..3_000_000,
        ]
    };
    proptest::collection::vec((size(), size()), 1..600).prop_map(|pairs| {
        let mut at = 1_000_000_000;
        let mut spans = Vec::new();
        for (number, (gap, length)) in pairs.into_iter().enumerate() {
            at += gap;
            spans.push((at, length, number as u32));
            at += length;
        }
        spans
    })
}

fn window() -> impl Strategy<Value = (f64, f64, u32)> {
    (
        -0.2f64..1.0,
        prop_oneof![0.0f64..1.4, 0.0f64..0.01],
        1u32..3000,
    )
}

fn place((from, length, pixels): (f64, f64, u32), spans: &[(i64, i64, u32)]) -> Window {
    let begin = spans[0].0;
    let last = spans[spans.len() - 1];
    let total = (last.0 + last.1 - begin).max(1) as f64;
    let from = begin + (total * from) as i64;
    Window {
        from,
        to: from + (total * length) as i64,
        pixels,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_execution_in_the_window_is_in_exactly_one_span(spans in spans(), at in window()) {
        let window = place(at, &spans);
        let row = SpanRow::of(spans.iter().copied());
        let touching: Vec<usize> = (0..spans.len())
            .filter(|place| {
                let (start, length, _) = spans[*place];
                start + length >= window.from && start <= window.to
            })
            .collect();
        let found = seen(&row, &window);
        let covered: Vec<usize> = found.iter().flat_map(|span| span.places.clone()).collect();
        // A block at the edge may reach a little beyond the window, never less far.
        prop_assert!(covered.windows(2).all(|pair| pair[0] + 1 == pair[1]), "gaps or overlaps");
        prop_assert!(touching.iter().all(|place| covered.contains(place)), "something is hidden");
        for span in &found {
            let inside = spans[span.places.clone()].iter();
            let busy: i64 = inside.clone().map(|(_, length, _)| length).sum();
            prop_assert_eq!(span.sums[0], busy);
            prop_assert_eq!(span.start, spans[span.places.start].0);
            let last = spans[span.places.end - 1];
            prop_assert_eq!(span.end, last.0 + last.1);
        }
    }

    #[test]
    fn the_worst_is_in_the_answer(spans in spans(), at in window()) {
        let window = place(at, &spans);
        let row = SpanRow::of(spans.iter().copied());
        let touching = spans.iter().filter(|(start, length, _)| {
            start + length >= window.from && *start <= window.to
        });
        let worst = touching.map(|(_, length, _)| *length).max();
        let found = seen(&row, &window);
        let shown = found.iter().map(|span| spans[span.longest].1).max();
        prop_assert!(shown >= worst, "{shown:?} {worst:?}");
        for span in &found {
            let most = spans[span.places.clone()].iter().map(|(_, length, _)| *length).max();
            prop_assert_eq!(Some(spans[span.longest].1), most);
            prop_assert!(span.places.contains(&span.longest));
        }
    }

    #[test]
    fn what_is_at_least_a_pixel_long_stands_by_itself(spans in spans(), at in window()) {
        let window = place(at, &spans);
        let row = SpanRow::of(spans.iter().copied());
        for span in seen(&row, &window) {
            let is_long = |place: usize| spans[place].1 >= window.pixel();
            prop_assert!(span.places.len() == 1 || !span.places.clone().any(is_long));
        }
    }

    #[test]
    fn an_answer_is_as_large_as_the_screen_and_not_as_the_trace(spans in spans(), at in window()) {
        let window = place(at, &spans);
        let row = SpanRow::of(spans.iter().copied());
        let found = seen(&row, &window);
        prop_assert!(found.len() <= 3 * window.pixels as usize + 4, "{}", found.len());
    }

    #[test]
    fn zoomed_in_far_enough_every_execution_is_single(spans in spans(), number in any::<proptest::sample::Index>()) {
        let row = SpanRow::of(spans.iter().copied());
        let (start, length, item) = *number.get(&spans);
        prop_assume!(length > 0);
        let window = Window { from: start, to: start + length, pixels: 20_000 };
        let found = seen(&row, &window);
        let own = found.iter().find(|span| span.places.contains(&(item as usize))).unwrap();
        prop_assert!(own.places.len() == 1 || length < window.pixel());
    }

    #[test]
    fn no_window_is_too_strange(spans in spans(), from in any::<i64>(), to in any::<i64>(), pixels in any::<u32>()) {
        let row = SpanRow::of(spans.iter().copied());
        let found = seen(&row, &Window { from, to, pixels });
        prop_assert!(found.len() <= spans.len());
    }
}

#[test]
fn the_grid_stands_still_while_the_view_moves() {
    let spans: Vec<(i64, i64, u32)> = (0..10_000).map(|n| (n * 1000, 300, n as u32)).collect();
    let row = SpanRow::of(spans);
    let at = |from: i64| {
        let window = Window {
            from,
            to: from + 4_000_000,
            pixels: 400,
        };
        seen(&row, &window)
    };
    let (first, second) = (at(1_000_000), at(1_234_567));
    let inner = |found: &[rostrace_report::served::window::VisibleSpan]| -> Vec<_> {
        let between = |start: i64| (2_000_000..4_000_000).contains(&start);
        let inside = found.iter().filter(|span| between(span.start));
        inside.map(|span| span.places.clone()).collect()
    };
    assert_eq!(inner(&first), inner(&second));
}

#[test]
fn of_ten_million_executions_no_more_come_than_a_screen_has_room_for() {
    let spans =
        (0..10_000_000u32).map(|n| (i64::from(n) * 360_000, 20_000 + i64::from(n % 977) * 100, n));
    let row = SpanRow::of(spans);
    for (from, to) in [
        (0, 3_600_000_000_000),
        (1_000_000_000_000, 1_060_000_000_000),
        (1_000_000_000_000, 1_000_001_000_000),
    ] {
        let window = Window {
            from,
            to,
            pixels: 3200,
        };
        let found = seen(&row, &window);
        assert!(found.len() <= 2 * 3200, "{}", found.len());
    }
}

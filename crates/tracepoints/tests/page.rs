//! The committed page is what the table says today.

use std::path::Path;

#[test]
fn the_page_of_the_tracepoints_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/tracepoints.md");
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    let difference = committed
        .lines()
        .zip(rostrace_tracepoints::markdown().lines())
        .position(|(committed, current)| committed != current);
    assert!(
        committed == rostrace_tracepoints::markdown(),
        "docs/reference/tracepoints.md is stale (first difference after line {}). Type: cargo xtask docs",
        difference.unwrap_or_else(|| committed.lines().count()),
    );
}

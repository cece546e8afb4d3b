//! The committed page of budget files says what the code declares.

#[test]
fn the_page_is_what_the_declaration_says() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/reference/budgets.md"
    );
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        committed == rostrace_analyze::budget::key::markdown(),
        "docs/reference/budgets.md is stale. Type: cargo xtask docs"
    );
}

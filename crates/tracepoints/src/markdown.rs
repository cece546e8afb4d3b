//! The table as a page for people: `docs/reference/tracepoints.md`, which `cargo xtask docs` writes.

use std::fmt::{self, Write};

use crate::{Field, PROVIDERS, Phase, Provider, TRACEPOINTS, Tracepoint};

const INTRODUCTION: &str = "\
# Tracepoints

<!-- Made from crates/tracepoints by `cargo xtask docs`. Do not edit by hand. -->

Every event that rostrace understands, by provider. Other events are read and shown, but mean nothing to the analyses. Fields are found
by name, so their order does not matter, and a field that a recording does not have is treated as unknown.

- **init** events describe an entity that later events refer to, or declare something about it; **run** events say that something happens.
- A *pointer* is an address in the process; it identifies an object only for as long as the object lives. Numbers of `ros2:`, `ros2_caret:`
  and `agnocast:` have 64 bits and flags (0 or 1) 32; those of other providers have any width.
- *Since* names the first distribution of ROS 2, or the version of the tool, that has the event.
";

/// The whole page.
pub fn markdown() -> String {
    let mut page = String::from(INTRODUCTION);
    // Writing to a String does not fail.
    let _ = write_page(&mut page);
    page
}

fn write_page(page: &mut String) -> fmt::Result {
    writeln!(page, "\n| provider | events | what it is |\n|---|---:|---|")?;
    for provider in PROVIDERS {
        let heading = heading(provider);
        let count = tracepoints(provider).count();
        let anchor = anchor(&heading);
        writeln!(
            page,
            "| [{heading}](#{anchor}) | {count} | {} |",
            provider.summary
        )?;
    }
    for provider in PROVIDERS {
        writeln!(page, "\n## {}\n\n{}", heading(provider), provider.summary)?;
        for tracepoint in tracepoints(provider) {
            write_tracepoint(page, tracepoint)?;
        }
    }
    Ok(())
}

fn write_tracepoint(page: &mut String, tracepoint: &Tracepoint) -> fmt::Result {
    writeln!(page, "\n### `{tracepoint}`\n\n{}\n", tracepoint.summary)?;
    let phase = match tracepoint.phase {
        Phase::Init => "**init**",
        Phase::Run => "run",
    };
    write!(
        page,
        "{phase} · {} · since {}",
        tracepoint.layer, tracepoint.since
    )?;
    if let Some(until) = tracepoint.until {
        write!(page, " · not emitted from {until} on")?;
    }
    for other in tracepoint.kind.tracepoints() {
        if other.full_name != tracepoint.full_name {
            write!(page, " · means the same as `{other}`")?;
        }
    }
    writeln!(page)?;
    if !tracepoint.fields.is_empty() {
        writeln!(
            page,
            "\n| field | type | when | meaning |\n|---|---|---|---|"
        )?;
    }
    for field in tracepoint.fields {
        writeln!(
            page,
            "| {} | {} | {} | {} |",
            spellings(field),
            field.kind,
            field.presence,
            field.meaning
        )?;
    }
    Ok(())
}

fn tracepoints(provider: &Provider) -> impl Iterator<Item = &'static Tracepoint> {
    TRACEPOINTS
        .iter()
        .filter(|tracepoint| tracepoint.provider == provider.name)
}

fn heading(provider: &Provider) -> String {
    match provider.name {
        "" => "The kernel".to_owned(),
        name => format!("`{name}`"),
    }
}

/// As web sites make them from headings: lower case, hyphens for spaces, no marks.
fn anchor(heading: &str) -> String {
    heading.replace('`', "").replace(' ', "-").to_lowercase()
}

fn spellings(field: &Field) -> String {
    let names: Vec<String> = field.names().map(|name| format!("`{name}`")).collect();
    names.join(" or ")
}

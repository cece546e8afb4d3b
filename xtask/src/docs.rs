//! `cargo xtask docs`: writes the pages, and the functions of the tracer, that are made from declarations in the code.
//!
//! A page is committed, so that people can read it without building anything; a test fails when one is stale.

mod functions;
#[cfg(test)]
mod links;
#[cfg(test)]
mod named;
mod tables;
#[cfg(test)]
mod tree;

use std::fs;

use anyhow::{Context, Result, bail};

use crate::arguments::Arguments;
use crate::workspace::Workspace;

pub(crate) const USAGE: &str = "\
cargo xtask docs [--check]
    Writes what is made from declarations: pages below docs/reference, and the exported functions of the tracer.
    --check   write nothing, and fail if a page is stale";

struct Page {
    /// From the root of the repository.
    path: &'static str,
    text: fn() -> String,
}

const PAGES: &[Page] = &[
    Page {
        path: "docs/reference/tracepoints.md",
        text: rostrace_tracepoints::markdown,
    },
    Page {
        path: "docs/reference/tables.md",
        text: tables::markdown,
    },
    Page {
        path: "docs/reference/lists.md",
        text: rostrace_analyze::list::markdown,
    },
    Page {
        path: "docs/reference/budgets.md",
        text: rostrace_analyze::budget::key::markdown,
    },
    Page {
        path: "tracer/src/abi/functions.rs",
        text: functions::exported,
    },
    Page {
        path: "tracer/src/api/ros.rs",
        text: functions::safe,
    },
];

pub(crate) fn run(workspace: &Workspace, mut arguments: Arguments) -> Result<()> {
    let check = arguments.flag("--check");
    arguments.finish()?;

    let mut stale = Vec::new();
    for page in PAGES {
        let file = workspace.root.join(page.path);
        let text = (page.text)();
        if fs::read_to_string(&file).is_ok_and(|committed| committed == text) {
            println!("{}: up to date", page.path);
        } else if check {
            stale.push(page.path);
        } else {
            if let Some(folder) = file.parent() {
                fs::create_dir_all(folder)
                    .with_context(|| format!("could not make {}", folder.display()))?;
            }
            fs::write(&file, text)
                .with_context(|| format!("could not write {}", file.display()))?;
            println!("{}: written", page.path);
        }
    }
    if !stale.is_empty() {
        bail!("{} is stale. Type: cargo xtask docs", stale.join(" and "));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn every_page_is_up_to_date() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for page in PAGES {
            let committed = fs::read_to_string(root.join(page.path)).unwrap_or_default();
            let current = committed == (page.text)();
            assert!(current, "{} is stale. Type: cargo xtask docs", page.path);
        }
    }
}

//! One line for each stack, the outermost function first, and how often it was seen: what flame graph tools read.

use std::io::{self, Write};

use rostrace_analyze::profile::CallTreeNode;

use super::Flame;

pub(super) fn write(out: &mut dyn Write, flames: &[Flame]) -> io::Result<()> {
    for flame in flames {
        for root in &flame.tree.roots {
            write_node(out, root, &plain(&flame.callback))?;
        }
    }
    Ok(())
}

fn write_node(out: &mut dyn Write, node: &CallTreeNode, above: &str) -> io::Result<()> {
    let stack = format!("{above};{}", plain(&node.name));
    if node.own > 0 {
        writeln!(out, "{stack} {}", node.own)?;
    }
    for child in &node.children {
        write_node(out, child, &stack)?;
    }
    Ok(())
}

/// Lines and semicolons mean something here.
fn plain(name: &str) -> String {
    name.replace([';', '\n', '\r'], " ")
}

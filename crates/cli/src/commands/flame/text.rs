//! The tree and the difference, on the terminal.

use std::io::{self, Write};

use rostrace_analyze::profile::{CallTreeNode, Difference, Profile};
use rostrace_base::text::visible;
use rostrace_base::units;

use super::Flame;
use crate::render::palette::Palette;
use crate::render::table::{Align, Table};

/// What has a smaller share of the samples is left out, and said to be.
const NOTICEABLE: f64 = 0.01;
/// Functions of a difference that are shown: those that differ most.
const MOST: usize = 8;
/// Differences that are smaller than this share of the largest are left out.
const SMALL: f64 = 0.02;

pub(super) fn write(out: &mut dyn Write, flames: &[Flame], profile: &Profile) -> io::Result<()> {
    for (number, flame) in flames.iter().enumerate() {
        if number > 0 {
            writeln!(out)?;
        }
        write_tree(out, flame, profile)?;
        if let Some(difference) = &flame.difference {
            write_difference(out, difference)?;
        }
    }
    Ok(())
}

fn write_tree(out: &mut dyn Write, flame: &Flame, profile: &Profile) -> io::Result<()> {
    let palette = Palette::for_stdout();
    writeln!(out, "{}", palette.heading(&visible(&flame.callback)))?;
    let samples = flame.tree.samples as u64;
    writeln!(
        out,
        "{}, {} in all; {}, each {} of a CPU",
        units::counted(flame.executions as u64, "execution"),
        units::signed_duration(flame.duration),
        units::counted(samples, "sample"),
        units::signed_duration(profile.period()),
    )?;
    if !flame.hot.is_enough() {
        writeln!(
            out,
            "{}",
            palette.caution("so few samples do not say where time goes")
        )?;
    }
    let above = flame
        .tree
        .above
        .iter()
        .rev()
        .map(|name| visible(name).into_owned());
    let above: Vec<String> = above.collect();
    if !above.is_empty() {
        let sentence = format!("all of it called by {}", above.join(" ← "));
        writeln!(out, "{}", palette.dim(&sentence))?;
    }
    let mut table = Table::new(&[
        ("samples", Align::Right),
        ("share", Align::Right),
        ("itself", Align::Right),
        ("function", Align::Left),
    ]);
    let mut hidden = 0;
    let total = flame.tree.samples.max(1) as f64;
    for root in shown(&flame.tree.roots, total, &mut hidden) {
        write_node(&mut table, root, total, "", "", &mut hidden);
    }
    write!(out, "{table}")?;
    if hidden > 0 {
        let hidden = units::counted(hidden as u64, "branch");
        writeln!(
            out,
            "{}",
            palette.dim(&format!("{hidden} below 1 % not shown"))
        )?;
    }
    Ok(())
}

fn shown<'n>(nodes: &'n [CallTreeNode], total: f64, hidden: &mut usize) -> Vec<&'n CallTreeNode> {
    let shown = nodes
        .iter()
        .filter(|it| it.samples as f64 >= NOTICEABLE * total);
    let shown: Vec<&CallTreeNode> = shown.collect();
    *hidden += nodes.len() - shown.len();
    shown
}

/// Stacks have a few hundred functions at most, so this may call itself.
fn write_node(
    table: &mut Table,
    node: &CallTreeNode,
    total: f64,
    mark: &str,
    indent: &str,
    hidden: &mut usize,
) {
    table.row([
        units::count(node.samples as u64),
        units::share(node.samples as f64 / total),
        match node.own {
            0 => String::new(),
            own => units::share(own as f64 / total),
        },
        format!("{mark}{}", visible(&node.name)),
    ]);
    let children = shown(&node.children, total, hidden);
    // Who calls only one function is above it, not left of it: stacks are deep.
    let is_only = children.len() == 1;
    let last = children.len().saturating_sub(1);
    for (number, child) in children.into_iter().enumerate() {
        let (mark, below) = match (is_only, number == last) {
            (true, _) => ("└ ", ""),
            (false, true) => ("└ ", "  "),
            (false, false) => ("├ ", "│ "),
        };
        let (mark, below) = (format!("{indent}{mark}"), format!("{indent}{below}"));
        write_node(table, child, total, &mark, &below, hidden);
    }
}

fn write_difference(out: &mut dyn Write, difference: &Difference) -> io::Result<()> {
    let palette = Palette::for_stdout();
    let (slow, usual) = (&difference.slow, &difference.usual);
    let heading = format!(
        "What its {} do more than {}",
        units::counted(slow.count as u64, "slowest execution"),
        units::counted(usual.count as u64, "usual one"),
    );
    writeln!(out, "\n{}", palette.heading(&heading))?;
    let mut table = Table::new(&[
        ("slow", Align::Right),
        ("usual", Align::Right),
        ("more", Align::Right),
        ("in each execution on average", Align::Left),
    ]);
    let time = |nanos: f64| units::signed_duration(nanos.round() as i64);
    let mut row = |slow: f64, usual: f64, name: &str| {
        table.row([
            time(slow),
            time(usual),
            time(slow - usual),
            visible(name).into_owned(),
        ]);
    };
    let largest = difference.rows.iter().map(|it| it.difference().abs());
    let largest = largest.fold(0.0, f64::max);
    let (shown, rest): (Vec<_>, Vec<_>) = (difference.rows.iter().enumerate())
        .partition(|(number, it)| *number < MOST && it.difference().abs() >= SMALL * largest);
    for (_, it) in shown {
        row(it.slow, it.usual, &it.function.name);
    }
    if !rest.is_empty() {
        let sum = |of: fn(&rostrace_analyze::profile::DifferenceRow) -> f64| -> f64 {
            rest.iter().map(|(_, it)| of(it)).sum()
        };
        let functions = units::counted(rest.len() as u64, "other function");
        row(sum(|it| it.slow), sum(|it| it.usual), &functions);
    }
    row(
        slow.unsampled,
        usual.unsampled,
        "without samples: not on a CPU, or in the kernel",
    );
    row(slow.duration, usual.duration, "from start to end");
    write!(out, "{table}")
}

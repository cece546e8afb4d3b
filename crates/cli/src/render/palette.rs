//! Colour, where a person sees it: on a terminal, unless `NO_COLOR` is set.

use std::io::IsTerminal;

use console::Style;

#[derive(Debug, Clone)]
pub(crate) struct Palette {
    heading: Style,
    alarm: Style,
    caution: Style,
    dim: Style,
}

impl Palette {
    pub(crate) fn for_stdout() -> Palette {
        Palette::new(wanted(std::io::stdout().is_terminal()))
    }

    pub(crate) fn for_stderr() -> Palette {
        Palette::new(wanted(std::io::stderr().is_terminal()))
    }

    #[cfg(test)]
    pub(crate) fn plain() -> Palette {
        Palette::new(false)
    }

    #[cfg(test)]
    pub(crate) fn coloured() -> Palette {
        Palette::new(true)
    }

    fn new(colour: bool) -> Palette {
        let style = || Style::new().force_styling(colour);
        Palette {
            heading: style().bold(),
            alarm: style().bold().red(),
            caution: style().bold().yellow(),
            dim: style().dim(),
        }
    }

    pub(crate) fn heading(&self, text: &str) -> String {
        self.heading.apply_to(text).to_string()
    }

    pub(crate) fn alarm(&self, text: &str) -> String {
        self.alarm.apply_to(text).to_string()
    }

    pub(crate) fn caution(&self, text: &str) -> String {
        self.caution.apply_to(text).to_string()
    }

    pub(crate) fn dim(&self, text: &str) -> String {
        self.dim.apply_to(text).to_string()
    }
}

/// <https://no-color.org>: any value but the empty one.
fn wanted(is_terminal: bool) -> bool {
    let forbidden = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
    is_terminal && !forbidden && !dumb
}

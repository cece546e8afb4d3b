//! The page: files that are part of the program.

/// For a person whose address does not work.
pub(super) const REFUSED: &str = include_str!("../../assets/served/refused.html");

const SCRIPT: &str = "text/javascript; charset=utf-8";

macro_rules! assets {
    ($($name:literal => $media_type:expr, $file:literal;)*) => {
        const ASSETS: &[(&str, &str, &str)] = &[
            $(($name, $media_type, include_str!(concat!("../../assets/served/", $file))),)*
        ];
    };
}

assets! {
    "" => "text/html; charset=utf-8", "page.html";
    "style.css" => "text/css; charset=utf-8", "style.css";
    "icon.svg" => "image/svg+xml", "icon.svg";
    "main.js" => SCRIPT, "main.js";
    "state.js" => SCRIPT, "state.js";
    "server.js" => SCRIPT, "server.js";
    "duration.js" => SCRIPT, "../shared/duration.js";
    "time.js" => SCRIPT, "time.js";
    "colour.js" => SCRIPT, "colour.js";
    "lanes.js" => SCRIPT, "lanes.js";
    "spans.js" => SCRIPT, "spans.js";
    "drawing.js" => SCRIPT, "drawing.js";
    "axis.js" => SCRIPT, "axis.js";
    "arrows.js" => SCRIPT, "arrows.js";
    "overview.js" => SCRIPT, "overview.js";
    "pointer.js" => SCRIPT, "pointer.js";
    "keyboard.js" => SCRIPT, "keyboard.js";
    "panel.js" => SCRIPT, "panel.js";
    "search.js" => SCRIPT, "search.js";
    "arrange.js" => SCRIPT, "arrange.js";
    "element.js" => SCRIPT, "element.js";
    "legend.js" => SCRIPT, "legend.js";
    "message.js" => SCRIPT, "message.js";
    "range.js" => SCRIPT, "range.js";
}

/// Media type and text of a file, by the name under the page's folder.
pub(super) fn find(name: &str) -> Option<(&'static str, &'static str)> {
    let mut assets = ASSETS.iter();
    let (_, media_type, text) = assets.find(|(known, ..)| *known == name)?;
    Some((media_type, text))
}

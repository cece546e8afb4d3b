//! The page: files that are part of the program.

/// For a person whose address does not work.
pub(super) const REFUSED: &str = include_str!("../../assets/served/refused.html");

const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

/// Name, media type and text of each: the scripts of both pages, then those of this one.
macro_rules! assets {
    ($($name:literal $media_type:expr, $folder:literal $file:literal;)* scripts $($script:literal in $of:literal;)*) => {
        const ASSETS: &[(&str, &str, &str)] = &[
            $(($name, $media_type, include_str!(concat!("../../assets/", $folder, "/", $file))),)*
            $((concat!($script, ".js"), SCRIPT, include_str!(concat!("../../assets/", $of, "/", $script, ".js"))),)*
        ];
    };
}

assets! {
    "" "text/html; charset=utf-8", "served" "page.html";
    "colours.css" STYLE, "base" "colours.css";
    "style.css" STYLE, "served" "style.css";
    "icon.svg" "image/svg+xml", "served" "icon.svg";
    scripts
    "clock" in "base";
    "colour" in "base";
    "combobox" in "base";
    "duration" in "base";
    "element" in "base";
    "number" in "base";
    "text" in "base";
    "theme" in "base";
    "main" in "served";
    "state" in "served";
    "server" in "served";
    "time" in "served";
    "subject_colour" in "served";
    "lanes" in "served";
    "spans" in "served";
    "drawing" in "served";
    "axis" in "served";
    "arrows" in "served";
    "overview" in "served";
    "pointer" in "served";
    "keyboard" in "served";
    "panel" in "served";
    "search" in "served";
    "arrange" in "served";
    "legend" in "served";
    "message" in "served";
    "range" in "served";
}

/// Media type and text of a file, by the name under the page's folder.
pub(super) fn find(name: &str) -> Option<(&'static str, &'static str)> {
    let mut assets = ASSETS.iter();
    let (_, media_type, text) = assets.find(|(known, ..)| *known == name)?;
    Some((media_type, text))
}

//! Packs what every report carries: the chart library, which comes with the crate `plotly`, so that cargo alone brings and locks it, and the
//! definitions of the metrics, which are a page of the documents.

#[path = "build/definitions.rs"]
mod definitions;

use std::io::Write;
use std::path::Path;
use std::{env, fs};

use base64::Engine;
use flate2::Compression;
use flate2::write::GzEncoder;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let folder =
        env::var_os("OUT_DIR").expect("cargo names the folder for what a build script makes");
    let folder = Path::new(&folder);
    let packed = packed(chart_library().as_bytes());
    fs::write(folder.join("plotly.base64"), packed).expect("cargo's folder can be written to");
    fs::write(folder.join("definitions.html"), definitions::rendered())
        .expect("cargo's folder can be written to");
}

/// The first of the scripts that the crate embeds in its pages; the second one sets formulas.
fn chart_library() -> String {
    let scripts = plotly::Plot::offline_js_sources();
    let begin = scripts
        .find('>')
        .expect("the library is in a script element")
        + 1;
    let end = scripts.find("</script>").expect("a script element ends");
    let library = &scripts[begin..end];
    assert!(
        library.contains("plotly.js v"),
        "the first script of the crate `plotly` is no longer the chart library"
    );
    library.to_owned()
}

fn packed(content: &[u8]) -> String {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder
        .write_all(content)
        .expect("memory takes what is written");
    base64::engine::general_purpose::STANDARD
        .encode(encoder.finish().expect("memory takes what is written"))
}

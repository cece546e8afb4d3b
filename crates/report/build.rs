//! Packs what every report carries: the chart library (`assets/plotly`, brought by `cargo xtask plotly`), and the definitions of the metrics, which are a page of the
//! documents.

#[path = "build/definitions.rs"]
mod definitions;

use std::io::Write;
use std::path::Path;
use std::{env, fs};

use base64::Engine;
use flate2::Compression;
use flate2::write::GzEncoder;

const CHART_LIBRARY: &str = "assets/plotly/plotly-basic.min.js";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let folder =
        env::var_os("OUT_DIR").expect("cargo names the folder for what a build script makes");
    let folder = Path::new(&folder);
    println!("cargo::rerun-if-changed={CHART_LIBRARY}");
    let library = fs::read(CHART_LIBRARY).expect("the chart library is in the repository");
    fs::write(folder.join("plotly.base64"), packed(&library))
        .expect("cargo's folder can be written to");
    fs::write(folder.join("definitions.html"), definitions::rendered())
        .expect("cargo's folder can be written to");
}

fn packed(content: &[u8]) -> String {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder
        .write_all(content)
        .expect("memory takes what is written");
    base64::engine::general_purpose::STANDARD
        .encode(encoder.finish().expect("memory takes what is written"))
}

//! Compiles the programs of `xtask/torture`: against a libtracetools whose functions do nothing, as real programs are linked.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// Compiles of one program.
#[derive(Debug)]
struct Recipe {
    result: &'static str,
    sources: &'static [&'static str],
    options: &'static [&'static str],
    libraries: &'static [&'static str],
}

const fn program(result: &'static str, sources: &'static [&'static str]) -> Recipe {
    Recipe {
        result,
        sources,
        options: &[],
        libraries: &[],
    }
}

impl Recipe {
    const fn options(self, options: &'static [&'static str]) -> Recipe {
        Recipe { options, ..self }
    }

    const fn libraries(self, libraries: &'static [&'static str]) -> Recipe {
        Recipe { libraries, ..self }
    }
}

const LIBRARY: &[&str] = &["-shared", "-fPIC"];
const ADDRESS: &[&str] = &["-fsanitize=address", "-fno-omit-frame-pointer"];
const STATIC_ADDRESS: &[&str] = &["-fsanitize=address", "-static-libasan"];
const THREAD: &[&str] = &["-fsanitize=thread"];

/// Libraries stand before the programs that need them.
const RECIPES: &[Recipe] = &[
    program("lib/libtracetools.so", &["tracetools.c"]).options(LIBRARY),
    program("lib/librcl.so", &["rcl.c"]).options(LIBRARY),
    program("lib/librenamed.so", &["rcl.c"]).options(LIBRARY),
    program("lib/libnode.so", &["node.c"])
        .options(LIBRARY)
        .libraries(&["-lrenamed"]),
    program("lib/libslow_destructor.so", &["slow_destructor.c"]).options(LIBRARY),
    program("lib/libemitting.so", &["emitting.c"]).options(LIBRARY),
    program("witness", &["witness.c"]).options(&["-static"]),
    program("steady", &["steady.c"]),
    program("callbacks", &["callbacks.c"]),
    program("churn", &["churn.c"]),
    program("fork", &["fork.c"]),
    program("exec", &["exec.c"]),
    program("ending", &["ending.c"]).libraries(&["-Wl,--no-as-needed", "-lslow_destructor"]),
    program("signals", &["signals.c"]),
    program("cancel", &["cancel.c"]),
    program("stack", &["stack.c"]),
    program("memory", &["memory.c"]),
    program("limits", &["limits.c"]),
    program("seccomp", &["seccomp.c"]),
    program("loading", &["loading.c"]),
    program("hooks", &["hooks.c"]),
    program("descriptors", &["descriptors.c"]),
    program("folders", &["folders.c"]),
    program("large", &["large.c"]),
    program("realtime", &["realtime.c"]),
    program("setuid", &["setuid.c"]),
    program("publishers", &["publishers.c"]).libraries(&["-lrcl"]),
    program("exceptions", &["exceptions.cpp", "exceptions_account.c"]).libraries(&["-lstdc++"]),
    program("steady-asan", &["steady.c"]).options(ADDRESS),
    program("churn-asan", &["churn.c"]).options(ADDRESS),
    program("steady-asan-static", &["steady.c"]).options(STATIC_ADDRESS),
    program("steady-tsan", &["steady.c"]).options(THREAD),
];

/// The compiled programs, and those that this machine cannot compile.
#[derive(Debug)]
pub(super) struct Built {
    folder: PathBuf,
    /// By name, with the reason.
    pub(super) missing: Vec<(&'static str, String)>,
}

impl Built {
    pub(super) fn program(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Where libraries are.
    pub(super) fn libraries(&self) -> PathBuf {
        self.folder.join("lib")
    }

    /// Why a program cannot be run.
    pub(super) fn reason_without(&self, name: &str) -> Option<&str> {
        let missing = self.missing.iter().find(|(missing, _)| *missing == name);
        missing.map(|(_, reason)| reason.as_str())
    }
}

/// Compiles everything into `folder`. A sanitizer that is not installed is no reason to give up.
pub(super) fn build(sources: &Path, folder: &Path) -> Result<Built> {
    prepare(folder)?;
    let mut missing = Vec::new();
    for recipe in RECIPES {
        if let Err(error) = compile(sources, folder, recipe) {
            let optional = recipe
                .options
                .iter()
                .any(|option| option.starts_with("-fsanitize"));
            if !optional {
                return Err(error);
            }
            missing.push((recipe.result, format!("{error:#}")));
        }
    }
    Ok(Built {
        folder: folder.to_owned(),
        missing,
    })
}

/// The folder that programs are compiled into.
fn prepare(folder: &Path) -> Result<()> {
    let libraries = folder.join("lib");
    std::fs::create_dir_all(&libraries)
        .with_context(|| format!("{} could not be made", libraries.display()))?;
    // The tracer asks which version callers expect.
    let package = folder.join("share/tracetools");
    std::fs::create_dir_all(&package)?;
    std::fs::write(
        package.join("package.xml"),
        "<?xml version=\"1.0\"?>\n<package format=\"3\">\n  <name>tracetools</name>\n  <version>8.2.0</version>\n</package>\n",
    )?;
    Ok(())
}

fn compile(sources: &Path, folder: &Path, recipe: &Recipe) -> Result<()> {
    let libraries = folder.join("lib");
    let is_alone = recipe.options.contains(&"-static") || recipe.result == "lib/libtracetools.so";
    let mut command = Command::new("cc");
    command
        .args(["-O1", "-g", "-Wall", "-D_GNU_SOURCE", "-pthread", "-o"])
        .arg(folder.join(recipe.result))
        .args(recipe.options)
        .args(recipe.sources.iter().map(|source| sources.join(source)));
    if !is_alone {
        command
            .arg(format!("-L{}", libraries.display()))
            .arg(format!("-Wl,-rpath,{}", libraries.display()))
            // Only who calls something of a library needs it, unless it says otherwise.
            .args(["-Wl,--as-needed", "-ltracetools", "-ldl"]);
    }
    command.args(recipe.libraries);
    let output = command
        .output()
        .context("`cc` could not be started; torture needs a C compiler")?;
    if !output.status.success() {
        bail!(
            "{} could not be compiled: {}",
            recipe.result,
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    Ok(())
}

/// The loops with real-time priority.
#[derive(Debug)]
pub(crate) struct RealTime {
    pub(crate) plain: PathBuf,
    /// With LTTng's provider in the place of libtracetools; None where LTTng is not installed.
    pub(crate) lttng: Option<PathBuf>,
}

/// Compiles these alone.
pub(crate) fn realtime(root: &Path, folder: &Path) -> Result<RealTime> {
    const NAME: &str = "realtime";
    let sources = root.join("xtask/torture");
    prepare(folder)?;
    let needed = ["lib/libtracetools.so", NAME];
    for recipe in RECIPES.iter().filter(|it| needed.contains(&it.result)) {
        compile(&sources, folder, recipe)?;
    }
    Ok(RealTime {
        plain: folder.join(NAME),
        lttng: realtime_with_lttng(root, folder),
    })
}

fn realtime_with_lttng(root: &Path, folder: &Path) -> Option<PathBuf> {
    let benches = root.join("tracer/benches");
    let provider = folder.join("lttng/libtracetools.so");
    std::fs::create_dir_all(provider.parent()?).ok()?;
    let succeeds = |command: &mut Command| command.output().is_ok_and(|it| it.status.success());
    let is_compiled = succeeds(
        Command::new("cc")
            .args(["-O2", "-shared", "-fPIC", "-I"])
            .arg(&benches)
            .arg(benches.join("lttng_provider.c"))
            .args(["-llttng-ust", "-ldl", "-o"])
            .arg(&provider),
    );
    let result = folder.join("realtime-lttng");
    let libraries = provider.parent()?.display().to_string();
    let is_linked = is_compiled
        && succeeds(
            Command::new("cc")
                .args(["-O1", "-D_GNU_SOURCE", "-DTORTURE_LTTNG", "-pthread", "-o"])
                .arg(&result)
                .arg(root.join("xtask/torture/realtime.c"))
                .arg(&provider)
                .arg(format!("-Wl,-rpath,{libraries}")),
        );
    is_linked.then_some(result)
}

#[cfg(test)]
mod tests {
    use super::super::case::CASES;
    use super::*;

    #[test]
    fn every_case_has_a_program_and_every_program_its_source() {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("torture");
        for case in CASES {
            assert!(
                RECIPES.iter().any(|recipe| recipe.result == case.program),
                "{}",
                case.name
            );
        }
        for source in RECIPES.iter().flat_map(|recipe| recipe.sources) {
            let text = std::fs::read_to_string(sources.join(source)).unwrap();
            assert!(text.starts_with("// "), "{source} says what is nasty first");
        }
    }
}

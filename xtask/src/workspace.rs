//! Where things are, and how cargo is called.
//!
//! Three places matter: the root of the repository, the target folder (asked from cargo, since
//! `CARGO_TARGET_DIR` and configuration may move it), and the *build cache*: a folder outside the clone that holds
//! cargo's intermediate files, so that a fresh clone does not compile its dependencies again. The cache is
//! cargo's *build directory*, not its target directory: finished programs stay in each clone's own
//! `target/`, and two clones that build at the same time cannot run each other's program.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// The variable that tells cargo where intermediate files go (cargo 1.91 and later; older ones ignore it).
const BUILD_DIRECTORY: &str = "CARGO_BUILD_BUILD_DIR";

#[derive(Debug)]
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    build_cache: Option<PathBuf>,
}

impl Workspace {
    pub(crate) fn of_this_program() -> Result<Self> {
        // `cargo run` sets the variable; a binary that is started by hand falls back on where it was compiled.
        let manifest = env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let root = manifest
            .parent()
            .with_context(|| format!("{} has no parent folder.", manifest.display()))?
            .to_owned();
        Ok(Workspace {
            root,
            build_cache: build_cache(|name| env::var_os(name).map(PathBuf::from)),
        })
    }

    /// A cargo command that runs in the repository's root, on the build cache if there is one.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.args(arguments).current_dir(&self.root);
        if let Some(folder) = &self.build_cache {
            command.env(BUILD_DIRECTORY, folder);
        }
        command
    }

    pub(crate) fn build_cache(&self) -> Option<&Path> {
        self.build_cache.as_deref()
    }

    /// The target folder, as cargo sees it.
    pub(crate) fn target_folder(&self) -> Result<PathBuf> {
        let output = self
            .cargo(&["metadata", "--no-deps", "--format-version=1", "--offline"])
            .stderr(Stdio::inherit())
            .output()
            .context("`cargo metadata` could not be started")?;
        let text = String::from_utf8_lossy(&output.stdout);
        json_string(&text, "target_directory")
            .map(PathBuf::from)
            .context("`cargo metadata` did not say where the target folder is.")
    }

    /// Builds the program with the release profile and returns the path that cargo reports for it.
    pub(crate) fn release_program(&self) -> Result<PathBuf> {
        self.built_program(&["build", "--release", "--package=rostrace", "--bin=rostrace"])
    }

    /// Builds the program, and the tracer and the library for locks beside it, with the profile `tested` (see Cargo.toml) and returns the program's path.
    pub(crate) fn tested_program(&self) -> Result<PathBuf> {
        let packages = ["rostrace", "rostrace-tracer", "rostrace-locks"];
        let [program, tracer, locks] = packages.map(|name| format!("--package={name}"));
        self.built_program(&["build", "--profile=tested", &program, &tracer, &locks])
    }

    /// Runs a `cargo build` of one program and returns the path of what it has built.
    pub(crate) fn built_program(&self, build: &[&str]) -> Result<PathBuf> {
        let line = format!("cargo {}", build.join(" "));
        let output = self
            .cargo(build)
            .arg("--message-format=json-render-diagnostics")
            .stderr(Stdio::inherit())
            .output()
            .with_context(|| format!("`{line}` could not be started"))?;
        if !output.status.success() {
            bail!("`{line}` ended with {}.", output.status);
        }
        let text = String::from_utf8_lossy(&output.stdout);
        text.lines()
            .rev()
            .find_map(|message| json_string(message, "executable"))
            .map(PathBuf::from)
            .with_context(|| format!("`{line}` did not report the program that it built."))
    }

    /// The folder beside the repository that holds larger recordings and the score tool, if it is there.
    /// `ROSTRACE_SHARED` names another place, for work trees that lie elsewhere.
    pub(crate) fn shared(&self) -> Option<PathBuf> {
        let folder = env::var_os("ROSTRACE_SHARED")
            .map_or_else(|| self.root.join("../shared"), PathBuf::from);
        folder.canonicalize().ok().filter(|folder| folder.is_dir())
    }
}

/// The build cache to use: none where the user has already said where cargo builds.
fn build_cache(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    if variable("CARGO_TARGET_DIR").is_some() || variable(BUILD_DIRECTORY).is_some() {
        return None;
    }
    let folder = variable("ROSTRACE_BUILD_CACHE")
        .or_else(|| Some(variable("HOME")?.join(".cache/rostrace/target")))?;
    folder.is_dir().then_some(folder)
}

/// The value of the first string member `key` in a line of JSON, wherever it stands. Enough for the two
/// members that are read from cargo's output, and no reason to compile a JSON parser.
fn json_string(text: &str, key: &str) -> Option<String> {
    let start = format!("\"{key}\":\"");
    let mut characters = text[text.find(&start)? + start.len()..].chars();
    let mut value = String::new();
    loop {
        match characters.next()? {
            '"' => return Some(value),
            '\\' => match characters.next()? {
                escaped @ ('"' | '\\' | '/') => value.push(escaped),
                _ => return None,
            },
            plain => value.push(plain),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_a_program_is_read_from_cargos_message() {
        let message =
            r#"{"reason":"compiler-artifact","fresh":true,"executable":"/a \"b\"/rostrace"}"#;
        assert_eq!(
            json_string(message, "executable").as_deref(),
            Some("/a \"b\"/rostrace")
        );
        assert_eq!(json_string(r#"{"executable":null}"#, "executable"), None);
    }

    #[test]
    fn a_target_folder_that_is_set_wins_over_the_build_cache() {
        let folder = env::temp_dir();
        let cache = |name: &str| (name == "ROSTRACE_BUILD_CACHE").then(|| folder.clone());
        assert_eq!(build_cache(cache), Some(folder.clone()));
        for set in ["CARGO_TARGET_DIR", BUILD_DIRECTORY] {
            assert_eq!(
                build_cache(|name| cache(name).or((name == set).then(|| "/t".into()))),
                None
            );
        }
    }

    #[test]
    fn a_build_cache_that_does_not_exist_is_not_used() {
        let missing =
            |name: &str| (name == "ROSTRACE_BUILD_CACHE").then(|| "/no/such/folder".into());
        assert_eq!(build_cache(missing), None);
        assert_eq!(build_cache(|_| None), None);
    }
}

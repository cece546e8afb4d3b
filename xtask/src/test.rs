//! `cargo xtask test`: everything that must hold before a change goes in, in the order of what fails fastest.

use std::process::Command;

use anyhow::Result;

use crate::arguments::Arguments;
use crate::step::{Steps, succeed};
use crate::workspace::Workspace;
use crate::{fuzz, packages, planted, torture};

pub(crate) const USAGE: &str = "\
cargo xtask test [--quick]
    Checks the packages that the tests need, formatting, lints, all tests and the models of the shared memory;
    then builds the program with optimisations, throws damaged input at it for half a minute, records programs of
    all kinds for a minute, asks it why programs with planted causes are slow, and compares it with the recordings in ../shared.
    --quick   without what needs the optimised build";

/// Time for all fuzz targets together.
const FUZZ_SECONDS: u32 = 30;

/// Time for programs of all kinds under the tracer.
const TORTURE_SECONDS: u64 = 60;

pub(crate) fn run(workspace: &Workspace, mut arguments: Arguments) -> Result<()> {
    let quick = arguments.flag("--quick");
    arguments.finish()?;

    if let Some(folder) = workspace.build_cache() {
        println!("Intermediate files are kept in {}.", folder.display());
    }
    let mut steps = Steps::default();
    steps.run("packages", packages::ensure_installed)?;
    let mut not_tested = Vec::new();
    steps.run("packages of Python", || {
        for packages in &packages::FROM_PYPI {
            if let Err(error) = packages.install(&workspace.root) {
                not_tested.push(format!("{} ({error:#}).", packages.without));
            }
        }
        Ok(())
    })?;
    steps.run("formatting", || {
        succeed(&mut workspace.cargo(&["fmt", "--all", "--check"]))?;
        succeed(&mut workspace.cargo(&["fmt", "--check", fuzz::MANIFEST]))
    })?;
    steps.run("lints", || {
        let strict = ["--all-targets", "--", "-D", "warnings"];
        succeed(workspace.cargo(&["clippy", "--workspace"]).args(strict))?;
        let models = ["clippy", "--package=rostrace-session", "--features=models"];
        succeed(workspace.cargo(&models).args(strict))?;
        succeed(workspace.cargo(&["clippy", fuzz::MANIFEST]).args(strict))
    })?;
    steps.run("tests", || {
        succeed(&mut workspace.cargo(&["test", "--workspace"]))
    })?;

    steps.run("models", || {
        // All orders of what threads do to the shared memory: see crates/session/src/models.
        let models = ["--features=models", "--lib", "models::"];
        succeed(
            workspace
                .cargo(&["test", "--package=rostrace-session"])
                .args(models),
        )
    })?;

    if quick {
        not_tested.push(
            "--quick: no optimised build, no fuzzing, no torture, no planted causes, no score."
                .to_owned(),
        );
    } else {
        let program = steps.run("optimised build", || workspace.tested_program())?;
        steps.run("fuzzing", || fuzz::smoke(workspace, FUZZ_SECONDS))?;
        steps.run("torture", || {
            torture::smoke(workspace, program.clone(), TORTURE_SECONDS)
        })?;
        steps.run("planted causes", || planted::smoke(workspace, &program))?;
        match workspace.shared().map(|folder| folder.join("tools/score")) {
            Some(score) if score.is_file() => {
                steps.run("score", || succeed(Command::new(score).arg(program)))?
            }
            _ => not_tested.push(format!(
                "There is no ../shared/tools/score beside {}: the program was not compared with \
                 babeltrace2 on the large set of recordings.",
                workspace.root.display()
            )),
        }
    }

    println!("\n{}", steps.summary());
    for sentence in &not_tested {
        println!("NOT TESTED: {sentence}");
    }
    println!("All steps passed.");
    Ok(())
}

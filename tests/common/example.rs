//! Runs an example of the repository as a user does.

use std::process::Command;

/// What an example prints, run in an empty folder.
pub(crate) fn run(example: &str, environment: &[(&str, &str)]) -> String {
    // Beside the folder of this test's own program: `cargo test` builds the examples there.
    let tests = std::env::current_exe().unwrap();
    let program = tests.parent().unwrap().with_file_name("examples").join(example);
    assert!(program.exists(), "build it first: cargo build --examples --all-features");
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(program)
        .current_dir(&folder)
        .env_remove("LSEQ_STORE")
        .envs(environment.iter().copied())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{example}: {}\n{errors}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

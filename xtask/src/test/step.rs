//! One step of the test command: a heading, a program whose output goes through, a duration.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

use crate::exec::{self, Group};
use crate::{out, paths};

/// A program to run, and what is to be said about it.
pub(crate) struct Step<'a> {
    pub(crate) name: &'a str,
    pub(crate) command: Command,
    /// What must be done before the command when a person runs it again; may be empty.
    pub(crate) before: &'a str,
    pub(crate) limit: Duration,
}

/// The cargo that runs us.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(paths::workspace());
    command
}

impl Step<'_> {
    /// Runs the program; anything but success is an error that says how to run it again.
    pub(crate) fn run(mut self) -> anyhow::Result<()> {
        self.timed(|command, limit| Ok(Group::spawn(command)?.wait(limit)?.success()))
    }

    /// The same for a program that runs Rust tests, and returns how many passed. None at all is a
    /// failure: a check that cannot fail is worthless.
    pub(crate) fn run_tests(mut self) -> anyhow::Result<u64> {
        let mut passed = 0;
        self.timed(|command, limit| {
            let mut group = Group::spawn(command.stdout(Stdio::piped()))?;
            let stdout = group.child().stdout.take().context("no stdout")?;
            let reader = std::thread::spawn(move || count_passed(stdout, std::io::stdout()));
            let success = group.wait(limit)?.success();
            passed = reader.join().ok().context("the output could not be read")??;
            if success && passed == 0 {
                bail!("not one test was run");
            }
            Ok(success)
        })?;
        Ok(passed)
    }

    fn timed(
        &mut self,
        work: impl FnOnce(&mut Command, Duration) -> anyhow::Result<bool>,
    ) -> anyhow::Result<()> {
        let again = self.again();
        out::result(format_args!("\n==> {}\n    {again}", self.name));
        let started = Instant::now();
        let result = work(&mut self.command, self.limit);
        let seconds = started.elapsed().as_secs_f64();
        let failed = || format!("{} failed, run it again with `{again}`", self.name);
        if !result.with_context(failed)? {
            bail!(failed());
        }
        out::result(format_args!("<== {}: passed in {seconds:.1} s", self.name));
        Ok(())
    }

    /// What a person types to run this step alone.
    fn again(&self) -> String {
        let mut line = self.before.to_owned();
        for (name, value) in self.command.get_envs() {
            let value = value.unwrap_or_default();
            line.extend([&name.to_string_lossy(), "=", &value.to_string_lossy(), " "]);
        }
        let command = exec::display(&self.command);
        let arguments = command.split_once(' ').map_or("", |(_, arguments)| arguments);
        line + "cargo " + arguments
    }
}

/// Lets the output of tests through and counts what the summaries of the test programs report.
fn count_passed(output: impl Read, mut through: impl Write) -> std::io::Result<u64> {
    let mut output = BufReader::new(output);
    let mut passed = 0;
    let mut line = Vec::new();
    while output.read_until(b'\n', &mut line)? > 0 {
        passed += passed_in(&String::from_utf8_lossy(&line)).unwrap_or(0);
        // That nobody listens any more is no reason to stop the tests.
        let _ = through.write_all(&line);
        line.clear();
    }
    Ok(passed)
}

/// The number in `test result: ok. 12 passed; 0 failed; ...`.
fn passed_in(line: &str) -> Option<u64> {
    let rest = line.strip_prefix("test result: ")?;
    let (before, _) = rest.split_once(" passed;")?;
    before.rsplit(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passed_tests_are_counted_over_all_programs() {
        let output = "\nrunning 2 tests\ntest a ... ok\n\
            test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 9 filtered out\n\
            test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n\
            somebody prints: test result: ok. 100 passed; and more\n";
        let mut through = Vec::new();
        assert_eq!(count_passed(output.as_bytes(), &mut through).unwrap(), 5);
        assert_eq!(through, output.as_bytes());
    }

    #[test]
    fn a_run_without_tests_is_a_failure() {
        let mut command = Command::new("echo");
        command.arg("test result: ok. 0 passed; 0 failed; 3 ignored");
        let limit = Duration::from_secs(10);
        let step = Step { name: "nothing", command, before: "", limit };
        let error = format!("{:#}", step.run_tests().unwrap_err());
        assert!(error.ends_with("not one test was run"), "{error}");
    }
}

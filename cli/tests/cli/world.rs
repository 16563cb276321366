//! A folder of its own for every test, and the command run in it with an empty environment.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

/// Where one test runs. Nothing of the tester's own environment gets in.
pub(crate) struct World {
    folder: tempfile::TempDir,
    environment: Vec<(String, String)>,
}

impl World {
    /// The store is the file `ids.db` in the test's folder.
    pub(crate) fn embedded() -> Self {
        Self::bare().with("LSEQ_STORE", "sqlite:ids.db")
    }

    /// No store is named.
    pub(crate) fn bare() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data").display().to_string();
        let environment = Vec::new();
        Self { folder, environment }.with("XDG_DATA_HOME", &data)
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.environment.retain(|(own, _)| own != name);
        self
    }

    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        std::fs::write(self.path(file), text).unwrap();
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lseq"));
        command.args(arguments);
        self.at_home(command)
    }

    /// In the test's folder, with the test's environment.
    pub(crate) fn at_home(&self, mut command: Command) -> Command {
        command.env_clear().current_dir(self.folder.path()).stdin(Stdio::null());
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    pub(crate) fn output(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Starts the command with its output in pipes.
    pub(crate) fn spawn(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// What a run printed and how it ended, for a snapshot.
    pub(crate) fn run(&self, arguments: &[&str]) -> String {
        let output = self.output(arguments);
        let mut text = vec![format!("exit {}\n", output.status.code().unwrap())];
        for (name, bytes) in [("stdout", output.stdout), ("stderr", output.stderr)] {
            if !bytes.is_empty() {
                text.push(format!("--- {name}\n{}", String::from_utf8(bytes).unwrap()));
            }
        }
        self.filtered(&text.concat())
    }

    /// The same, where all that matters is that it went well.
    pub(crate) fn done(&self, arguments: &[&str]) -> String {
        let output = self.output(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", self.run(arguments));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Without what differs from run to run: the test's folder, identities, times.
    pub(crate) fn filtered(&self, text: &str) -> String {
        let text = text.replace(&self.folder.path().display().to_string(), "[FOLDER]");
        let mut before = "";
        let words = text.split_inclusive([' ', '\n', '"', ',']).map(|piece| {
            let word = piece.trim_end_matches([' ', '\n', '"', ',']);
            let end = &piece[word.len()..];
            let hex = |text: &str| text.chars().all(|c| c.is_ascii_hexdigit());
            let is_tag = word.len() == 12 && hex(word);
            let is_uuid =
                word.len() == 36 && hex(&word.replace('-', "")) && !word.starts_with("00000000");
            // As in "for 58ms", "1.2s": how long something took.
            let is_time = word.ends_with('s')
                && word.starts_with(|c: char| c.is_ascii_digit())
                && (word.contains('.') || before == "for");
            before = word;
            match (is_tag, is_uuid, is_time) {
                (true, _, _) => format!("[TAG]{end}"),
                (_, true, _) => format!("[UUID]{end}"),
                (_, _, true) => format!("[TIME]{end}"),
                _ => piece.to_owned(),
            }
        });
        words.collect()
    }
}

/// The ids of whole lines. A line that was cut off does not count.
pub(crate) fn ids(stdout: &[u8]) -> Vec<i64> {
    let whole = stdout.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let text = std::str::from_utf8(&stdout[..whole]).unwrap();
    text.lines().map(|line| line.parse().unwrap()).collect()
}

/// Waits for `child` while its output is read, however long it is.
pub(crate) fn finish(mut child: Child) -> Output {
    let mut stderr = child.stderr.take().unwrap();
    let errors = std::thread::spawn(move || {
        let mut text = Vec::new();
        stderr.read_to_end(&mut text).unwrap();
        text
    });
    let mut output = child.wait_with_output().unwrap();
    output.stderr = errors.join().unwrap();
    output
}

/// Waits until `is_so`, for at most two minutes.
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..12_000 {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("not within two minutes: {what}");
}

/// Panics unless no id is there twice.
pub(crate) fn assert_distinct(mut ids: Vec<i64>) {
    let count = ids.len();
    ids.sort_unstable();
    let twice: Vec<_> = ids.windows(2).filter(|pair| pair[0] == pair[1]).take(5).collect();
    assert!(twice.is_empty(), "ids given twice among {count}: {twice:?}");
}

pub(crate) fn exists(path: &Path) -> bool {
    path.try_exists().unwrap()
}

//! Reads a history line by line.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::event::{Event, FORMAT};

/// Where a part of a history is: a file, or bytes in memory.
#[derive(Clone, Debug)]
pub struct Source {
    name: String,
    content: Content,
}

#[derive(Clone, Debug)]
enum Content {
    File(PathBuf),
    Bytes(Arc<[u8]>),
}

impl Source {
    /// A file. It is read when it is checked, and once more if there is something to find in it.
    pub fn file(path: impl AsRef<Path>) -> Self {
        let path = path.as_ref();
        Self { name: path.display().to_string(), content: Content::File(path.to_owned()) }
    }

    /// Lines in memory, and what they are called where a line is named.
    pub fn bytes(name: impl Into<String>, lines: impl Into<Arc<[u8]>>) -> Self {
        Self { name: name.into(), content: Content::Bytes(lines.into()) }
    }

    /// What it is called: the path of a file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many bytes it has, as far as that can be known.
    pub(super) fn size(&self) -> u64 {
        match &self.content {
            Content::File(path) => std::fs::metadata(path).map_or(0, |file| file.len()),
            Content::Bytes(bytes) => bytes.len() as u64,
        }
    }

    pub(super) fn lines(&self) -> Result<Lines<'_>, HistoryError> {
        let input: Box<dyn BufRead> = match &self.content {
            Content::File(path) => {
                let file = open(path).map_err(|error| self.unreadable(error))?;
                Box::new(BufReader::with_capacity(CHUNK, file))
            }
            Content::Bytes(bytes) => Box::new(Cursor::new(bytes.clone())),
        };
        Ok(Lines { source: self, input, text: Vec::new(), number: 0, bytes: 0 })
    }

    fn unreadable(&self, error: io::Error) -> HistoryError {
        HistoryError::Unreadable { file: self.name.clone(), source: error }
    }

    pub(super) fn malformed(&self, line: u32, problem: impl Into<String>) -> HistoryError {
        HistoryError::Malformed { file: self.name.clone(), line, problem: problem.into() }
    }
}

/// Opens a file that can be read twice: opening a pipe would wait for its writer, and give each line once.
fn open(path: &Path) -> io::Result<File> {
    let kind = std::fs::metadata(path)?.file_type();
    if kind.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
    }
    if !kind.is_file() {
        let problem = "it is no regular file, and may have to be read twice";
        return Err(io::Error::new(io::ErrorKind::NotSeekable, problem));
    }
    File::open(path)
}

const CHUNK: usize = 1 << 18;

/// No event is nearly as long; a file that is no history is refused before it fills the memory.
const LONGEST: u64 = 1 << 16;

/// The lines of a source, one at a time.
pub(super) struct Lines<'a> {
    source: &'a Source,
    input: Box<dyn BufRead>,
    text: Vec<u8>,
    number: u32,
    bytes: u64,
}

/// One line, without its end.
#[derive(Clone, Copy)]
pub(super) struct Line<'a> {
    pub(super) number: u32,
    pub(super) text: &'a [u8],
    /// Whether its end was there: only the last line of a file may lack it.
    pub(super) whole: bool,
}

impl Lines<'_> {
    /// The next line, and how many bytes have been read with it.
    pub(super) fn next(&mut self) -> Result<Option<(Line<'_>, u64)>, HistoryError> {
        self.text.clear();
        let mut input = (&mut self.input).take(LONGEST);
        let read = input
            .read_until(b'\n', &mut self.text)
            .map_err(|error| self.source.unreadable(error))? as u64;
        if read == 0 {
            return Ok(None);
        }
        let Some(number) = self.number.checked_add(1) else {
            return Err(self.source.malformed(u32::MAX, "the file has too many lines; split it"));
        };
        (self.number, self.bytes) = (number, self.bytes + read);
        let whole = self.text.last() == Some(&b'\n');
        if whole {
            self.text.pop();
        } else if read == LONGEST {
            return Err(self.source.malformed(number, "the line is too long for an event"));
        }
        Ok(Some((Line { number, text: &self.text, whole }, self.bytes)))
    }
}

impl<'a> Line<'a> {
    /// The event, or what is wrong with it.
    pub(super) fn event(&self) -> Result<Event<'a>, String> {
        let event = serde_json::from_slice(self.text).map_err(|error| clear(&error))?;
        match event {
            Event::Process(process) if process.format != FORMAT => {
                Err(format!("the format is {}, this version reads {FORMAT}", process.format))
            }
            event => Ok(event),
        }
    }

    /// Whether this is the beginning of an event, as a crash leaves it. That of a host may leave zeros at the end.
    pub(super) fn is_torn(&self) -> bool {
        let end = self.text.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        serde_json::from_slice::<Event<'_>>(&self.text[..end]).is_err_and(|error| error.is_eof())
    }
}

/// An error of the parser, which repeats what it has read: a word of any length, with anything in it.
fn clear(error: &serde_json::Error) -> String {
    if error.is_eof() {
        return "the line ends too soon".to_owned();
    }
    let text = error.to_string().replace("at line 1 column", "at column");
    let mut letters = text.chars().map(|c| if c.is_control() { '?' } else { c });
    let clear: String = letters.by_ref().take(MESSAGE).collect();
    if letters.next().is_some() { clear + "..." } else { clear }
}

/// How much of the parser's message is shown, in characters.
const MESSAGE: usize = 240;

/// Why a history can't be judged. Nothing is known of its ids then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// A file can't be read.
    #[error("can't read {file}")]
    Unreadable {
        /// The file.
        file: String,
        /// Why.
        source: io::Error,
    },
    /// A line is no event, or can't be one at its place.
    #[error("{file}:{line}: {problem}")]
    Malformed {
        /// The file.
        file: String,
        /// The line, from 1.
        line: u32,
        /// What is wrong with it.
        problem: String,
    },
    /// Two files hold one and the same run of a process.
    #[error("{file}:{line}: this run is in {other} already: is a file given twice?")]
    Twice {
        /// The second file.
        file: String,
        /// The line where the run begins.
        line: u32,
        /// The first file.
        other: String,
    },
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use super::*;
    use crate::history::{Options, Report, check};

    const PROCESS: &str =
        r#"{"process":{"format":1,"client":"a","run":"RUN","boot_id":"b","time_namespace":"n"}}"#;
    const OPEN: &str = r#"{"open":{"g":1,"h":1,"sequence":"orders","definition":{"start_value":1,"increment_by":1,"min_value":1,"max_value":9},"value":0,"t":5}}"#;

    fn process(run: u128) -> String {
        PROCESS.replace("RUN", &uuid::Uuid::from_u128(run).to_string())
    }

    fn judge(lines: &str) -> Result<Report, HistoryError> {
        check(&[Source::bytes("h", lines.as_bytes())], Options::default())
    }

    fn refusal(lines: &str) -> String {
        judge(lines).unwrap_err().to_string()
    }

    fn torn(lines: &str) -> Vec<u32> {
        judge(lines).unwrap().torn.iter().map(|torn| torn.line).collect()
    }

    #[test]
    fn a_torn_last_line_is_accepted_and_reported() {
        let whole = format!("{}\n{OPEN}\n", process(1));
        assert_eq!(torn(&whole), [0; 0]);
        let cut = &whole[..whole.len() - 9];
        assert_eq!(torn(cut), [2]);
        assert_eq!(torn(&whole[..whole.len() - 1]), [0; 0], "all of it is there but its end");
        assert_eq!(torn(&whole[..7]), [1]);
        assert_eq!(torn(""), [0; 0]);
    }

    #[test]
    fn a_line_that_the_next_run_found_torn_is_accepted_too() {
        let restarted = format!("{}\n{{\"open\":{{\"g\"\n{}\n{OPEN}\n", process(1), process(2));
        assert_eq!(torn(&restarted), [2]);
        assert_eq!(judge(&restarted).unwrap().summary.processes, 2);
        // On a full disk the next run may get no further than its first line, or not so far.
        let again = restarted.replace(&process(2), &process(2)[..30]);
        let again = again.replace(&format!("\n{OPEN}"), &format!("\n{}", process(3)));
        assert_eq!(torn(&again), [2, 3]);
        let end = again.find(&process(3)).unwrap();
        assert_eq!(torn(&again[..end - 1]), [2, 3]);
    }

    /// Whatever byte is the last one that reached the disk, of any event; a host that crashed may add zeros.
    #[test]
    fn every_beginning_of_a_line_is_torn_and_nothing_else_is() {
        let events = [
            OPEN.to_owned(),
            process(1),
            OPEN.replace("\"value\":0", "\"value\":-9223372036854775808,\"d\":7"),
            OPEN.replace("orders", r#"\u00fc\"ö"#),
            r#"{"reserve":{"g":1,"n":1,"attempt":"00000000-0000-8000-8000-000000000001","old":-5,"value":5,"t":9}}"#.to_owned(),
            r#"{"info":{"n":1,"why":"no answer","t":9}}"#.to_owned(),
            r#"{"give":{"g":1,"id":-2,"to":11,"how":"next_ids","d":900,"t":9}}"#.to_owned(),
            r#"{"stop":{"g":1,"cause":"regressed","t":9}}"#.to_owned(),
            r#"{"nemesis":{"n":4,"fault":"restore","sequence":"orders","target":"node 2","t":18}}"#.to_owned(),
        ];
        let is_torn = |text: &[u8]| Line { number: 1, text, whole: false }.is_torn();
        for event in events {
            serde_json::from_str::<Event<'_>>(&event).unwrap();
            for end in 0..event.len() {
                let cut = &event.as_bytes()[..end];
                assert!(is_torn(cut), "{}", String::from_utf8_lossy(cut));
                assert!(is_torn(&[cut, &[0; 99]].concat()));
            }
            assert!(!is_torn(event.as_bytes()));
            assert!(!is_torn(&event.as_bytes()[1..]), "its end is no beginning");
        }
        for other in [&b"id,at"[..], b"7", b"\x7fELF\x02\x01", b"{\"party\":", b"[]", b"{\"a\0b"] {
            assert!(!is_torn(other), "{}", String::from_utf8_lossy(other));
        }
    }

    #[test]
    fn what_is_no_event_is_an_error_though_a_run_follows_it_or_nothing_does() {
        let garbage = format!("{}\ngarbage\n{}\n", process(1), process(2));
        assert_eq!(refusal(&garbage), "h:2: expected value at column 1");
        assert_eq!(refusal(&garbage[..process(1).len() + 5]), "h:2: expected value at column 1");
        assert_eq!(refusal("no history"), "h:1: expected value at column 1");
    }

    #[test]
    fn a_message_shows_neither_much_nor_control_characters() {
        let strange = refusal(&format!("{{\"\x1b[31m{}\":1}}\n", "x".repeat(9000)));
        assert!(strange.len() < 300, "{strange}");
        let escaped = refusal("{\"\\u001b[31m\":1}\n");
        assert!(escaped.starts_with("h:1: unknown variant `?[31m`, expected"), "{escaped}");
    }

    #[test]
    fn only_a_regular_file_can_be_read_twice() {
        let directory = tempfile::tempdir().unwrap();
        let folder = check(&[Source::file(directory.path())], Options::default()).unwrap_err();
        assert_eq!(folder.source().unwrap().to_string(), "it is a folder");
        let device = check(&[Source::file("/dev/null")], Options::default()).unwrap_err();
        assert!(device.source().unwrap().to_string().starts_with("it is no regular file"));
    }

    #[test]
    fn any_other_malformed_line_is_an_error_that_names_file_and_line() {
        let head = process(1);
        for (line, problem) in [
            ("{\"open\":{\"g\"", "the line ends too soon"),
            ("", "the line ends too soon"),
            ("{\"close\":{\"g\":1,\"t\":9,\"x\":1}}", "unknown field `x`"),
            ("{\"party\":{}}", "unknown variant `party`"),
            ("{\"give\":{\"g\":1,\"id\":9223372036854775808,\"t\":9}}", "expected i64"),
            ("{\"give\":{\"g\":1,\"t\":9}}", "missing field `id`"),
        ] {
            let refused = refusal(&format!("{head}\n{OPEN}\n{line}\n{OPEN}\n"));
            assert!(refused.starts_with("h:3: "), "{refused}");
            assert!(refused.contains(problem), "{refused}");
            let last = refusal(&format!("{head}\n{OPEN}\n{line}\n"));
            assert!(last.starts_with("h:3: "), "not torn, since it ends: {last}");
        }
    }

    #[test]
    fn an_event_that_can_not_be_at_its_place_is_an_error() {
        let head = format!("{}\n{OPEN}\n", process(1));
        for (line, problem) in [
            (r#"{"give":{"g":2,"id":1,"t":9}}"#, "generator 2 was not opened"),
            (r#"{"give":{"g":1,"id":1,"t":4}}"#, "time goes back, from 5 to 4"),
            (r#"{"give":{"g":1,"id":3,"to":1,"t":9}}"#, "a range runs in the sequence's direction"),
            (r#"{"ok":{"n":1,"t":9}}"#, "no operation 1 is under way"),
            (
                r#"{"reserve":{"g":1,"n":1,"attempt":"00000000-0000-8000-8000-000000000001","old":5,"value":5,"t":9}}"#,
                "a reservation moves the value on",
            ),
            (OPEN, "generator 1 was opened before"),
        ] {
            assert_eq!(refusal(&format!("{head}{line}\n")), format!("h:3: {problem}"));
        }
        let headless = refusal(OPEN);
        assert_eq!(headless, "h:1: the first line of a history says which process it is of");
        let later = process(1).replace("\"format\":1", "\"format\":2");
        assert_eq!(refusal(&format!("{later}\n")), "h:1: the format is 2, this version reads 1");
    }

    #[test]
    fn a_file_that_is_given_twice_is_an_error_and_no_duplicate() {
        let one = |name| Source::bytes(name, process(1).into_bytes());
        let twice = check(&[one("a"), one("b")], Options::default()).unwrap_err();
        assert_eq!(twice.to_string(), "b:1: this run is in a already: is a file given twice?");
    }

    #[test]
    fn a_file_that_is_not_there_or_no_history_is_refused_soon() {
        let missing = check(&[Source::file("/nowhere/h")], Options::default()).unwrap_err();
        assert_eq!(missing.to_string(), "can't read /nowhere/h");
        assert!(missing.source().is_some());
        let endless = judge(&"x".repeat(100_000)).unwrap_err().to_string();
        assert_eq!(endless, "h:1: the line is too long for an event");
    }
}

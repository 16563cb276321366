//! Ids as lines, quickly: a hundred million take no more memory than ten.

use std::io::{self, Write};

use lamport_seq::IdRange;

/// What one write may hold for a pipe to take it whole or not at all (`PIPE_BUF` on Linux): a command that is
/// killed leaves no half id behind, which would look like another id.
const WRITE: usize = 4096;
/// Room for the longest line.
const LINE: usize = 32;

/// Writes ids one a line, in writes of whole lines.
pub(crate) struct IdWriter<W> {
    out: W,
    buffer: [u8; WRITE],
    filled: usize,
    before: &'static [u8],
    after: &'static [u8],
}

impl<W: Write> IdWriter<W> {
    /// Plain numbers, or `{"id":N}` with `json`.
    pub(crate) fn new(out: W, json: bool) -> Self {
        let (before, after): (&[u8], &[u8]) =
            if json { (b"{\"id\":", b"}\n") } else { (b"", b"\n") };
        Self { out, buffer: [0; WRITE], filled: 0, before, after }
    }

    /// Writes all ids of `range`; when it returns, they have been handed to the operating system.
    pub(crate) fn write(&mut self, range: IdRange) -> io::Result<()> {
        let mut digits = itoa::Buffer::new();
        for id in range {
            if self.filled > WRITE - LINE {
                self.flush()?;
            }
            for part in [self.before, digits.format(id).as_bytes(), self.after] {
                self.buffer[self.filled..self.filled + part.len()].copy_from_slice(part);
                self.filled += part.len();
            }
        }
        self.flush()
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(&self.buffer[..self.filled])?;
        self.filled = 0;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keeps each write apart.
    #[derive(Default)]
    struct Writes(Vec<Vec<u8>>);

    impl Write for Writes {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.push(bytes.to_vec());
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn written(range: IdRange, json: bool) -> Vec<Vec<u8>> {
        let mut writes = Writes::default();
        IdWriter::new(&mut writes, json).write(range).unwrap();
        writes.0
    }

    #[test]
    fn every_write_is_whole_lines_that_a_pipe_takes_at_once() {
        for (first, last, step) in [
            (1, 100_000, 1),
            (-12_345, 12_345, 1),
            (12_345, -12_345, -1),
            (i64::MIN, i64::MIN + 9999, 1),
            (i64::MIN + 9999, i64::MIN, -1),
            (i64::MAX - 9999, i64::MAX, 1),
            (-9, 9990, 3),
        ] {
            let range = IdRange::new(first, last, step).unwrap();
            for json in [false, true] {
                let writes = written(range, json);
                assert!(writes.iter().all(|write| write.len() <= WRITE && write.ends_with(b"\n")));
                let lines = String::from_utf8(writes.concat()).unwrap();
                let line = |id: i64| {
                    if json { format!("{{\"id\":{id}}}") } else { id.to_string() }
                };
                assert!(lines.lines().eq(range.into_iter().map(line)));
            }
        }
    }
}

//! Where there are no Unix processes: scripts can write, read and exit.

use std::fs::FileType;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::OnceLock;
use std::time::Instant;
use test_support::script::{Signal, Stream};

fn absent() -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, "this step needs a Unix system")
}

pub(crate) fn write(stream: Stream, bytes: &[u8]) -> io::Result<usize> {
    match stream {
        Stream::Stdout => {
            let mut stdout = io::stdout().lock();
            stdout.write_all(bytes)?;
            stdout.flush()?;
        }
        Stream::Stderr => io::stderr().lock().write_all(bytes)?,
    }
    Ok(bytes.len())
}

pub(crate) fn without_waiting(_write: impl FnOnce()) -> io::Result<()> {
    Err(absent())
}

pub(crate) fn close_stdout() -> io::Result<()> {
    Err(absent())
}

pub(crate) fn is_named_pipe(_file_type: FileType) -> bool {
    false
}

pub(crate) fn wait_for_writer(_path: &Path) -> io::Result<()> {
    Err(absent())
}

pub(crate) fn monotonic_nanoseconds() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    u64::try_from(START.get_or_init(Instant::now).elapsed().as_nanos()).unwrap_or(u64::MAX)
}

pub(crate) fn start_session() -> io::Result<()> {
    Err(absent())
}

pub(crate) fn stop_self() -> io::Result<()> {
    Err(absent())
}

pub(crate) fn die_by(_signal: Signal) -> io::Result<()> {
    Err(absent())
}

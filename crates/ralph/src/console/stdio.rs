//! The streams of this process.

use std::fs::File;
use std::io::Write;

use super::queue::{Gap, Queue};

type Stream = Queue<Box<dyn Write + Send>>;

/// This process's stdout.
#[must_use]
pub fn stdout(gap: Gap) -> Stream {
    Queue::new(unbuffered(Some(std::io::stdout())), gap)
}

/// This process's stderr.
#[must_use]
pub fn stderr() -> Stream {
    Queue::new(unbuffered(Some(std::io::stderr())), Gap::Told)
}

/// Whether stdout and stderr go to the same place, a terminal or a file.
#[cfg(unix)]
#[must_use]
pub fn is_stderr_shared() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let place = |file: Option<File>| {
        let metadata = file?.metadata().ok()?;
        Some((metadata.dev(), metadata.ino()))
    };
    let stdout = place(duplicate(&std::io::stdout()));
    stdout.is_some() && stdout == place(duplicate(&std::io::stderr()))
}

/// Whether stdout and stderr go to the same place: two terminals are always the same one here.
#[cfg(not(unix))]
#[must_use]
pub fn is_stderr_shared() -> bool {
    use std::io::IsTerminal as _;
    std::io::stdout().is_terminal() && std::io::stderr().is_terminal()
}

/// The stream without the buffer of the standard library, which would cut an update after its last newline.
#[cfg(unix)]
fn unbuffered<S: std::os::fd::AsFd + Write + Send + 'static>(stream: Option<S>) -> Box<dyn Write + Send> {
    match stream.as_ref().and_then(duplicate) {
        Some(file) => Box::new(file),
        // There is no such stream: nothing can be written, and nobody minds.
        None => Box::new(std::io::sink()),
    }
}

#[cfg(unix)]
fn duplicate(stream: &impl std::os::fd::AsFd) -> Option<File> {
    stream.as_fd().try_clone_to_owned().ok().map(File::from)
}

#[cfg(not(unix))]
fn unbuffered<S: Write + Send + 'static>(stream: Option<S>) -> Box<dyn Write + Send> {
    match stream {
        Some(stream) => Box::new(stream),
        None => Box::new(std::io::sink()),
    }
}

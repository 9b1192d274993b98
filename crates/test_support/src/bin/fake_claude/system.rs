//! What needs the operating system, on Unix.

use rustix::fs::OFlags;
use rustix::{fs, io, process, stdio, time};
use std::fs::{File, FileType, OpenOptions};
use std::os::unix::fs::FileTypeExt as _;
use test_support::script::{Signal, Stream};

pub(crate) fn write(stream: Stream, bytes: &[u8]) -> std::io::Result<usize> {
    let written = match stream {
        Stream::Stdout => io::write(stdio::stdout(), bytes),
        Stream::Stderr => io::write(stdio::stderr(), bytes),
    };
    written.map_err(Into::into)
}

/// Runs with a stdout that refuses what it cannot take at once.
pub(crate) fn without_waiting(write: impl FnOnce()) -> std::io::Result<()> {
    let flags = fs::fcntl_getfl(stdio::stdout())?;
    fs::fcntl_setfl(stdio::stdout(), flags | OFlags::NONBLOCK)?;
    write();
    // The flag belongs to the open file, which others may share.
    fs::fcntl_setfl(stdio::stdout(), flags)?;
    Ok(())
}

/// The reader sees the end of the stream; descriptor 1 stays occupied, so that nothing else ends up there.
pub(crate) fn close_stdout() -> std::io::Result<()> {
    let nowhere = OpenOptions::new().write(true).open("/dev/null")?;
    stdio::dup2_stdout(&nowhere).map_err(Into::into)
}

pub(crate) fn is_named_pipe(file_type: FileType) -> bool {
    file_type.is_fifo()
}

/// Blocks until somebody opened the pipe for writing, and until the last of them closed it.
pub(crate) fn wait_for_writer(path: &std::path::Path) -> std::io::Result<()> {
    std::io::copy(&mut File::open(path)?, &mut std::io::sink()).map(drop)
}

pub(crate) fn monotonic_nanoseconds() -> u64 {
    let now = time::clock_gettime(time::ClockId::Monotonic);
    u64::try_from(now.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}

pub(crate) fn start_session() -> std::io::Result<()> {
    process::setsid().map(drop).map_err(Into::into)
}

pub(crate) fn stop_self() -> std::io::Result<()> {
    process::kill_process(process::getpid(), process::Signal::STOP).map_err(Into::into)
}

/// Dies by the signal as if nobody had ever handled it.
pub(crate) fn die_by(signal: Signal) -> std::io::Result<()> {
    signal_hook::low_level::emulate_default_handler(number(signal))?;
    process::kill_process(process::getpid(), process::Signal::KILL).map_err(Into::into)
}

pub(crate) fn number(signal: Signal) -> i32 {
    use signal_hook::consts::signal;
    match signal {
        Signal::HangUp => signal::SIGHUP,
        Signal::Interrupt => signal::SIGINT,
        Signal::Quit => signal::SIGQUIT,
        Signal::Abort => signal::SIGABRT,
        Signal::Kill => signal::SIGKILL,
        Signal::SegmentationFault => signal::SIGSEGV,
        Signal::User1 => signal::SIGUSR1,
        Signal::Terminate => signal::SIGTERM,
    }
}

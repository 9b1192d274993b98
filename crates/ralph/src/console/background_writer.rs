//! `BackgroundWriter`: writes lines to a stream from a thread of its own. For messages beside a run, whose reader must
//! not delay it.

use std::io::Write;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::Duration;

use super::stdio::{self, Output};

/// At most this many texts wait to be written.
const MAX_WAITING: usize = 256;

/// Writes to a stream without waiting for its reader. Skips what does not fit, and says so.
#[derive(Debug)]
pub struct BackgroundWriter {
    texts: Option<SyncSender<String>>,
    finished: Receiver<()>,
    skipped_bytes: usize,
}

impl BackgroundWriter {
    /// Writes to this process's stderr.
    pub fn on_stderr() -> Self {
        Self::new(stdio::stderr())
    }

    /// Writes to any stream. Where the system refuses another thread, nothing is written.
    pub fn new(writer: impl Write + Send + 'static) -> Self {
        let (texts, received) = sync_channel::<String>(MAX_WAITING);
        let (is_finished, finished) = sync_channel(1);
        let mut output = Output::new(writer);
        let thread = thread::Builder::new()
            .name("messages".to_owned())
            .stack_size(128 * 1024);
        let _ = thread.spawn(move || {
            for text in received {
                output.write(&text);
            }
            let _ = is_finished.send(());
        });
        Self {
            texts: Some(texts),
            finished,
            skipped_bytes: 0,
        }
    }

    /// Writes the text, or skips it.
    pub fn send(&mut self, text: &str) {
        let Some(texts) = &self.texts else { return };
        let mut whole = String::new();
        if self.skipped_bytes > 0 {
            whole = format!(
                "({} bytes skipped: output was not being read)\n",
                self.skipped_bytes
            );
        }
        whole.push_str(text);
        match texts.try_send(whole) {
            Ok(()) => self.skipped_bytes = 0,
            Err(TrySendError::Full(_)) => self.skipped_bytes += text.len(),
            Err(TrySendError::Disconnected(_)) => {}
        }
    }

    /// Waits until everything is written, but not longer than `timeout`.
    pub fn finish(&mut self, timeout: Duration) {
        if self.texts.take().is_some() {
            let _ = self.finished.recv_timeout(timeout);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::time::Duration;

    use super::{BackgroundWriter, MAX_WAITING};

    /// A reader that takes a text when it is allowed to.
    struct Gate {
        entered: Sender<()>,
        turns: Receiver<()>,
        taken: Sender<String>,
    }

    impl Write for Gate {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.entered.send(());
            self.turns.recv().map_err(|_| io::ErrorKind::BrokenPipe)?;
            let text = String::from_utf8_lossy(bytes).into_owned();
            self.taken.send(text).map_err(|_| io::ErrorKind::BrokenPipe)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A writer whose thread holds one text, with a full queue behind it and nine texts skipped.
    fn flooded() -> (BackgroundWriter, Sender<()>, Receiver<String>) {
        let (entered, has_entered) = channel();
        let (turn, turns) = channel();
        let (taken, received) = channel();
        let mut writer = BackgroundWriter::new(Gate {
            entered,
            turns,
            taken,
        });
        writer.send("12345\n");
        has_entered.recv().unwrap();
        for _ in 0..MAX_WAITING + 9 {
            writer.send("12345\n");
        }
        (writer, turn, received)
    }

    #[test]
    fn a_reader_that_stops_reading_is_not_waited_for() {
        let (mut writer, turn, received) = flooded();
        writer.finish(Duration::ZERO);
        drop(turn);
        assert!(received.recv().is_err());
    }

    #[test]
    fn a_reader_that_resumes_sees_how_much_was_skipped() {
        let (mut writer, turn, received) = flooded();
        let written = MAX_WAITING + 1;
        for _ in 0..=written {
            turn.send(()).unwrap();
        }
        for _ in 0..written {
            assert_eq!(received.recv().unwrap(), "12345\n");
        }
        writer.send("last\n");
        writer.finish(Duration::from_secs(60));
        let note = "(54 bytes skipped: output was not being read)\nlast\n";
        assert_eq!(received.recv().unwrap(), note);
    }
}

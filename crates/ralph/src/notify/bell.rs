//! `Bell`: rings the bell of the terminal that the run was started in.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::time::Duration;

use super::channel::Channel;
use super::notification::Notification;

/// The terminal itself: stdout and stderr may be files.
const TERMINAL: &str = "/dev/tty";

pub(super) struct Bell;

impl Bell {
    /// A run in the background has no terminal.
    pub(super) fn has_terminal() -> bool {
        terminal().is_ok()
    }
}

impl Channel for Bell {
    fn name(&self) -> &'static str {
        "bell"
    }

    fn timeout(&self) -> Duration {
        Duration::ZERO
    }

    fn send(&mut self, _: &Notification) -> Result<(), String> {
        let rung = terminal().and_then(|mut terminal| terminal.write_all(b"\x07"));
        rung.map_err(|error| format!("there is no terminal: {error}"))
    }
}

fn terminal() -> io::Result<File> {
    OpenOptions::new().write(true).open(TERMINAL)
}

//! `TerminalMode`: the mode of the terminal on stdin while keys are read. `TerminalInput` sets and restores it.

use rustix::termios::{
    InputModes, LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, tcflush, tcgetattr,
    tcsetattr,
};

use crate::ready_write::write_if_ready;

const PASTE_MARKS_ON: &str = "\u{1b}[?2004h";
const PASTE_MARKS_OFF: &str = "\u{1b}[?2004l";

/// The mode that the terminal had, while it has ours.
#[derive(Debug, Default)]
pub(super) struct TerminalMode {
    original: Option<Termios>,
    is_set: bool,
}

impl TerminalMode {
    /// Keys arrive one by one and are not echoed. Ctrl-C, Ctrl-Z and Ctrl-S work as before. Discards what was typed
    /// earlier.
    pub(super) fn set(&mut self) {
        if self.is_set {
            return;
        }
        let stdin = rustix::stdio::stdin();
        // Not known again after a suspension: a shell may have left another one, but ours is not the original.
        if self.original.is_none() {
            self.original = tcgetattr(stdin).ok();
        }
        let Some(original) = &self.original else { return };
        let mut mode = original.clone();
        mode.local_modes -= LocalModes::ECHO | LocalModes::ECHONL | LocalModes::ICANON | LocalModes::IEXTEN;
        // Enter and Ctrl-J are different keys.
        mode.input_modes -= InputModes::ICRNL | InputModes::INLCR | InputModes::IGNCR;
        // A read never waits: poll does.
        mode.special_codes[SpecialCodeIndex::VMIN] = 0;
        mode.special_codes[SpecialCodeIndex::VTIME] = 0;
        // At once, not when all output is written: a terminal on hold would stop us.
        if tcsetattr(stdin, OptionalActions::Now, &mode).is_ok() {
            let _ = tcflush(stdin, QueueSelector::IFlush);
            write_if_ready(PASTE_MARKS_ON);
            self.is_set = true;
        }
    }

    /// Gives the terminal back as it was, without anything that was typed and not read.
    pub(super) fn restore(&mut self) {
        if !std::mem::take(&mut self.is_set) {
            return;
        }
        let stdin = rustix::stdio::stdin();
        write_if_ready(PASTE_MARKS_OFF);
        let _ = tcflush(stdin, QueueSelector::IFlush);
        if let Some(original) = &self.original {
            // Fails only where the terminal is gone.
            let _ = tcsetattr(stdin, OptionalActions::Now, original);
        }
    }

    /// Another process has the terminal, with a mode of its own.
    pub(super) fn forget(&mut self) {
        self.is_set = false;
    }
}

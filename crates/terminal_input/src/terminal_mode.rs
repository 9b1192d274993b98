//! `TerminalMode`: the mode of the terminal on stdin while keys are read. `TerminalInput` sets and restores it.

use std::time::Duration;

use rustix::termios::{
    InputModes, LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, tcflush, tcgetattr,
    tcsetattr,
};

use crate::ready_write::{write_if_ready, write_within};

const PASTE_MARKS_ON: &str = "\u{1b}[?2004h";
const PASTE_MARKS_OFF: &str = "\u{1b}[?2004l";

const SAVE_TITLE: &str = "\u{1b}[22;0t";
const RESTORE_TITLE: &str = "\u{1b}[23;0t";
/// The alternate screen, empty.
const SCREEN_ON: &str = "\u{1b}[?1049h\u{1b}[?2004h\u{1b}[H\u{1b}[2J";
/// Buttons, motion while a button is pressed, and places beyond column 223.
const MOUSE_ON: &str = "\u{1b}[?1000h\u{1b}[?1002h\u{1b}[?1006h";
/// The wheel as arrow keys.
const WHEEL_ON: &str = "\u{1b}[?1007h";
const MOUSE_OFF: &str = "\u{1b}[?1007l\u{1b}[?1006l\u{1b}[?1002l\u{1b}[?1000l";
const FOCUS_ON: &str = "\u{1b}[?1004h";
/// Says when the terminal changes between dark and light.
const BACKGROUND_ON: &str = "\u{1b}[?2031h";
/// Undoes all of it, whatever of it was done: each part is harmless alone.
const SCREEN_OFF: &str = "\u{1b}[?2031l\u{1b}[?1007l\u{1b}[?1006l\u{1b}[?1002l\u{1b}[?1000l\u{1b}[?1004l\u{1b}[?2004l\u{1b}[r\u{1b}[0m\u{1b}[?25h\u{1b}[?1049l";

/// How long a terminal that is on hold is waited for to restore its screen.
const RESTORE_TIMEOUT: Duration = Duration::from_millis(300);

/// What the terminal is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Keys beside text that flows by. Ctrl-C, Ctrl-Z and Ctrl-S work as before.
    Line,
    /// The whole screen. Ctrl-C and Ctrl-Z are keys.
    Screen(ScreenOptions),
}

/// What a full screen wants to be told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScreenOptions {
    pub mouse: MouseReports,
    pub reports_focus: bool,
    pub reports_background: bool,
}

/// What a full screen is told about the mouse.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MouseReports {
    #[default]
    None,
    /// The wheel comes as arrow keys; the buttons are the terminal's.
    WheelAsArrows,
    All,
}

impl MouseReports {
    fn sequence(self) -> &'static str {
        match self {
            Self::None => "",
            Self::WheelAsArrows => WHEEL_ON,
            Self::All => MOUSE_ON,
        }
    }
}

/// The mode that the terminal had, while it has ours.
#[derive(Debug)]
pub(super) struct TerminalMode {
    form: Form,
    original: Option<Termios>,
    is_set: bool,
    /// Whether the terminal keeps the title that it had. It can keep several, so that it is told once.
    has_saved_title: bool,
}

impl TerminalMode {
    pub(super) fn new(form: Form) -> Self {
        Self {
            form,
            original: None,
            is_set: false,
            has_saved_title: false,
        }
    }

    /// Keys arrive one by one and are not echoed. Discards what was typed earlier, unless a full screen begins: then
    /// nothing that was typed before it is lost.
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
        if let Form::Screen(_) = self.form {
            mode.local_modes -= LocalModes::ISIG;
            mode.input_modes -= InputModes::IXON;
        }
        // A shell that finds this mode after `kill -9` would take a read of 0 bytes for the end of its input.
        mode.special_codes[SpecialCodeIndex::VMIN] = 1;
        mode.special_codes[SpecialCodeIndex::VTIME] = 0;
        // At once, not when all output is written: a terminal on hold would stop us.
        if tcsetattr(stdin, OptionalActions::Now, &mode).is_err() {
            return;
        }
        match self.form {
            Form::Line => {
                let _ = tcflush(stdin, QueueSelector::IFlush);
                write_if_ready(PASTE_MARKS_ON);
            }
            Form::Screen(options) => {
                let mut sequence = String::new();
                if !std::mem::replace(&mut self.has_saved_title, true) {
                    sequence.push_str(SAVE_TITLE);
                }
                sequence.push_str(SCREEN_ON);
                sequence.push_str(options.mouse.sequence());
                if options.reports_focus {
                    sequence.push_str(FOCUS_ON);
                }
                if options.reports_background {
                    sequence.push_str(BACKGROUND_ON);
                }
                write_within(&sequence, RESTORE_TIMEOUT);
            }
        }
        self.is_set = true;
    }

    /// Gives the terminal back as it was, without anything that was typed and not read.
    pub(super) fn restore(&mut self) {
        if !std::mem::take(&mut self.is_set) {
            return;
        }
        let stdin = rustix::stdio::stdin();
        match self.form {
            Form::Line => write_if_ready(PASTE_MARKS_OFF),
            Form::Screen(_) => {
                write_within(SCREEN_OFF, RESTORE_TIMEOUT);
                if std::mem::take(&mut self.has_saved_title) {
                    write_if_ready(RESTORE_TITLE);
                }
            }
        }
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

    pub(super) fn is_set(&self) -> bool {
        self.is_set
    }

    /// Reports this of the mouse from now on.
    pub(super) fn set_mouse(&mut self, mouse: MouseReports) {
        let Form::Screen(options) = &mut self.form else {
            return;
        };
        options.mouse = mouse;
        if self.is_set {
            write_if_ready(&format!("{MOUSE_OFF}{}", mouse.sequence()));
        }
    }
}

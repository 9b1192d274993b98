//! `EventLoop::perform()`: runs the effects that `App::update()` returns.

use std::io::{self, Write as _};

use run_view::sanitise;

use super::clipboard::{self, Way};
use super::event_loop::EventLoop;
use super::panic_hook::catch_panic;
use super::{Exit, editor, files, loader};
use crate::driver::mouse_reports;
use crate::effect::{Destination, Effect};
use crate::input::Input;

/// What became of an effect that took a while.
#[derive(Debug)]
pub(super) enum Report {
    Input(Input),
    /// The program that had the terminal has ended.
    TerminalReturned(Option<Input>),
    /// A transcript that is to be read in the terminal, outside of this UI.
    TranscriptReady {
        run: String,
        reader: TranscriptReader,
        text: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TranscriptReader {
    Scrollback,
    Editor,
}

impl EventLoop {
    /// Performs an effect. The exit, if it ends the terminal UI.
    pub(super) fn perform(&mut self, effect: Effect) -> Option<Exit> {
        match effect {
            Effect::Open { run } => self.open(run),
            Effect::Preview { run } => {
                let home = self.home.clone();
                self.in_background(
                    {
                        let run = run.clone();
                        move || {
                            let model = Box::new(loader::read_model(&home, &run)?);
                            Ok(Input::Preview { run, model })
                        }
                    },
                    |reason| Input::PreviewFailed { run, reason },
                );
            }
            Effect::Close => {
                self.loader = None;
                self.open_run = None;
                // The thread lives as long as this loop.
                let _ = self.wants_runs.send(true);
            }
            Effect::Command { run, command } => self.commands.send(run, command),
            Effect::Start(request) => {
                let actions = self.actions.clone();
                self.in_background(move || actions.start(&request).map(started), not_started);
            }
            Effect::Resume { run, is_fork } => {
                let actions = self.actions.clone();
                self.in_background(move || actions.resume(&run, is_fork).map(started), not_started);
            }
            Effect::OpenInBrowser { run } => {
                let actions = self.actions.clone();
                self.in_background(
                    move || {
                        actions.open_in_browser(&run)?;
                        Ok(Input::Notice("opened in the browser".to_owned()))
                    },
                    Input::Notice,
                );
            }
            Effect::EditText { text } => self.with_terminal(move || match editor::edit_text(&text) {
                Ok(text) => Some(Input::Edited { text }),
                Err(reason) => Some(Input::Notice(reason)),
            }),
            Effect::EditFile { path, line } => {
                self.with_terminal(move || editor::edit_file(&path, line).err().map(Input::Notice));
            }
            Effect::Copy { text } => self.copy(text),
            Effect::Transcript { run, destination } => {
                let (home, reports) = (self.home.clone(), self.reports.clone());
                tokio::task::spawn_blocking(move || {
                    let exported = catch_panic(|| {
                        let text = loader::read_transcript(&home, &run)?;
                        Ok(export_transcript(run, destination, text))
                    });
                    let report = exported
                        .flatten()
                        .unwrap_or_else(|reason| Report::Input(Input::Notice(reason)));
                    // Without a receiver, the terminal UI has ended.
                    let _ = reports.send(report);
                });
            }
            Effect::ShowRaw {
                run,
                attempt,
                offset,
                length,
            } => {
                let home = self.home.clone();
                self.in_background(
                    move || {
                        let text = files::read_raw(&home, &run, attempt, offset, length)?;
                        let title = format!("raw/{attempt}.ndjson, byte {offset}");
                        Ok(Input::Page { title, text })
                    },
                    Input::Notice,
                );
            }
            Effect::SetMouse(mode) => self.terminal.set_mouse(mouse_reports(mode)),
            Effect::Suspend => return self.suspend(),
            Effect::Redraw => self.redraw(),
            Effect::Quit => return Some(self.leave()),
        }
        None
    }

    /// Stops this process, as Ctrl-Z does in other programs, until the shell continues it.
    pub(super) fn suspend(&mut self) -> Option<Exit> {
        self.output.discard();
        self.terminal.stop_job();
        self.take_back()
    }

    fn open(&mut self, run: String) {
        let _ = self.wants_runs.send(false);
        self.loader = None;
        let opened = match self.home.run(&run) {
            Some(directory) => loader::load(directory).map_err(|error| error.to_string()),
            None => Err(format!("run {run} does not exist any more")),
        };
        match opened {
            Ok(received) => self.loader = Some(received),
            Err(reason) => {
                let run = run.clone();
                self.tell(Input::LoadFailed { run, reason });
            }
        }
        self.open_run = Some(run);
    }

    fn copy(&mut self, text: String) {
        let is_in_tmux = std::env::var_os("TMUX").is_some_and(|value| !value.is_empty());
        match clipboard::way(&text, is_in_tmux) {
            Way::Tmux => self.in_background(
                move || {
                    clipboard::copy_to_tmux(&text)?;
                    Ok(Input::Notice("copied to the tmux buffer".to_owned()))
                },
                Input::Notice,
            ),
            Way::Terminal(sequence) => {
                let notice = match self.output.write(sequence.as_bytes()) {
                    Ok(()) => "sent to the terminal's clipboard (OSC 52)".to_owned(),
                    Err(error) => format!("cannot copy: {error}"),
                };
                self.tell(Input::Notice(notice));
            }
            Way::TooLong => {
                let text = "too long for the terminal's clipboard (100 kB); export it instead";
                self.tell(Input::Notice(text.to_owned()));
            }
        }
    }

    /// An input that comes after this one.
    fn tell(&self, input: Input) {
        // This loop has the receiver.
        let _ = self.reports.send(Report::Input(input));
    }

    /// Does something that may wait, on another thread. If it fails or panics, its input is that of `failed`.
    fn in_background(
        &self,
        work: impl FnOnce() -> Result<Input, String> + Send + 'static,
        failed: impl FnOnce(String) -> Input + Send + 'static,
    ) {
        let reports = self.reports.clone();
        tokio::task::spawn_blocking(move || {
            let input = catch_panic(work).flatten().unwrap_or_else(failed);
            // Without a receiver, the terminal UI has ended.
            let _ = reports.send(Report::Input(input));
        });
    }

    /// Shows a transcript outside of this UI, unless the user closed its run meanwhile.
    pub(super) fn show_transcript(&mut self, run: &str, reader: TranscriptReader, text: String) {
        if self.open_run.as_deref() != Some(run) {
            return;
        }
        self.with_terminal(move || match reader {
            TranscriptReader::Editor => editor::edit_text(&text).err().map(Input::Notice),
            TranscriptReader::Scrollback => {
                let printed = print_and_wait(&text);
                printed
                    .err()
                    .map(|error| Input::Notice(format!("cannot write it: {error}")))
            }
        });
    }

    /// Leaves the terminal to `work`, such as an editor, until it is done.
    fn with_terminal(&mut self, work: impl FnOnce() -> Option<Input> + Send + 'static) {
        if self.is_terminal_away {
            return;
        }
        self.is_terminal_away = true;
        self.output.discard();
        self.terminal.suspend();
        let reports = self.reports.clone();
        tokio::task::spawn_blocking(move || {
            let input = catch_panic(work).unwrap_or_else(|reason| Some(Input::Notice(reason)));
            let _ = reports.send(Report::TerminalReturned(input));
        });
    }
}

fn started(run: String) -> Input {
    Input::Started(Ok(run))
}

fn not_started(reason: String) -> Input {
    Input::Started(Err(reason))
}

/// Writes a transcript to its file, or hands it to the program that shows it.
fn export_transcript(run: String, destination: Destination, text: String) -> Report {
    let reader = match destination {
        Destination::File { name } => {
            let exported = std::env::current_dir()
                .map_err(|error| format!("the current directory is gone: {error}"))
                .and_then(|directory| files::export(&directory, &name, &text));
            let notice = exported.map_or_else(|reason| reason, |name| format!("wrote `{name}`"));
            return Report::Input(Input::Notice(notice));
        }
        Destination::Scrollback => TranscriptReader::Scrollback,
        Destination::Editor => TranscriptReader::Editor,
    };
    Report::TranscriptReady { run, reader, text }
}

/// Writes a text to the terminal's own screen, and waits until the user has seen it.
fn print_and_wait(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(sanitise(text).as_bytes())?;
    stdout.write_all("\n(press Enter to return to ralph) ".as_bytes())?;
    stdout.flush()?;
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    Ok(())
}

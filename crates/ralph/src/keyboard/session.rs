//! `KeyboardSession`: a `Keyboard` with its keys and its connection to the run. `ConsoleThread` runs it.

use std::io::IsTerminal as _;
use std::time::Instant;

use agent_api::{Body, RequestId};
use ralph_run::control::{ControlCommand, ReconnectingClient};
use ralph_run::model::RunModel;
use ralph_run::{Record, RunBody, RunDirectory, RunEvent};
use tokio::sync::mpsc;
use tokio::time::sleep_until;

use run_view::TERMINAL_ACTOR;

use super::state::{KeyAction, Keyboard, Messages};
use crate::commands::{describe_refusal, find_secret};
use crate::console::{InputArea, Mode, Options};
use terminal_input::Key;
use terminal_input::{TerminalControl, TerminalInput};

/// What a session needs. It is started by the thread that runs it.
#[derive(Debug)]
pub struct KeyboardSetup {
    pub run: RunDirectory,
    pub keys: mpsc::Receiver<Vec<Key>>,
    pub control: TerminalControl,
    pub messages: Messages,
    /// What Ctrl-C does, for the status line.
    pub interrupt_hint: &'static str,
}

impl KeyboardSetup {
    /// Reads the keyboard, if this process has one and shows a run on a terminal.
    pub fn open(
        run: &RunDirectory,
        options: &Options,
        messages: Messages,
        interrupt_hint: &'static str,
    ) -> Option<(TerminalInput, Self)> {
        let shows_text = matches!(options.mode, Mode::Default | Mode::Verbose);
        if !shows_text || !options.is_terminal || !std::io::stdin().is_terminal() {
            return None;
        }
        match TerminalInput::open() {
            Ok((input, keys)) => {
                let setup = Self {
                    run: run.clone(),
                    keys,
                    control: input.control(),
                    messages,
                    interrupt_hint,
                };
                Some((input, setup))
            }
            Err(error) => {
                tracing::warn!(%error, "cannot read the keyboard");
                None
            }
        }
    }
}

#[derive(Debug)]
pub(crate) struct KeyboardSession {
    keyboard: Keyboard,
    keys: mpsc::Receiver<Vec<Key>>,
    is_over: bool,
    control: TerminalControl,
    interrupt_hint: &'static str,
    commands: mpsc::UnboundedSender<ControlCommand>,
    replies: mpsc::UnboundedReceiver<Reply>,
}

/// What a session waits for.
#[derive(Debug)]
pub(crate) enum SessionEvent {
    Keys(Vec<Key>),
    /// The terminal is gone.
    Closed,
    Reply(Reply),
    /// Keys have got another meaning.
    Armed,
}

#[derive(Debug)]
pub(crate) struct Reply {
    command: ControlCommand,
    /// A note, or why the command was refused.
    result: Result<Option<String>, String>,
}

impl KeyboardSession {
    /// Must be called within a runtime.
    pub(crate) fn start(setup: KeyboardSetup) -> Self {
        let (commands, received) = mpsc::unbounded_channel();
        let (sender, replies) = mpsc::unbounded_channel();
        tokio::spawn(send_commands(setup.run, received, sender));
        Self {
            keyboard: Keyboard::new(setup.messages),
            keys: setup.keys,
            is_over: false,
            control: setup.control,
            interrupt_hint: setup.interrupt_hint,
            commands,
            replies,
        }
    }

    /// Cancel-safe.
    pub(crate) async fn next(&mut self) -> SessionEvent {
        let deadline = self.keyboard.deadline(Instant::now());
        let armed = async {
            match deadline {
                Some(deadline) => sleep_until(deadline.into()).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            Some(reply) = self.replies.recv() => SessionEvent::Reply(reply),
            keys = self.keys.recv(), if !self.is_over => match keys {
                Some(keys) => SessionEvent::Keys(keys),
                None => SessionEvent::Closed,
            },
            () = armed => SessionEvent::Armed,
        }
    }

    /// Gives what is to be shown to the user.
    pub(crate) fn handle(&mut self, event: SessionEvent) -> Vec<String> {
        let now = Instant::now();
        let mut notices = Vec::new();
        match event {
            SessionEvent::Keys(keys) => {
                for key in keys {
                    for action in self.keyboard.update(key, now) {
                        self.perform(action, &mut notices);
                    }
                }
            }
            SessionEvent::Closed => self.is_over = true,
            SessionEvent::Reply(Reply { command, result }) => match result {
                // The run records each limit that was raised, which is shown.
                Ok(_) if matches!(command, ControlCommand::TopUp(_)) => {}
                Ok(note) => notices.extend(note),
                Err(why) => {
                    self.keyboard.refused(&command, now);
                    notices.push(why);
                }
            },
            SessionEvent::Armed => {}
        }
        notices
    }

    /// Ctrl-C, after the keys that were pressed before it. Whether it was taken here, and what is to be shown.
    pub(crate) fn interrupt(&mut self) -> (bool, Vec<String>) {
        let mut notices = Vec::new();
        while let Ok(keys) = self.keys.try_recv() {
            notices.extend(self.handle(SessionEvent::Keys(keys)));
        }
        (!self.is_over && self.keyboard.interrupt(), notices)
    }

    fn perform(&self, action: KeyAction, notices: &mut Vec<String>) {
        match action {
            KeyAction::Command(command) => {
                if let ControlCommand::Send { text, .. } = &command
                    && let Some(found) = find_secret(text, std::iter::empty(), &[])
                {
                    notices.push(format!("the message contains {found}; the agent receives it"));
                }
                // The task that receives them ends with this session.
                let _ = self.commands.send(command);
            }
            KeyAction::Notice(text) => notices.push(text),
        }
    }

    /// Follows the run after a record.
    pub(crate) fn observe(&mut self, record: &Record, run: &RunModel) {
        let now = Instant::now();
        self.keyboard.observe(run, now);
        match &record.event {
            RunEvent::Agent(event) => {
                // The agent did not understand an answer, and waits for another one.
                if let Body::CommandAnswered(answered) = &event.body
                    && answered.error.is_some()
                {
                    self.keyboard
                        .reopen(&RequestId::new(answered.command_id.as_str()), now);
                }
            }
            RunEvent::Run(RunBody::Continued(_)) => self.control.resume(),
            RunEvent::Run(_) | RunEvent::Unknown(_) => {}
        }
    }

    /// How large the terminal is.
    pub(crate) fn resize(&mut self, columns: usize, rows: usize) {
        self.keyboard.resize(columns, rows);
    }

    /// The message that was being written when the run ended.
    pub(crate) fn unsent(&self) -> Option<String> {
        self.keyboard.unsent()
    }

    /// What is drawn below the status line, and which keys it names.
    pub(crate) fn render(&self, size: (usize, usize)) -> (InputArea, String) {
        if self.is_over {
            return (InputArea::default(), String::new());
        }
        let now = Instant::now();
        let hint = match self.keyboard.hint(now) {
            "" => String::new(),
            hint => format!("{hint} · {}", self.interrupt_hint),
        };
        (self.keyboard.render(size, now), hint)
    }
}

/// Sends commands one after the other, as another terminal would.
async fn send_commands(
    run: RunDirectory,
    mut commands: mpsc::UnboundedReceiver<ControlCommand>,
    replies: mpsc::UnboundedSender<Reply>,
) {
    let mut client = ReconnectingClient::new(run.clone(), TERMINAL_ACTOR);
    while let Some(command) = commands.recv().await {
        let result = match client.request(command.clone()).await {
            Ok(receipt) => Ok(receipt.note),
            Err(error) => Err(describe_refusal(&run, error)),
        };
        if replies.send(Reply { command, result }).is_err() {
            return;
        }
    }
}

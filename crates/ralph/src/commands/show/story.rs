//! What a journal tells about its run as a whole.

use agent_api::Body;
use ralph_run::control::PendingRequests;
use ralph_run::{
    IterationEnded, Record, RunBody, RunDirectory, RunEnded, RunEvent, VerifyFinished, Warned, read_journal,
};
use serde::Serialize;

/// What a journal tells about its run as a whole.
#[derive(Debug, Default, Serialize)]
pub(super) struct Story {
    /// Every prompt of the loop that has ended.
    pub(super) iterations: Vec<IterationEnded>,
    /// The verify commands of the last iteration.
    pub(super) verify: Vec<VerifyFinished>,
    pub(super) warnings: Vec<Warned>,
    /// What the agent said last.
    pub(super) last_text: String,
    /// How the run ended.
    pub(super) ended: Option<RunEnded>,
    /// How many requests nobody has answered.
    pub(super) open_requests: usize,
    /// What is wrong with the journal.
    pub(super) damage: Vec<String>,
}

impl Story {
    pub(super) fn read(run: &RunDirectory) -> Self {
        let mut story = Self::default();
        let mut pending = PendingRequests::default();
        match read_journal(&run.journal()) {
            Ok(journal) => {
                for record in journal {
                    match record {
                        Ok(record) => {
                            pending.observe_record(&record);
                            story.add(record);
                        }
                        Err(damage) => story.damage.push(damage.to_string()),
                    }
                }
            }
            Err(error) => story.damage.push(format!("it cannot be read: {error}")),
        }
        story.open_requests = match story.ended {
            Some(_) => 0,
            None => pending.iter().count(),
        };
        story
    }

    fn add(&mut self, record: Record) {
        match record.event {
            RunEvent::Agent(event) => {
                if let (Body::TextBlock(block), None) = (event.body, event.parent) {
                    if block.piece.index == 0 {
                        self.last_text.clear();
                    }
                    self.last_text.push_str(&block.text);
                }
            }
            RunEvent::Run(body) => match body {
                RunBody::IterationStarted(_) => self.verify.clear(),
                RunBody::VerifyFinished(verify) => self.verify.push(verify),
                RunBody::IterationEnded(ended) => self.iterations.push(ended),
                RunBody::Warned(warned) => self.warnings.push(warned),
                RunBody::RunEnded(ended) => self.ended = Some(ended),
                RunBody::RunStarted(_)
                | RunBody::AttemptStarted(_)
                | RunBody::AttemptEnded(_)
                | RunBody::VerifyStarted(_)
                | RunBody::SessionForked(_)
                | RunBody::CommandReceived(_)
                | RunBody::MessageSent(_)
                | RunBody::MessageAwaited(_) => {}
            },
        }
    }
}

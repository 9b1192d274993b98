//! Doing what the machine decides.

use std::collections::VecDeque;
use std::path::Path;

use jiff::Timestamp;

use super::changes::Change;
use super::run::Driver;
use super::verify::{self, Verified, VerifySpec};
use crate::machine::{Effect, Finality, Input};
use crate::prompt::tail;
use crate::reason::EndReason;
use crate::record::{RunBody, VerifyFinished, VerifyStarted};
use crate::state::RunState;

impl Driver<'_> {
    /// Tells the machine something and does what follows, to the end.
    pub(super) async fn step(&mut self, input: Input<'_>) {
        let effects = self.machine.step(input);
        self.perform_all(effects).await;
    }

    pub(super) async fn perform_all(&mut self, effects: Vec<Effect>) {
        let mut effects: VecDeque<Effect> = effects.into();
        while let Some(effect) = effects.pop_front() {
            if let Some(input) = self.perform(effect).await {
                effects.extend(self.machine.step(input));
            }
        }
    }

    /// Does one thing. Gives what came of it, if that is known at once.
    async fn perform(&mut self, effect: Effect) -> Option<Input<'static>> {
        match effect {
            Effect::Record(mut body) => {
                if let RunBody::RunEnded(ended) = &mut *body {
                    // By the wall clock: checks and pauses take time too.
                    ended.totals.duration_ms =
                        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
                    if ended.reason == EndReason::StorageFailed {
                        ended.message.get_or_insert(self.storage_message());
                    }
                    self.ended = Some(ended.clone());
                    self.run_file.reason = Some(ended.reason);
                    self.run_file.exit_code = Some(ended.exit_code);
                    self.run_file.ended_at = Some(Timestamp::now());
                    self.run_file.status.totals = ended.totals;
                }
                self.keeper.body(*body);
            }
            Effect::Finality(finality) => self.on_finality(finality),
            Effect::Spawn {
                iteration,
                attempt,
                session,
                last_failure,
                message,
            } => {
                return self
                    .spawn((iteration, attempt), session, last_failure, message)
                    .await;
            }
            Effect::Interrupt => {
                if let Some(attempt) = &self.attempt {
                    // One that has ended needs none.
                    let _ = attempt.handle.control.interrupt();
                }
            }
            Effect::Stop => {
                if let Some(attempt) = &self.attempt {
                    attempt.handle.control.cancel();
                }
            }
            Effect::Kill => {
                if let Some(attempt) = &self.attempt {
                    attempt.handle.control.kill();
                }
            }
            Effect::CloseInput => {
                if let Some(attempt) = &self.attempt {
                    attempt.handle.control.close_input();
                }
            }
            Effect::Say { id, text } => {
                if let Some(attempt) = &self.attempt {
                    let _ = attempt.handle.control.send_as(id, text);
                }
            }
            Effect::Answer { request, answer } => {
                if let Some(attempt) = &self.attempt {
                    let _ = attempt.handle.control.answer(&request, answer);
                }
            }
            Effect::SetModel(model) => self.change(Change::Model(model)),
            Effect::SetPermissionMode(mode) => self.change(Change::PermissionMode(mode)),
            Effect::Verify { index } => self.verify(index).await,
            Effect::StopVerify => {
                let control = self
                    .verifying
                    .as_ref()
                    .and_then(|(_, verifying)| verifying.control.as_ref());
                if let Some(control) = control {
                    control.stop();
                }
            }
            Effect::Arm(timer, after) => self.timers.arm(timer, after),
            Effect::Disarm(timer) => self.timers.disarm(&timer),
            Effect::End { .. } => {}
        }
        None
    }

    fn on_finality(&mut self, finality: Finality) {
        let state = match finality {
            Finality::Starting | Finality::Cooling => RunState::Starting,
            Finality::Running => RunState::Running,
            Finality::ResultSeen => RunState::ResultSeen,
            Finality::Draining => RunState::Draining,
            Finality::Verifying => RunState::Verifying,
            Finality::Idle => RunState::Idle,
            Finality::Ended => RunState::Ended,
        };
        let is_new = std::mem::replace(&mut self.run_file.status.state, state) != state;
        match finality {
            Finality::Ended => self.run_file.status.activity = None,
            Finality::Idle => self.run_file.status.activity = Some("waiting for a message".to_owned()),
            _ => {}
        }
        if is_new && let Some(control) = &self.control {
            let name = serde_json::to_value(state).ok();
            control.set_state(name.as_ref().and_then(|name| name.as_str()).unwrap_or_default());
        }
        match finality {
            // Nothing waits for the disk on the way to the agent; the end is synced when all is over.
            Finality::Starting
            | Finality::Running
            | Finality::Draining
            | Finality::Cooling
            | Finality::Ended => {
                self.is_file_stale = true;
            }
            Finality::ResultSeen | Finality::Verifying | Finality::Idle => {
                self.keeper.owe_sync();
                self.is_file_due = true;
            }
        }
    }

    async fn verify(&mut self, index: usize) {
        let Some(command) = self.spec.plan.verify.get(index).cloned() else {
            return;
        };
        self.verifications += 1;
        self.keeper.body(RunBody::VerifyStarted(VerifyStarted {
            command: command.clone(),
        }));
        self.keeper.flush();
        let verifying = verify::start(VerifySpec {
            command,
            workspace: self.spec.workspace.clone(),
            log: self.spec.directory.verify_log(self.verifications),
            marker: self.spec.directory.id().to_owned(),
            withheld: self.spec.withheld.clone(),
        })
        .await;
        self.verifying = Some((index, verifying));
    }

    pub(super) async fn on_verified(&mut self, verified: Verified) {
        let Some((index, _)) = self.verifying.take() else {
            return;
        };
        let command = self.spec.plan.verify.get(index).cloned().unwrap_or_default();
        let output = match &verified.error {
            Some(error) => format!("{}{error}", verified.output),
            None => verified.output,
        };
        let how = match (verified.exit.code, verified.exit.signal) {
            (Some(code), _) => format!("exit code {code}"),
            (None, Some(signal)) => format!("signal {signal}"),
            (None, None) => "not started".to_owned(),
        };
        let summary = format!("`{command}` failed ({how}):\n{}", tail(&output));
        self.keeper.body(RunBody::VerifyFinished(VerifyFinished {
            command,
            is_ok: verified.is_ok,
            exit: verified.exit,
            output: tail(&output).into_owned(),
            log: self.relative(&self.spec.directory.verify_log(self.verifications)),
            duration_ms: u64::try_from(verified.duration.as_millis()).unwrap_or(u64::MAX),
        }));
        self.step(Input::Verified {
            is_ok: verified.is_ok,
            summary,
        })
        .await;
        self.keeper.flush();
    }

    /// A file of the run, as the journal names it.
    fn relative(&self, path: &Path) -> Option<String> {
        let relative = path.strip_prefix(self.spec.directory.path()).ok()?;
        Some(relative.display().to_string())
    }
}

//! Performs the effects of the machine and reports their results to it.

use std::collections::VecDeque;
use std::path::Path;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::changes::Change;
use super::run::Driver;
use super::verify::{self, Verified, VerifySpec};
use crate::machine::{Effect, Input, Timer};
use crate::prompt::tail;
use crate::record::{CooldownCause, CooldownStarted, RunBody, VerifyFinished, VerifyStarted};

impl Driver {
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

    /// Returns the result, where it is known at once.
    async fn perform(&mut self, effect: Effect) -> Option<Input<'static>> {
        match effect {
            Effect::Record(body) => self.keeper.body(*body),
            Effect::SaveSoon => {
                self.keeper.owe_sync();
                self.is_file_due = true;
            }
            Effect::Spawn {
                iteration,
                attempt,
                session,
                prompt,
            } => return self.spawn((iteration, attempt), session, prompt).await,
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
                if let Some(control) = self.verify_control() {
                    control.stop();
                }
            }
            Effect::KillVerify => {
                if let Some(control) = self.verify_control() {
                    control.kill();
                }
            }
            Effect::Arm(timer, after) => {
                if timer == Timer::Cooldown {
                    self.record_cooldown(after);
                }
                self.timers.arm(timer, after);
            }
            Effect::Disarm(timer) => self.timers.disarm(&timer),
            // Written when everything before it is on disk.
            Effect::End(ended) => self.ended = Some(ended),
        }
        None
    }

    /// The machine has no clock: when the pause ends is known here.
    fn record_cooldown(&mut self, pause: Duration) {
        let until = SignedDuration::try_from(pause)
            .ok()
            .and_then(|pause| Timestamp::now().checked_add(pause).ok())
            .unwrap_or(Timestamp::MAX);
        let cause = CooldownCause::Pause;
        self.keeper
            .body(RunBody::CooldownStarted(CooldownStarted { until, cause }));
    }

    fn verify_control(&self) -> Option<&agent_process::Control> {
        self.verifying.as_ref()?.1.control.as_ref()
    }

    fn verify_command(&self, index: usize) -> Option<String> {
        self.spec.plan.as_loop()?.verify.get(index).cloned()
    }

    async fn verify(&mut self, index: usize) {
        let Some(command) = self.verify_command(index) else {
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
            marker: self.spec.directory.marker(),
            withheld: self.spec.withheld.clone(),
        })
        .await;
        self.verifying = Some((index, verifying));
    }

    pub(super) async fn on_verified(&mut self, verified: Verified) {
        let Some((index, _)) = self.verifying.take() else {
            return;
        };
        let command = self.verify_command(index).unwrap_or_default();
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
        // It becomes part of the next prompt, which goes to the agent's vendor.
        let summary = self.spec.redactor.redact(&summary).into_owned();
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

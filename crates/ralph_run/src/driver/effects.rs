//! Performs the effects of the machine and reports their results to it.

use std::collections::VecDeque;
use std::path::Path;
use std::time::Duration;

use super::changes::Change;
use super::run::Driver;
use super::verify::{self, Verified, VerifySpec};
use crate::budget::friendly_duration;
use crate::machine::{Effect, Input};
use crate::prompt::tail;
use crate::record::{RunBody, VerifyFinished, VerifyStarted};

impl Driver {
    pub(super) async fn step(&mut self, input: Input<'_>) {
        let now = self.moment();
        let effects = self.machine.step(input, now);
        self.perform_all(effects).await;
    }

    pub(super) async fn perform_all(&mut self, effects: Vec<Effect>) {
        let mut effects: VecDeque<Effect> = effects.into();
        while let Some(effect) = effects.pop_front() {
            if let Some(input) = self.perform(effect).await {
                let now = self.moment();
                effects.extend(self.machine.step(input, now));
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
                role,
            } => {
                self.enter_role(role);
                return self.spawn((iteration, attempt), session, prompt).await;
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
                if let Some(control) = self.verify_control() {
                    control.stop();
                }
            }
            Effect::KillVerify => {
                if let Some(control) = self.verify_control() {
                    control.kill();
                }
            }
            Effect::Arm(timer, after) => self.timers.arm(timer, after),
            Effect::ArmAt(timer, at) => self.timers.arm_at(timer, at),
            Effect::Disarm(timer) => self.timers.disarm(&timer),
            // Written when everything before it is on disk.
            Effect::End(ended) => self.ended = Some(ended),
        }
        None
    }

    fn verify_control(&self) -> Option<&agent_process::Control> {
        self.verifying.as_ref()?.1.control.as_ref()
    }

    fn verify_command(&self, index: usize) -> Option<String> {
        self.spec.plan.as_loop()?.verify.get(index).cloned()
    }

    fn verify_timeout(&self) -> Option<Duration> {
        self.spec.plan.as_loop()?.verify_timeout
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
            log: Some(self.spec.directory.verify_log(self.verifications)),
            marker: Some(self.spec.directory.marker()),
            environment: self.spec.environment.clone(),
            withheld: self.spec.withheld.clone(),
            timeout: self.verify_timeout(),
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
        let timeout = self.verify_timeout().filter(|_| verified.is_timed_out);
        let how = match (timeout, verified.exit.code, verified.exit.signal) {
            (Some(timeout), ..) => format!("timed out after {}", friendly_duration(timeout)),
            (None, Some(code), _) => format!("failed (exit code {code})"),
            (None, None, Some(signal)) => format!("failed (signal {signal})"),
            (None, None, None) => "failed (not started)".to_owned(),
        };
        let summary = format!("`{command}` {how}:\n{}", tail(&output));
        // It becomes part of the next prompt, which goes to the agent's vendor.
        let summary = self.spec.redactor.redact(&summary).into_owned();
        self.keeper.body(RunBody::VerifyFinished(VerifyFinished {
            command,
            is_ok: verified.is_ok,
            exit: verified.exit,
            output: tail(&output).into_owned(),
            log: self.relative(&self.spec.directory.verify_log(self.verifications)),
            duration_ms: u64::try_from(verified.duration.as_millis()).unwrap_or(u64::MAX),
            timed_out_after_ms: timeout.map(|timeout| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX)),
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

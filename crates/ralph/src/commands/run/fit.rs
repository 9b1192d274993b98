//! What an agent does not know.

use agent_api::{PermissionMode, Profile, RunOptions, capability};
use ralph_run::RunKind;

use crate::failure::Failure;
use crate::settings::{Origin, SETTINGS, SessionStart, Settings};

/// Leaves out what the agent does not know, so that one file of settings serves all of them. Gives a warning for each.
///
/// # Errors
/// When somebody asks for it on the command line: they mean this run and this agent.
pub(super) fn fit(
    options: &mut RunOptions,
    settings: &Settings,
    profile: &Profile,
) -> Result<Vec<String>, Failure> {
    let mut fitting = Fitting {
        settings,
        profile,
        warnings: Vec::new(),
    };
    if !profile.has(capability::ANSWER) || !profile.has(capability::SEND) {
        let asks = options.asks.take() == Some(true);
        fitting.leave_out(asks, &["--ask"], "how to ask")?;
    }
    if !profile.has(capability::CONFIG_MODEL) {
        let has_model = options.model.take().is_some();
        fitting.leave_out(has_model, &["--model"], "models")?;
    }
    if !profile.has(capability::CONFIG_PERMISSIONS) {
        let mode = options.permission_mode.take();
        let is_wanted = mode.is_some_and(|mode| mode != PermissionMode::Bypass);
        fitting.leave_out(is_wanted, &["--permission-mode"], "permission modes")?;
    }
    if !profile.has(capability::CONFIG_TOOLS) {
        let lists = [options.tools.take(), options.allowed_tools.take()];
        let has_some = lists.iter().any(Option::is_some);
        fitting.leave_out(has_some, &["--tools", "--allowed-tools"], "lists of tools")?;
    }
    if !profile.has(capability::CONFIG_LIMITS) {
        let has_limit = options.max_turns.take().is_some();
        fitting.leave_out(has_limit, &["--max-turns"], "a limit of turns")?;
    }
    if !profile.has(capability::CONFIG_SYSTEM_PROMPT) {
        let prompts = [options.system_prompt.take(), options.append_system_prompt.take()];
        let has_some = prompts.iter().any(Option::is_some);
        let flags = ["--system-prompt-file", "--append-system-prompt-file"];
        fitting.leave_out(has_some, &flags, "system prompts")?;
    }
    if settings.ephemeral && !profile.has(capability::SESSION_EPHEMERAL) {
        return Err(fitting.refuse("--ephemeral", "how to keep nothing of a conversation"));
    }
    if settings.kind == RunKind::Session && !profile.has(capability::SEND) {
        let kind = &profile.kind;
        return Err(Failure::usage(format!(
            "the backend `{kind}` takes no messages after its prompt: leave out `--interactive`, or choose another \
             backend"
        )));
    }
    let (flag, is_fork) = match settings.session {
        SessionStart::Fresh => return Ok(fitting.warnings),
        SessionStart::Continue { fork } => ("--continue", fork),
        SessionStart::Resume { fork, .. } => ("--resume", fork),
    };
    if !profile.has(capability::SESSION_RESUME) {
        return Err(fitting.refuse(flag, "earlier sessions"));
    }
    if is_fork && !profile.has(capability::SESSION_FORK) {
        return Err(fitting.refuse("--fork", "copies of sessions"));
    }
    Ok(fitting.warnings)
}

struct Fitting<'a> {
    settings: &'a Settings,
    profile: &'a Profile,
    warnings: Vec<String>,
}

impl Fitting<'_> {
    fn leave_out(&mut self, is_wanted: bool, flags: &[&str], what: &str) -> Result<(), Failure> {
        if !is_wanted {
            return Ok(());
        }
        if let Some(flag) = flags.iter().find(|flag| self.is_given(flag)) {
            return Err(self.refuse(flag, what));
        }
        let kind = &self.profile.kind;
        self.warnings
            .push(format!("the backend `{kind}` does not know {what}: ignored"));
        Ok(())
    }

    fn refuse(&self, flag: &str, what: &str) -> Failure {
        let kind = &self.profile.kind;
        Failure::config(format!(
            "the backend `{kind}` does not know {what}: leave out `{flag}`, or choose another backend"
        ))
    }

    fn is_given(&self, flag: &str) -> bool {
        let mut settings = SETTINGS.iter().filter(|setting| setting.flag == flag);
        settings.any(|setting| self.settings.origins.get(setting.name()) == Some(&Origin::Flag))
    }
}

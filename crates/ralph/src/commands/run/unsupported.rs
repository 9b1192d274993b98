//! `drop_unsupported`: adapts the options of a run to what its agent supports.

use agent_api::{PermissionHost, PermissionMode, Profile, RunOptions, capability};
use ralph_run::RunKind;

use crate::failure::Failure;
use crate::settings::{Auth, Origin, SETTINGS, SessionStart, Settings};

/// Removes options that the agent does not support, so that one `ralph.yml` serves all agents. Gives a warning for each.
///
/// # Errors
/// When such an option was given on the command line: there it is meant for this run and this agent.
pub(super) fn drop_unsupported(
    options: &mut RunOptions,
    settings: &Settings,
    profile: &Profile,
) -> Result<Vec<String>, Failure> {
    let mut check = CapabilityCheck {
        settings,
        profile,
        warnings: Vec::new(),
    };
    check.mode_tools(options);
    if !profile.has(capability::ANSWER) || !profile.has(capability::SEND) {
        let asks = options.permission_host.take() == Some(PermissionHost::Caller);
        check.drop_or_refuse(asks, &["--ask"], "permission requests")?;
    }
    if !profile.has(capability::CONFIG_MODEL) {
        let has_model = options.model.take().is_some();
        check.drop_or_refuse(has_model, &["--model"], "choosing a model")?;
    }
    if !profile.has(capability::CONFIG_PERMISSIONS) {
        let mode = options.permission_mode.take();
        let is_wanted = mode.is_some_and(|mode| mode != PermissionMode::Bypass);
        check.drop_or_refuse(is_wanted, &["--permission-mode"], "permission modes")?;
    }
    if !profile.has(capability::CONFIG_TOOLS) {
        let lists = [options.tools.take(), options.allowed_tools.take()];
        let has_some = lists.iter().any(Option::is_some);
        check.drop_or_refuse(has_some, &["--tools", "--allowed-tools"], "tool lists")?;
    }
    if !profile.has(capability::CONFIG_LIMITS) {
        let has_limit = options.max_turns.take().is_some();
        check.drop_or_refuse(has_limit, &["--max-turns"], "a turn limit")?;
    }
    if !profile.has(capability::CONFIG_SYSTEM_PROMPT) {
        let prompts = [options.system_prompt.take(), options.append_system_prompt.take()];
        let has_some = prompts.iter().any(Option::is_some);
        let flags = [
            "--system-prompt",
            "--append-system-prompt",
            "--system-prompt-file",
            "--append-system-prompt-file",
        ];
        check.drop_or_refuse(has_some, &flags, "system prompts")?;
    }
    if !profile.has(capability::SEND) {
        let is_wanted = settings.accepts_input == Some(true);
        check.drop_or_refuse(is_wanted, &["--accepts-input"], "messages after its prompt")?;
    }
    if profile.auth_variables.is_empty() {
        let is_wanted = settings.agent.auth == Auth::ApiKey;
        check.drop_or_refuse(is_wanted, &["--auth"], "choosing an API key")?;
    }
    check.limits()?;
    if settings.ephemeral && !profile.has(capability::SESSION_EPHEMERAL) {
        return Err(check.refuse("--ephemeral", "conversations that are not kept"));
    }
    if settings.kind == RunKind::Session && !profile.has(capability::SEND) {
        let failure = Failure::usage(format!(
            "the backend `{}` takes no messages after its prompt: remove `--interactive`, or choose another backend",
            profile.name()
        ));
        return Err(failure.about("--interactive"));
    }
    let (flag, is_fork) = match settings.session {
        SessionStart::Fresh => return Ok(check.warnings),
        SessionStart::Continue { fork } => ("--continue", fork),
        SessionStart::Resume { fork, .. } => ("--resume", fork),
    };
    if !profile.has(capability::SESSION_RESUME) {
        return Err(check.refuse(flag, "resuming sessions"));
    }
    if is_fork && !profile.has(capability::SESSION_FORK) {
        return Err(check.refuse("--fork", "forking sessions"));
    }
    Ok(check.warnings)
}

struct CapabilityCheck<'a> {
    settings: &'a Settings,
    profile: &'a Profile,
    warnings: Vec<String>,
}

impl CapabilityCheck<'_> {
    /// The tools of `planner` and `coder`, in the agent's own words.
    fn mode_tools(&mut self, options: &mut RunOptions) {
        let mut agent = self.settings.agent.clone();
        agent.resolve_mode_tools(&self.profile.tools);
        options.tools = agent.tools;
        options.allowed_tools = agent.allowed_tools;
        if agent.mode_tools.is_some() && options.tools.is_none() {
            self.warnings.push(format!(
                "the backend `{}` has no tool list for mode `{}`: its tools are not restricted",
                self.profile.name(),
                self.settings.mode.as_deref().unwrap_or_default()
            ));
        }
    }

    /// A cost limit needs a reported cost, or tokens to estimate it from; a token limit needs tokens. Nobody relies on a
    /// limit that is only the default.
    fn limits(&mut self) -> Result<(), Failure> {
        let limits = &self.settings.limits;
        let (has_cost, has_tokens) = (
            self.profile.has(capability::COST),
            self.profile.has(capability::USAGE),
        );
        if limits.cost.is_some() && !has_cost && !has_tokens {
            self.ineffective("--max-cost", "neither costs nor tokens")?;
        }
        if limits.tokens.is_some() && !has_tokens {
            self.ineffective("--max-tokens", "no tokens")?;
        }
        Ok(())
    }

    /// A limit that can never be reached, because the agent does not report what it counts.
    fn ineffective(&mut self, flag: &str, missing: &str) -> Result<(), Failure> {
        let name = self.profile.name();
        if self.is_given(flag) {
            let failure = Failure::config(format!(
                "the backend `{name}` reports {missing}, so `{flag}` has no effect: remove it and use `--max-runtime` or \
                 `--max-iterations`, or choose another backend"
            ));
            return Err(failure.about(flag));
        }
        if self.is_default(flag) {
            return Ok(());
        }
        self.warnings.push(format!(
            "the backend `{name}` reports {missing}: `{flag}` has no effect, only `--max-runtime` and \
             `--max-iterations` limit this run"
        ));
        Ok(())
    }

    fn drop_or_refuse(&mut self, is_wanted: bool, flags: &[&str], what: &str) -> Result<(), Failure> {
        if !is_wanted {
            return Ok(());
        }
        if let Some(flag) = flags.iter().find(|flag| self.is_given(flag)) {
            return Err(self.refuse(flag, what));
        }
        let name = self.profile.name();
        self.warnings
            .push(format!("the backend `{name}` does not support {what}: ignored"));
        Ok(())
    }

    fn refuse(&self, flag: &str, what: &str) -> Failure {
        let name = self.profile.name();
        let failure = Failure::config(format!(
            "the backend `{name}` does not support {what}: remove `{flag}`, or choose another backend"
        ));
        failure.about(flag)
    }

    fn is_given(&self, flag: &str) -> bool {
        origin_of(self.settings, flag) == Origin::Flag
    }

    fn is_default(&self, flag: &str) -> bool {
        origin_of(self.settings, flag) == Origin::Default
    }
}

/// Where the setting with this flag has its value from.
fn origin_of(settings: &Settings, flag: &str) -> Origin {
    let rows = SETTINGS.iter().filter(|row| row.flag == flag);
    let origins = rows.filter_map(|row| settings.origins.get(row.name()).copied());
    origins.max().unwrap_or(Origin::Default)
}

/// Whether the user set a cost limit, and the agent may report costs or tokens.
pub(super) fn relies_on_cost_limit(settings: &Settings, profile: &Profile) -> bool {
    let may_report = profile.has(capability::COST) || profile.has(capability::USAGE);
    may_report && origin_of(settings, "--max-cost") != Origin::Default
}

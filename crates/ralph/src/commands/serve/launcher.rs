//! `Detached`: starts runs for the server, each in its own process.

use std::path::Path;

use agent_api::MicroUsd;
use async_trait::async_trait;
use jiff::Timestamp;
use ralph_run::RunKind;
use ralph_run::control::PermissionChoice;
use ralph_run::{Home, RunDirectory, RunFile};
use ralph_server::{
    AuthChoice, FoundBackends, LaunchError, Launcher, SessionStart, StartRun, TrustChoice, UntrustedSetting,
    UntrustedWorkspace,
};

use super::backends;
use crate::commands::run::RunArgs;
use crate::commands::run::{Start, StartError, check_prompt, session_of, start_detached, use_backend_of};
use crate::settings::values::Names;
use crate::settings::{
    Auth, BackendName, OpenedFile, Origin, SETTINGS, Settings, SettingsError, SettingsLayer, open_file,
};
use crate::trust::{Choice, Policy, Subject, look};

/// Starts runs as `ralph run --detach` does.
#[derive(Debug)]
pub(in crate::commands) struct Detached {
    pub(in crate::commands) home: Home,
}

impl Detached {
    /// The run whose session a request continues.
    fn resumed(&self, session: &SessionStart) -> Result<Option<(RunDirectory, RunFile)>, LaunchError> {
        let (SessionStart::Resume { run } | SessionStart::Fork { run }) = session else {
            return Ok(None);
        };
        let directory = self
            .home
            .run(run)
            .ok_or_else(|| invalid(format!("no run `{run}` to resume")))?;
        let file = RunFile::load(&directory.run_file()).map_err(|error| invalid(error.to_string()))?;
        Ok(Some((directory, file)))
    }

    /// Opens the workspace's `ralph.yml` as `ralph run` does. If it is not trusted, a person has to decide.
    fn open(&self, workspace: &Path, trust: Option<&TrustChoice>) -> Result<OpenedFile, LaunchError> {
        let open = |choice| {
            let policy = Policy {
                home: Some(&self.home),
                choice,
            };
            open_file(Some(workspace), workspace, &policy).map_err(wrong_setting)
        };
        match trust {
            None => {}
            Some(TrustChoice::LeaveOut) => return open(Choice::Ignore),
            Some(TrustChoice::Trust { digest }) => self.trust(&open(Choice::AsStored)?, digest)?,
        }
        // What was trusted is what was shown: a file that has changed since is refused here.
        let opened = open(Choice::AsStored)?;
        if opened.left_out().is_empty() {
            return Ok(opened);
        }
        match describe(&opened)? {
            Some((message, workspace)) => Err(LaunchError::Untrusted { message, workspace }),
            // It needs no trust any more.
            None => open(Choice::AsStored),
        }
    }

    /// Stores a person's decision about the content that this digest names.
    fn trust(&self, opened: &OpenedFile, digest: &str) -> Result<(), LaunchError> {
        let Some(subject) = look(opened.workspace()).map_err(wrong_setting)? else {
            return Ok(());
        };
        if subject.wanted.is_empty() {
            return Ok(());
        }
        let stored = subject
            .content_digest()
            .and_then(|content| match content == digest {
                true => subject.trust(&self.home, Timestamp::now()).map(|()| true),
                false => Ok(false),
            });
        if let Ok(true) = stored {
            return Ok(());
        }
        let (message, workspace) = describe_subject(opened, &subject);
        let message = match stored {
            Ok(_) => "`ralph.yml` or a file that it names has changed since it was shown: review it again"
                .to_owned(),
            Err(_) => message,
        };
        Err(LaunchError::Untrusted { message, workspace })
    }
}

fn wrong_setting(error: SettingsError) -> LaunchError {
    invalid_field(error.to_string(), None)
}

fn invalid(message: String) -> LaunchError {
    LaunchError::Invalid {
        message,
        pointer: None,
    }
}

/// The flags of `ralph run` that a request can give, and the fields that they are in a request. The longest come first,
/// so that no flag is taken for the beginning of another.
const FIELDS: [(&str, &str); 17] = [
    ("--append-system-prompt", "/append_system_prompt"),
    ("--max-iterations", "/limits/iterations"),
    ("--permission-mode", "/permission_mode"),
    ("--accepts-input", "/accepts_input"),
    ("--allowed-tools", "/allowed_tools"),
    ("--system-prompt", "/system_prompt"),
    ("--max-runtime", "/limits/runtime_seconds"),
    ("--interactive", "/kind"),
    ("--max-tokens", "/limits/tokens"),
    ("--ephemeral", "/ephemeral"),
    ("--max-turns", "/limits/turns"),
    ("--max-cost", "/limits/cost_micro_usd"),
    ("--resume", "/resume"),
    ("--model", "/model"),
    ("--fork", "/resume/fork"),
    ("--auth", "/auth"),
    ("--mode", "/mode"),
];

/// An error about flags of `ralph run`, in terms of the request.
fn invalid_field(mut message: String, flag: Option<&str>) -> LaunchError {
    for (flag, pointer) in FIELDS {
        let field = pointer.trim_start_matches('/').replace('/', ".");
        message = message.replace(&format!("`{flag}`"), &format!("`{field}`"));
    }
    let field = FIELDS.iter().find(|(known, _)| Some(*known) == flag);
    LaunchError::Invalid {
        message,
        pointer: field.map(|(_, pointer)| *pointer),
    }
}

#[async_trait]
impl Launcher for Detached {
    async fn start(&self, id: Option<&str>, request: StartRun) -> Result<String, LaunchError> {
        let resumed = self.resumed(&request.session)?;
        let args = arguments(&request, resumed.as_ref())?;
        let variables = |name: &str| std::env::var(name).ok();
        let opened = self.open(&request.workspace, request.trust.as_ref())?;
        let (mut settings, _) = opened.resolve(&args, &variables).map_err(wrong_setting)?;
        if let Some((run, file)) = &resumed {
            use_backend_of(run, file, &mut settings).map_err(invalid)?;
        }
        let texts = [
            ("/prompt", &request.prompt),
            ("/system_prompt", &request.system_prompt),
            ("/append_system_prompt", &request.append_system_prompt),
        ];
        for (pointer, text) in texts {
            check_prompt(&settings, text.as_deref()).map_err(|failure| LaunchError::Invalid {
                message: failure.message,
                pointer: Some(pointer),
            })?;
        }
        if let Some(ceiling) = request.cost_ceiling_micro_usd {
            limit_cost(&mut settings, MicroUsd::new(ceiling));
        }
        // The server sets these for every agent, so an agent without them runs without them.
        let said = ["--ask"]
            .into_iter()
            .chain(request.permission_mode.is_none().then_some("--permission-mode"));
        for flag in said {
            for setting in SETTINGS.iter().filter(|setting| setting.flag == flag) {
                settings
                    .origins
                    .insert(setting.name().to_owned(), Origin::Default);
            }
        }
        let start = Start {
            settings,
            prompt: request.prompt,
            resumed_from: resumed.map(|(run, _)| run.id().to_owned()),
            by: request.by,
            run_id: id.map(str::to_owned),
        };
        let started = start_detached(&self.home, &start).await?;
        Ok(started.run_id)
    }

    async fn backends(&self, workspace: Option<&Path>) -> Result<FoundBackends, LaunchError> {
        let Some(workspace) = workspace else {
            return Ok(backends::find_here(&self.home).await);
        };
        check_workspace(workspace)?;
        let opened =
            open_file(Some(workspace), workspace, &Policy::as_stored(&self.home)).map_err(wrong_setting)?;
        let items = backends::find(&opened).await;
        Ok(FoundBackends {
            items: items.map_err(|error| invalid(error.to_string()))?,
            untrusted: match opened.left_out() {
                [] => None,
                _ => describe(&opened)?.map(|(_, workspace)| workspace),
            },
        })
    }
}

/// Lowers the cost limit to this. It counts as given by a flag, so that an agent that reports no cost is refused.
fn limit_cost(settings: &mut Settings, ceiling: MicroUsd) {
    let own = settings.limits.cost.unwrap_or(ceiling);
    settings.limits.cost = Some(own.min(ceiling));
    for setting in SETTINGS.iter().filter(|setting| setting.flag == "--max-cost") {
        settings.origins.insert(setting.name().to_owned(), Origin::Flag);
    }
}

/// The request as a command line of `ralph run`.
fn arguments(request: &StartRun, resumed: Option<&(RunDirectory, RunFile)>) -> Result<RunArgs, LaunchError> {
    check_workspace(&request.workspace)?;
    let backend = request.backend.as_deref().map(backend_named).transpose()?;
    let resume = resumed
        .map(|(run, file)| session_of(run, file, &request.workspace).map_err(invalid))
        .transpose()?;
    let (session, fork) = match &request.session {
        SessionStart::New | SessionStart::Resume { .. } => (None, false),
        SessionStart::Fork { .. } => (None, true),
        SessionStart::ResumeSession { session } => (Some(session.clone()), false),
        SessionStart::ForkSession { session } => (Some(session.clone()), true),
    };
    let settings = SettingsLayer {
        prompt: request.prompt.clone(),
        backend,
        model: request.model.clone(),
        mode: request.mode.clone(),
        verify: request.verify.clone().filter(|commands| !commands.is_empty()),
        max_iterations: request.max_iterations,
        max_cost: request.max_cost_micro_usd.map(MicroUsd::new),
        max_runtime: request.max_runtime_seconds.map(std::time::Duration::from_secs),
        max_turns: request.max_turns,
        max_tokens: request.max_tokens,
        system_prompt: request.system_prompt.clone(),
        append_system_prompt: request.append_system_prompt.clone(),
        allowed_tools: request.allowed_tools.clone().map(Names),
        auth: request.auth.map(|auth| match auth {
            AuthChoice::Login => Auth::Login,
            AuthChoice::ApiKey => Auth::ApiKey,
        }),
        accepts_input: request.accepts_input,
        // A user can answer on the page, unless the agent takes no answers.
        ask: Some(request.accepts_input != Some(false)),
        permission_mode: request.permission_mode.or(Some(PermissionChoice::Ask)),
        ..SettingsLayer::default()
    };
    Ok(RunArgs {
        directory: Some(request.workspace.clone()),
        settings,
        interactive: request.kind == RunKind::Session,
        ephemeral: request.ephemeral,
        task: request.task.clone(),
        once: request.once,
        resume: resume.or(session),
        fork,
        detach: true,
        ..RunArgs::default()
    })
}

/// Why a file is not trusted, and what it would do. `None` if it needs no trust any more.
fn describe(opened: &OpenedFile) -> Result<Option<(String, UntrustedWorkspace)>, LaunchError> {
    let subject = look(opened.workspace()).map_err(wrong_setting)?;
    let subject = subject.filter(|subject| !subject.wanted.is_empty());
    Ok(subject.map(|subject| describe_subject(opened, &subject)))
}

/// Everything is of one reading of the file, so the digest names what is listed.
fn describe_subject(opened: &OpenedFile, subject: &Subject) -> (String, UntrustedWorkspace) {
    let settings = subject.wanted.iter().map(|wanted| UntrustedSetting {
        key: wanted.key.clone(),
        value: wanted.value.clone(),
        effect: wanted.why.explain().to_owned(),
    });
    let (message, digest) = match subject.content_digest() {
        Ok(digest) => (opened.refusal(), Some(digest)),
        Err(error) => (error.to_string(), None),
    };
    let workspace = UntrustedWorkspace {
        settings: settings.collect(),
        files: subject.script_names(),
        digest,
    };
    (message, workspace)
}

fn check_workspace(workspace: &Path) -> Result<(), LaunchError> {
    let problem = if !workspace.is_absolute() {
        "must be an absolute path"
    } else if !workspace.is_dir() {
        "is not a directory"
    } else {
        return Ok(());
    };
    Err(invalid(format!(
        "the workspace `{}` {problem}",
        workspace.display()
    )))
}

fn backend_named(name: &str) -> Result<BackendName, LaunchError> {
    BackendName::try_from(name.to_owned()).map_err(|message| invalid(format!("`backend` {message}")))
}

impl From<StartError> for LaunchError {
    fn from(error: StartError) -> Self {
        let message = error.to_string();
        match error {
            StartError::Invalid { flag, .. } => invalid_field(message, flag.as_deref()),
            StartError::Busy { .. } => Self::Busy { message },
            StartError::BackendUnavailable { .. } => Self::BackendUnavailable { message },
            StartError::Other { .. } => Self::Failed { message },
        }
    }
}

//! `launch`: starts `codex exec --json`: one prompt, no questions, the answer in whole blocks.

use std::ffi::OsString;

use bytes::Bytes;

use super::mapper::CodexMapper;
use crate::backend::{InstalledAgent, Launch, LaunchInput};
use crate::backends::program::{session_argument, spawn_spec};
use crate::error::Error;
use crate::request::{RunOptions, RunRequest};
use agent_client::{PermissionMode, SessionChoice};

pub(super) fn launch(request: &RunRequest, found: &InstalledAgent) -> Result<Launch, Error> {
    let options = &request.options;
    let mut spec = spawn_spec(request, found);
    spec.args = arguments(options)?;
    let mapper = match &options.session {
        None | Some(SessionChoice::New | SessionChoice::NewWithId(_)) => CodexMapper::default(),
        // The reported usage includes earlier runs of the session, and how much that was is not known here.
        Some(
            SessionChoice::Resume(_)
            | SessionChoice::Fork { .. }
            | SessionChoice::Last
            | SessionChoice::ForkLast { .. },
        ) => CodexMapper::new(None),
    };
    Ok(Launch::new(
        spec,
        LaunchInput::Bytes(Bytes::from(request.prompt.clone())),
        Box::new(mapper),
    ))
}

/// Options come before `resume` and `fork`: the subcommands do not take all of them.
fn arguments(options: &RunOptions) -> Result<Vec<OsString>, Error> {
    // Codex refuses to work outside a Git repository by default. The caller chose the directory.
    let mut args: Vec<OsString> = ["exec", "--json", "--skip-git-repo-check"]
        .map(OsString::from)
        .into();
    args.extend(
        options
            .permission_mode
            .map(|mode| OsString::from(sandbox_option(mode))),
    );
    if let Some(model) = &options.model {
        args.push(format!("--model={model}").into());
    }
    if let Some(effort) = &options.effort {
        args.push(format!("--config=model_reasoning_effort={effort}").into());
    }
    for directory in &options.additional_directories {
        let mut argument = OsString::from("--add-dir=");
        argument.push(directory);
        args.push(argument);
    }
    if options.persistence == Some(agent_client::Persistence::Off) {
        args.push("--ephemeral".into());
    }
    args.extend(options.extra_args.iter().cloned());
    let session: &[&str] = match &options.session {
        None | Some(SessionChoice::New | SessionChoice::NewWithId(_)) => &[],
        Some(SessionChoice::Resume(id)) => &["resume", session_argument(id)?],
        Some(SessionChoice::Last) => &["resume", "--last"],
        Some(SessionChoice::Fork { id, .. }) => &["fork", session_argument(id)?],
        Some(SessionChoice::ForkLast { .. }) => {
            return Err(Error::invalid(
                "`codex exec` cannot fork the last session: give the session's id",
            ));
        }
    };
    args.extend(session.iter().map(OsString::from));
    // The prompt comes on standard input.
    args.push("-".into());
    Ok(args)
}

/// `codex exec` never asks: its sandbox refuses what would need a question. A failed command shows that. A refused change
/// of a file leaves nothing in the stream; only a conversation (`codex app-server`) reports it as denied.
fn sandbox_option(mode: PermissionMode) -> &'static str {
    match mode {
        PermissionMode::Bypass => "--dangerously-bypass-approvals-and-sandbox",
        PermissionMode::AcceptEdits => "--sandbox=workspace-write",
        PermissionMode::Ask | PermissionMode::Auto | PermissionMode::Plan | PermissionMode::Refuse => {
            "--sandbox=read-only"
        }
    }
}

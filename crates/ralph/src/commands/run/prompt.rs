//! The prompts of a run: `read_prompt` reads the task, `task` lets the driver read it again, `read_mode_prompt` reads what
//! a mode adds to it.

use std::io::IsTerminal as _;
use std::os::fd::AsFd as _;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ralph_run::{RunKind, Task, TaskReader};

use super::secrets::check_prompt;
use crate::commands::init;
use crate::console::write_stderr;
use crate::current_process;
use crate::failure::Failure;
use crate::settings::{
    Origin, PromptSource, Settings, SettingsError, Verbosity, check_inside_workspace, check_workspace_prompt,
    load_prompt, reload_prompt,
};

/// How long to wait for the first byte of a prompt from a pipe that was not named with `-`. A CI job may leave a pipe open
/// that nothing is ever written to.
const STDIN_TIMEOUT: Duration = Duration::from_secs(5);

/// The prompt, checked. Without one and without a PROMPT.md, a pipe or file on stdin is the prompt; the settings say so
/// then.
pub(super) fn read_prompt(settings: &mut Settings) -> anyhow::Result<Option<String>> {
    let stdin = std::io::stdin();
    let is_quiet = settings.view.verbosity == Verbosity::Quiet;
    let mut prompt = None;
    match &settings.prompt {
        PromptSource::Stdin if stdin.is_terminal() && !is_quiet => {
            write_stderr("ralph: reading the prompt from the terminal; press Ctrl-D at its end\n");
        }
        PromptSource::File(path) if settings.is_default("event_loop.prompt_file") && !path.exists() => {
            if is_stdin_piped() && current_process::wait_for_stdin(STDIN_TIMEOUT) {
                prompt = load_prompt(&PromptSource::Stdin, stdin.lock()).ok().flatten();
            }
        }
        PromptSource::Stdin | PromptSource::File(_) | PromptSource::Text(_) | PromptSource::Nothing => {}
    }
    if prompt.is_some() {
        settings.prompt = PromptSource::Stdin;
    } else {
        check_source(settings)?;
        prompt = load_prompt(&settings.prompt, stdin.lock())?;
    }
    check_text(settings, prompt.as_deref())?;
    Ok(prompt)
}

/// The prompt for the driver. A loop reads a file again before each iteration.
pub(super) fn task(settings: &Settings, text: String) -> Task {
    let is_loop = settings.kind == RunKind::Loop && !settings.once;
    match &settings.prompt {
        // Not a pipe: it can be read once only.
        PromptSource::File(path) if is_loop && path.is_file() => {
            Task::new(text, Some(reader(settings, path.clone()))).from_file(path.clone())
        }
        PromptSource::File(_) | PromptSource::Text(_) | PromptSource::Stdin | PromptSource::Nothing => {
            Task::new(text, None)
        }
    }
}

/// An agent can replace the file while the run is active, also by a link. So what it becomes is checked as strictly as if
/// it came with the repository.
fn reader(settings: &Settings, path: PathBuf) -> TaskReader {
    let settings = settings.clone();
    let was_inside = is_inside(&path, &settings.workspace);
    Arc::new(move || {
        let read = || -> anyhow::Result<String> {
            if was_inside {
                check_inside_workspace(&path, &settings.workspace)?;
            }
            let text = reload_prompt(&path)?;
            check_text(&settings, Some(&text))?;
            Ok(text)
        };
        read().map_err(|error| format!("{error:#}"))
    })
}

/// What the mode of these settings adds to every prompt, checked like the prompt itself.
pub(super) fn read_mode_prompt(settings: &Settings) -> anyhow::Result<Option<String>> {
    let Some(source) = &settings.mode_prompt else {
        return Ok(None);
    };
    if let PromptSource::File(path) = source {
        check_workspace_prompt(path, &settings.workspace)?;
    }
    let prompt = load_prompt(source, std::io::empty()).map_err(|error| {
        let mode = settings.mode.as_deref().unwrap_or_default();
        Failure::config(format!("mode `{mode}`: {error}"))
    })?;
    check_prompt(settings, prompt.as_deref())?;
    Ok(prompt)
}

/// A prompt file that the workspace chose must be in the workspace.
fn check_source(settings: &Settings) -> Result<(), SettingsError> {
    match &settings.prompt {
        PromptSource::File(path)
            if matches!(
                settings.origins.get("event_loop.prompt_file"),
                Some(Origin::File | Origin::Default)
            ) =>
        {
            check_workspace_prompt(path, &settings.workspace)
        }
        PromptSource::File(_) | PromptSource::Text(_) | PromptSource::Stdin | PromptSource::Nothing => Ok(()),
    }
}

fn check_text(settings: &Settings, prompt: Option<&str>) -> anyhow::Result<()> {
    if let (PromptSource::File(path), Some(text)) = (&settings.prompt, prompt)
        && init::is_template(text)
    {
        let path = path.display();
        return Err(Failure::usage(format!(
            "`{path}` is still the template that `ralph init` wrote; replace it with your task"
        ))
        .into());
    }
    Ok(check_prompt(settings, prompt)?)
}

fn is_inside(path: &Path, workspace: &Path) -> bool {
    match (path.canonicalize(), workspace.canonicalize()) {
        (Ok(path), Ok(workspace)) => path.starts_with(workspace),
        _ => false,
    }
}

/// Neither a terminal nor a device such as `/dev/null`.
fn is_stdin_piped() -> bool {
    let stdin = std::io::stdin().as_fd().try_clone_to_owned();
    let metadata = stdin.and_then(|stdin| std::fs::File::from(stdin).metadata());
    metadata.is_ok_and(|metadata| metadata.is_file() || metadata.file_type().is_fifo())
}

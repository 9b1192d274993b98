//! `ralph run --dry-run`: prints settings, prompt and command line of a run.

use std::path::Path;

use agent_api::LaunchInput;
use jiff::Timestamp;
use ralph_run::prompt::{PromptParts, compose, read_notes};
use ralph_run::{Home, RunKind, WorkspaceFiles};
use serde::Serialize;

use super::prepare;
use crate::console::{render_json_pretty, sanitise, write_stdout};
use crate::settings::{Output, ReportedSetting, Settings, render_settings, report_settings};
use crate::trust::{LeftOut, render_left_out};

/// What `--dry-run --output json` prints.
#[derive(Debug, Serialize)]
struct Plan<'a> {
    workspace: &'a Path,
    settings: Vec<ReportedSetting<'a>>,
    /// Keys of an untrusted `ralph.yml`.
    left_out: Vec<&'a str>,
    warnings: &'a [String],
    prompt: &'a str,
    command: Vec<String>,
    stdin: &'static str,
}

/// Prints the settings, the prompt and the command line. Starts nothing but the agent's version check.
pub(super) async fn execute(
    home: &Home,
    settings: &Settings,
    prompt: Option<&str>,
    left_out: &[LeftOut],
) -> anyhow::Result<u8> {
    let mut selected = prepare::choose(settings, Some(home)).await?;
    let notes = read_notes(&settings.workspace);
    let composed = match (settings.kind, prompt) {
        (RunKind::Loop, prompt) => compose(&PromptParts {
            task: prompt.unwrap_or_default(),
            iteration: u32::from(!settings.once),
            max_iterations: settings.limits.iterations.unwrap_or(0),
            memory: Some(notes.memory()),
            completion_promise: (!settings.once).then_some(settings.completion_promise.as_str()),
            verify: &settings.verify,
            last_failure: None,
        }),
        (RunKind::Session, Some(prompt)) => format!("{}\n", prompt.trim_end()),
        (RunKind::Session, None) => "(the first message)\n".to_owned(),
    };
    // Nothing is created: without the folder there is no session to continue.
    let files = settings.workspace.join(".ralph").is_dir();
    let files = files
        .then(|| WorkspaceFiles::prepare(home, &settings.workspace).ok())
        .flatten();
    let now = Timestamp::now();
    let (session, notice) = prepare::first_session(settings, files.as_ref(), selected.profile()?, now)?;
    selected.warnings.extend(notice);
    let launch = selected.preview(settings, &composed, session)?;
    let mut settings = settings.clone();
    for (name, tools) in [
        ("tools", &selected.options.tools),
        ("allowed_tools", &selected.options.allowed_tools),
    ] {
        settings.show(name, tools.as_ref().map(|tools| tools.join(",")));
    }
    let words = std::iter::once(launch.spec.program.as_os_str())
        .chain(launch.spec.args.iter().map(std::ffi::OsString::as_os_str));
    let plan = Plan {
        workspace: &settings.workspace,
        settings: report_settings(&settings),
        left_out: left_out.iter().map(|left_out| left_out.key.as_str()).collect(),
        warnings: &selected.warnings,
        prompt: &composed,
        command: words.map(|word| word.to_string_lossy().into_owned()).collect(),
        stdin: match launch.input {
            LaunchInput::Nothing => "nothing",
            LaunchInput::Bytes(_) => "the prompt",
            LaunchInput::Messages { .. } => "the prompt as the first message, then messages and answers",
        },
    };
    match settings.view.output {
        Output::Json => write_stdout(&render_json_pretty(&plan)?),
        Output::Text => write_stdout(&sanitise(&render(&plan, &settings, left_out))),
    }
    Ok(0)
}

fn render(plan: &Plan<'_>, settings: &Settings, left_out: &[LeftOut]) -> String {
    let mut text = format!("# Settings\n\n{}", render_settings(settings));
    if !left_out.is_empty() {
        text.push_str("\n# Left out of ralph.yml, which is not trusted\n\n");
        text.push_str(&render_left_out(left_out));
    }
    for warning in plan.warnings {
        text.push_str(&format!("\nwarning: {warning}\n"));
    }
    let command: Vec<String> = plan.command.iter().map(|word| quoted(word)).collect();
    text.push_str(&format!(
        "\n# Prompt of the first iteration\n\n{}\n# Command line\n\n{}\n\nstdin: {}\n",
        plan.prompt,
        command.join(" \\\n    "),
        plan.stdin
    ));
    text
}

/// Quoted for a shell.
fn quoted(argument: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "-_=./,:@%+".contains(character);
    if !argument.is_empty() && argument.chars().all(is_plain) {
        return argument.to_owned();
    }
    format!("'{}'", argument.replace('\'', r"'\''"))
}

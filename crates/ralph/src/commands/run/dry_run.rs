//! `ralph run --dry-run`: prints settings, prompt and command line of a run.

use std::path::Path;

use agent_api::LaunchInput;
use jiff::Timestamp;
use ralph_run::control::PermissionChoice;
use ralph_run::prompt::{IterationPrompt, read_notes};
use ralph_run::{Home, RoleSpec, RunKind, WorkspaceFiles};
use serde::Serialize;

use super::prepare::{self, SelectedAgent};
use crate::console::{render_json_pretty, write_stdout};
use crate::settings::{
    Output, ReportedSetting, SessionPolicy, Settings, permission_name, render_settings, report_settings,
};
use crate::trust::{LeftOut, render_left_out};
use run_view::sanitise;

/// What `--dry-run --output json` prints.
#[derive(Debug, Serialize)]
struct Plan<'a> {
    workspace: &'a Path,
    settings: Vec<ReportedSetting<'a>>,
    /// Keys of an untrusted `ralph.yml`.
    left_out: Vec<&'a str>,
    warnings: &'a [String],
    /// The roles of a loop, the first one first.
    roles: Vec<Role<'a>>,
    prompt: &'a str,
    command: Vec<String>,
    stdin: &'static str,
}

#[derive(Debug, Serialize)]
struct Role<'a> {
    name: &'a str,
    next: Option<&'a str>,
    model: Option<&'a str>,
    permission_mode: PermissionChoice,
    tools: Option<&'a [String]>,
    session: SessionPolicy,
    prompt: Option<&'a str>,
}

/// Prints the settings, the prompt and the command line. Starts nothing but the agent's version check.
pub(super) async fn execute(
    home: &Home,
    settings: &Settings,
    prompt: Option<&str>,
    left_out: &[LeftOut],
) -> anyhow::Result<u8> {
    let mut selected = prepare::choose(settings, Some(home)).await?;
    let composed = match (settings.kind, prompt) {
        (RunKind::Loop, prompt) => IterationPrompt {
            plan: &prepare::loop_plan(settings, selected.profile()?),
            iteration: 1,
            max_iterations: settings.limits.iterations.unwrap_or(0),
            role: settings.roles.first().map(|role| role.name.as_str()),
            instructions: selected.role(settings).instructions.as_deref(),
            task: prompt.unwrap_or_default(),
            notes: read_notes(home, &settings.workspace).as_ref(),
            last_failure: None,
            handover: None,
        }
        .compose(),
        (RunKind::Session, Some(prompt)) => prompt.to_owned(),
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
    let options = &selected.role(&settings).options;
    for (name, tools) in [
        ("tools", &options.tools),
        ("allowed_tools", &options.allowed_tools),
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
        roles: roles(&settings, &selected),
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

fn roles<'a>(settings: &'a Settings, selected: &'a SelectedAgent) -> Vec<Role<'a>> {
    let roles = settings.roles.iter().filter_map(|role| {
        let RoleSpec {
            options,
            instructions,
        } = selected.roles.get(&role.name)?;
        Some(Role {
            name: &role.name,
            next: settings.roles.get(role.next).map(|next| next.name.as_str()),
            model: options.model.as_deref(),
            permission_mode: role.agent.permission_mode,
            tools: options.tools.as_deref(),
            session: role.session_policy,
            prompt: instructions.as_deref(),
        })
    });
    roles.collect()
}

/// `plan, then build: model opus, permission mode plan, tools Read, Grep, session fresh`
fn render_role(role: &Role<'_>) -> String {
    let mut facts = vec![format!(
        "permission mode {}",
        permission_name(role.permission_mode)
    )];
    facts.extend(role.model.map(|model| format!("model {model}")));
    facts.extend(role.tools.map(|tools| format!("tools {}", tools.join(","))));
    facts.push(
        match role.session {
            SessionPolicy::Fresh => "a new session each time",
            SessionPolicy::Keep => "keeps its session",
        }
        .to_owned(),
    );
    let next = role.next.unwrap_or_default();
    format!("{}, then {next}: {}\n", role.name, facts.join("; "))
}

fn render(plan: &Plan<'_>, settings: &Settings, left_out: &[LeftOut]) -> String {
    let mut text = format!("# Settings\n\n{}", render_settings(settings));
    if !left_out.is_empty() {
        text.push_str("\n# Left out of ralph.yml, which is not trusted\n\n");
        text.push_str(&render_left_out(left_out));
    }
    if !plan.roles.is_empty() {
        text.push_str("\n# Roles\n\n");
        text.extend(plan.roles.iter().map(render_role));
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

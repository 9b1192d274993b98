//! What would happen.

use agent_api::LaunchInput;
use ralph_run::RunKind;
use ralph_run::prompt::{PromptParts, compose};

use super::prepare;
use crate::console::{sanitise, write_stdout};
use crate::settings::{Settings, render_settings};
use crate::versions::VersionFile;

/// Shows the settings, the prompt and the command line, and starts nothing but a question for the agent's version.
pub(super) async fn execute(
    settings: &Settings,
    prompt: Option<&str>,
    versions: Option<&VersionFile>,
) -> anyhow::Result<u8> {
    let chosen = prepare::choose(settings, versions).await?;
    let composed = match (settings.kind, prompt) {
        (RunKind::Loop, prompt) => compose(&PromptParts {
            task: prompt.unwrap_or_default(),
            iteration: u32::from(!settings.once),
            max_iterations: settings.limits.iterations.unwrap_or(0),
            mode: settings.mode.as_deref(),
            memory: None,
            completion_promise: (!settings.once).then_some(settings.completion_promise.as_str()),
            verify: &settings.verify,
            last_failure: None,
        }),
        (RunKind::Session, Some(prompt)) => format!("{}\n", prompt.trim_end()),
        (RunKind::Session, None) => "(the first message)\n".to_owned(),
    };
    let launch = chosen.preview(settings, &composed)?;
    let mut text = String::from("# Settings\n\n");
    text.push_str(&render_settings(settings));
    for warning in &chosen.warnings {
        text.push_str(&format!("\nwarning: {warning}\n"));
    }
    text.push_str("\n# Prompt of the first iteration\n\n");
    text.push_str(&composed);
    text.push_str("\n# Command line\n\n");
    text.push_str(&quoted(&launch.spec.program.to_string_lossy()));
    for argument in &launch.spec.args {
        text.push_str(" \\\n    ");
        text.push_str(&quoted(&argument.to_string_lossy()));
    }
    text.push_str(match launch.input {
        LaunchInput::Nothing => "\n\nstdin: nothing\n",
        LaunchInput::Bytes(_) => "\n\nstdin: the prompt\n",
        LaunchInput::Messages { .. } => {
            "\n\nstdin: the prompt as the first message, then messages and answers\n"
        }
    });
    write_stdout(&sanitise(&text));
    Ok(0)
}

/// As a shell would need it.
fn quoted(argument: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "-_=./,:@%+".contains(character);
    if !argument.is_empty() && argument.chars().all(is_plain) {
        return argument.to_owned();
    }
    format!("'{}'", argument.replace('\'', r"'\''"))
}

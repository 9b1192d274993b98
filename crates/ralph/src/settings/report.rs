//! Settings for people: `ralph run --dry-run`.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use clap::ValueEnum;
use jiff::SignedDuration;
use ralph_run::RunKind;

use super::layers::Origin;
use super::prompt::PromptSource;
use super::resolved::{SessionStart, Settings};
use super::table;
use super::values::choice_names;
use super::view::Verbosity;

/// One line per setting: what it is called, what holds, who decided it. Values of variables are not shown.
#[must_use]
pub fn render_settings(settings: &Settings) -> String {
    let mut lines = Lines {
        settings,
        text: String::new(),
    };
    let agent = &settings.agent;
    let limits = &settings.limits;
    lines.plain("workspace", &settings.workspace.display().to_string());
    lines.add(&table::BACKEND, Some(word(&agent.backend)));
    lines.add(&table::COMMAND, agent.program.as_deref().map(display));
    lines.add(&table::ARGS, joined(&agent.args));
    let names: Vec<String> = agent.env.keys().cloned().collect();
    lines.add(&table::ENV, joined(&names));
    if agent.backend == super::choices::Backend::Custom {
        lines.add(&table::PROMPT_MODE, Some(word(&agent.prompt_mode)));
        lines.add(&table::PROMPT_FLAG, agent.prompt_flag.clone());
        lines.add(&table::AGENT_OUTPUT, Some(word(&agent.output_format)));
    }
    lines.add(&table::MODEL, agent.model.clone());
    lines.add(&table::MODE, settings.mode.clone());
    lines.add(&table::PERMISSION_MODE, Some(word(&agent.permission_mode)));
    lines.add(&table::TOOLS, agent.tools.as_ref().map(|tools| tools.join(",")));
    lines.add(
        &table::ALLOWED_TOOLS,
        agent.allowed_tools.as_ref().map(|tools| tools.join(",")),
    );
    lines.add(
        &table::SYSTEM_PROMPT_FILE,
        agent.system_prompt_file.as_deref().map(display),
    );
    lines.add(
        &table::APPEND_SYSTEM_PROMPT_FILE,
        agent.append_system_prompt_file.as_deref().map(display),
    );
    lines.add(&table::AUTH, Some(word(&agent.auth)));
    lines.add(&table::TRANSPORT, Some(word(&agent.transport)));
    lines.add(&table::PARTIALS, Some(agent.partials.to_string()));
    lines.add(&table::ASK, Some(settings.ask.to_string()));
    lines.add(&table::ASK_TIMEOUT, Some(time(settings.ask_timeout)));
    lines.add(&table::IDLE_TIMEOUT, Some(limit(settings.idle_timeout.map(time))));
    lines.add(&table::DENIALS, Some(word(&settings.denials)));
    match &settings.prompt {
        PromptSource::Text(_) => lines.add(&table::PROMPT, Some("(below)".to_owned())),
        PromptSource::Stdin => lines.add(&table::PROMPT, Some("(stdin)".to_owned())),
        PromptSource::Nothing => lines.add(&table::PROMPT, Some("(the first message)".to_owned())),
        PromptSource::File(path) => lines.add(&table::PROMPT_FILE, Some(display(path))),
    }
    lines.add(
        &table::COMPLETION_PROMISE,
        Some(settings.completion_promise.clone()),
    );
    lines.add(&table::VERIFY, joined(&settings.verify));
    lines.add(&table::MAX_ITERATIONS, Some(limit(limits.iterations)));
    lines.add(&table::MAX_COST, Some(limit(limits.cost)));
    lines.add(&table::MAX_RUNTIME, Some(limit(limits.runtime.map(time))));
    lines.add(
        &table::ITERATION_TIMEOUT,
        Some(limit(limits.iteration_timeout.map(time))),
    );
    lines.add(&table::MAX_TURNS, Some(limit(limits.turns)));
    lines.add(&table::MAX_TOKENS, Some(limit(limits.tokens)));
    lines.add(
        &table::MAX_CONSECUTIVE_FAILURES,
        Some(limit(limits.consecutive_failures)),
    );
    lines.add(&table::COOLDOWN, Some(time(settings.cooldown)));
    lines.add(&table::REDACT, joined(&settings.redact));
    let verbosity = settings.view.verbosity;
    lines.add(
        &table::VERBOSE,
        Some((verbosity == Verbosity::Verbose).to_string()),
    );
    lines.add(&table::QUIET, Some((verbosity == Verbosity::Quiet).to_string()));
    lines.add(&table::OUTPUT, Some(word(&settings.view.output)));
    lines.add(&table::COLOR, Some(word(&settings.view.color)));
    lines.plain("once", &settings.once.to_string());
    if settings.kind == RunKind::Session {
        lines.plain("interactive", "true");
    }
    if settings.ephemeral {
        lines.plain("ephemeral", "true");
    }
    lines.plain("task", settings.task.as_deref().unwrap_or("-"));
    let copy = |fork: bool| if fork { " (a copy)" } else { "" };
    lines.plain(
        "session",
        &match &settings.session {
            SessionStart::Fresh => "new".to_owned(),
            SessionStart::Continue { fork } => format!("the last one{}", copy(*fork)),
            SessionStart::Resume { id, fork } => format!("{id}{}", copy(*fork)),
        },
    );
    lines.text
}

struct Lines<'a> {
    settings: &'a Settings,
    text: String,
}

impl Lines<'_> {
    fn add(&mut self, setting: &table::Setting, value: Option<String>) {
        let origin = self
            .settings
            .origins
            .get(setting.name())
            .copied()
            .unwrap_or(Origin::Default);
        let name = setting.name().trim_start_matches('-');
        let value = value.unwrap_or_else(|| "-".to_owned());
        let _ = writeln!(self.text, "{name}: {value}  ({origin})");
    }

    fn plain(&mut self, name: &str, value: &str) {
        let _ = writeln!(self.text, "{name}: {value}");
    }
}

fn word<T: ValueEnum>(value: &T) -> String {
    value.to_possible_value().map_or_else(
        || choice_names::<T>().join("|"),
        |value| value.get_name().to_owned(),
    )
}

fn display(path: &Path) -> String {
    path.display().to_string()
}

fn joined(items: &[String]) -> Option<String> {
    (!items.is_empty()).then(|| items.join("; "))
}

fn limit(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "none".to_owned(), |value| value.to_string())
}

fn time(duration: Duration) -> String {
    SignedDuration::try_from(duration)
        .map_or_else(|_| format!("{duration:?}"), |duration| format!("{duration:#}"))
}

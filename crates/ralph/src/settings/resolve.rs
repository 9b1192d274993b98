//! From what was said to what holds.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use agent_api::MicroUsd;
use ralph_run::RunKind;

use super::agent::resolve_agent;
use super::document::Position;
use super::error::{SettingsError, Warning};
use super::file::ConfigFile;
use super::layers::{Decided, Layers, Origin};
use super::mode::{ActiveMode, Mode, resolve_modes};
use super::near::nearest_word;
use super::prompt::PromptSource;
use super::resolved::{LimitSettings, SessionStart, Settings};
use super::values::{
    excerpt, parse_choice, parse_count, parse_duration, parse_money, parse_switch, parse_text, parse_tokens,
};
use super::{table, view};
use crate::cli::RunArgs;

/// Where the question comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    /// The working directory: paths on the command line and in variables start here.
    pub cwd: PathBuf,
    /// The workspace, from [`find_workspace`](super::find_workspace): paths in its `ralph.yml` start there.
    pub workspace: PathBuf,
}

/// Decides every setting: flag, then variable, then mode, then `ralph.yml`, then default.
///
/// # Errors
/// If a value is wrong, or settings do not fit together. The error's exit code tells usage from configuration.
pub fn resolve(
    args: &RunArgs,
    variables: &dyn Fn(&str) -> Option<String>,
    file: Option<&ConfigFile>,
    context: &Context,
) -> Result<(Settings, Vec<Warning>), SettingsError> {
    let mut layers = Layers::new(variables, file);
    let modes = resolve_modes(file, &context.workspace);
    let active = active_mode(args, &modes, &mut layers)?;
    let kind = kind(args)?;
    let idle_timeout = layers.value(&table::IDLE_TIMEOUT, args.idle_timeout, parse_duration)?;
    let ask = layers.value(&table::ASK, args.ask.then_some(true), parse_switch)?;
    let settings = Settings {
        workspace: context.workspace.clone(),
        agent: resolve_agent(args, &active, ask, &mut layers, context)?,
        mode: active.name,
        task: named(args.task.as_deref(), "--task")?,
        once: kind == RunKind::Loop && (args.once || active.mode.once),
        kind,
        idle_timeout: (!idle_timeout.is_zero()).then_some(idle_timeout),
        ephemeral: args.ephemeral,
        limits: limits(args, &mut layers)?,
        cooldown: layers.value(&table::COOLDOWN, None, parse_duration)?,
        completion_promise: layers.value(&table::COMPLETION_PROMISE, None, parse_promise)?,
        prompt: prompt(args, &mut layers, context)?,
        session: session(args)?,
        session_policy: active.mode.session,
        verify: match kind {
            RunKind::Loop => layers.lines(&table::VERIFY, &args.verify)?,
            // A person says when it is done.
            RunKind::Session => Vec::new(),
        },
        ask,
        ask_timeout: layers.value(&table::ASK_TIMEOUT, None, parse_duration)?,
        denials: layers.value(&table::DENIALS, None, parse_choice)?,
        view: view::view(&args.view, &mut layers)?,
        detach: args.detach,
        dry_run: args.dry_run,
        reset_budget: args.reset_budget,
        redact: layers.lines(&table::REDACT, &[])?,
        modes,
        origins: layers.origins,
    };
    Ok((
        settings,
        file.map_or_else(Vec::new, |file| file.warnings().to_vec()),
    ))
}

/// What belongs to a loop means nothing in a conversation.
fn kind(args: &RunArgs) -> Result<RunKind, SettingsError> {
    let loop_flags = [
        ("--once", args.once),
        ("--verify", !args.verify.is_empty()),
        ("--max-iterations", args.max_iterations.is_some()),
        ("--iteration-timeout", args.iteration_timeout.is_some()),
    ];
    if !args.interactive {
        return Ok(RunKind::Loop);
    }
    match loop_flags.iter().find(|(_, is_given)| *is_given) {
        Some((flag, _)) => Err(usage(&format!("`--interactive` and `{flag}` exclude each other"))),
        None => Ok(RunKind::Session),
    }
}

fn active_mode(
    args: &RunArgs,
    modes: &BTreeMap<String, Mode>,
    layers: &mut Layers<'_>,
) -> Result<ActiveMode, SettingsError> {
    let name = layers.optional(
        &table::MODE,
        given(args.mode.as_deref(), "--mode")?,
        None,
        parse_text,
    )?;
    let mode = match &name {
        Some(name) => modes
            .get(name)
            .cloned()
            .ok_or_else(|| unknown_mode(name, modes, layers))?,
        None => Mode::default(),
    };
    Ok(ActiveMode { name, mode })
}

fn limits(args: &RunArgs, layers: &mut Layers<'_>) -> Result<LimitSettings, SettingsError> {
    let iterations = layers.value(&table::MAX_ITERATIONS, args.max_iterations, parse_count)?;
    let cost = layers.value(&table::MAX_COST, args.max_cost, parse_money)?;
    let runtime = layers.value(&table::MAX_RUNTIME, args.max_runtime, parse_duration)?;
    let iteration = layers.value(&table::ITERATION_TIMEOUT, args.iteration_timeout, parse_duration)?;
    let turns = layers.value(&table::MAX_TURNS, args.max_turns, parse_count)?;
    let tokens = layers.value(&table::MAX_TOKENS, args.max_tokens, parse_tokens)?;
    let failures = layers.value(&table::MAX_CONSECUTIVE_FAILURES, None, parse_count)?;
    Ok(LimitSettings {
        iterations: (iterations > 0).then_some(iterations),
        cost: (cost > MicroUsd::ZERO).then_some(cost),
        runtime: (!runtime.is_zero()).then_some(runtime),
        iteration_timeout: (!iteration.is_zero()).then_some(iteration),
        turns: (turns > 0).then_some(turns),
        tokens: (tokens > 0).then_some(tokens),
        consecutive_failures: (failures > 0).then_some(failures),
    })
}

fn session(args: &RunArgs) -> Result<SessionStart, SettingsError> {
    let fork = args.fork;
    match (named(args.resume.as_deref(), "--resume")?, args.continue_last) {
        (Some(_), true) => Err(usage("`--continue` and `--resume` exclude each other")),
        (Some(id), false) => Ok(SessionStart::Resume { id, fork }),
        (None, true) => Ok(SessionStart::Continue { fork }),
        (None, false) if fork => Err(usage("`--fork` needs `--continue` or `--resume`")),
        (None, false) => Ok(SessionStart::Fresh),
    }
}

/// The first place that names a prompt decides; it may not name two.
fn prompt(args: &RunArgs, layers: &mut Layers<'_>, context: &Context) -> Result<PromptSource, SettingsError> {
    let twice = |place: &str, one: &str, other: &str| format!("{place} gives two prompts: {one} and {other}");
    let flags = [
        args.stdin.is_some(),
        args.prompt.is_some(),
        args.prompt_file.is_some(),
    ];
    if flags.iter().filter(|is_given| **is_given).count() > 1 {
        return Err(usage("give one prompt: `-p TEXT`, `-P FILE` or `-`"));
    }
    let is_dash = args.prompt_file.as_deref() == Some(Path::new("-"));
    if args.stdin.is_some() || is_dash {
        layers.note(&table::PROMPT, Some(((), Origin::Flag)));
        return Ok(PromptSource::Stdin);
    }
    let flag = given(args.prompt.as_deref(), "--prompt")?;
    let flag_file = args.prompt_file.as_ref().map(|path| context.cwd.join(path));
    if flag.is_none() && flag_file.is_none() {
        if args.interactive {
            // The task of a loop is no greeting.
            return Ok(PromptSource::Nothing);
        }
        let text = layers.stated(&table::PROMPT, None, parse_text)?;
        let path = layers.stated(&table::PROMPT_FILE, None, parse_text)?;
        match (text, path) {
            (Some(_), Some(_)) => {
                let message = twice(
                    "the environment",
                    table::PROMPT.variable,
                    table::PROMPT_FILE.variable,
                );
                return Err(SettingsError::Conflict(message));
            }
            (None, None) => return filed_prompt(layers, context),
            (Some(text), None) => return Ok(source(layers, Some(text), None)),
            (None, Some((path, origin))) => {
                return Ok(source(layers, None, Some((context.cwd.join(path), origin))));
            }
        }
    }
    let flag = flag.map(|text| (text, Origin::Flag));
    Ok(source(layers, flag, flag_file.map(|path| (path, Origin::Flag))))
}

fn filed_prompt(layers: &mut Layers<'_>, context: &Context) -> Result<PromptSource, SettingsError> {
    let text = layers.filed(&table::PROMPT, parse_text)?;
    let path = layers.filed(&table::PROMPT_FILE, parse_text)?;
    if let (Some(_), Some(_), Some(file)) = (&text, &path, layers.file) {
        let position = file
            .scalar(&table::PROMPT_FILE)
            .map_or_else(Position::default, |(_, position)| position);
        return Err(file.fail(
            position,
            "there are two prompts: `event_loop.prompt` and `event_loop.prompt_file`",
        ));
    }
    let path = path.map(|(path, origin)| (context.workspace.join(path), origin));
    let default = (
        context.workspace.join(table::PROMPT_FILE.default),
        Origin::Default,
    );
    let path = path.or_else(|| text.is_none().then_some(default));
    Ok(source(layers, text, path))
}

fn source(layers: &mut Layers<'_>, text: Decided<String>, path: Decided<PathBuf>) -> PromptSource {
    match (
        layers.note(&table::PROMPT, text),
        layers.note(&table::PROMPT_FILE, path),
    ) {
        (None, Some(path)) => PromptSource::File(path),
        (text, _) => PromptSource::Text(text.unwrap_or_default()),
    }
}

fn unknown_mode(name: &str, modes: &BTreeMap<String, Mode>, layers: &Layers<'_>) -> SettingsError {
    let names: Vec<&str> = modes.keys().map(String::as_str).collect();
    let mut message = format!(
        "there is no mode `{}`; there are {}",
        excerpt(name),
        names.join(", ")
    );
    if let Some(near) = nearest_word(name, names.iter().copied()) {
        message.push_str(&format!("; did you mean `{near}`?"));
    }
    match (layers.origins.get(table::MODE.name()), layers.file) {
        (Some(Origin::Flag), _) => SettingsError::Usage(message),
        (Some(Origin::File), Some(file)) => {
            let position = file
                .scalar(&table::MODE)
                .map_or_else(Position::default, |(_, position)| position);
            file.fail(position, message)
        }
        _ => SettingsError::Conflict(message),
    }
}

/// A text by flag, if it says something.
pub(super) fn given(text: Option<&str>, flag: &str) -> Result<Option<String>, SettingsError> {
    let text = text.map(parse_text).transpose();
    text.map_err(|message| usage(&format!("{flag} {message}")))
}

/// A name by flag. One that begins with `-` would be an option of the agent's.
fn named(text: Option<&str>, flag: &str) -> Result<Option<String>, SettingsError> {
    let name = given(text, flag)?;
    if let Some(name) = &name
        && (name.starts_with('-') || name.chars().any(char::is_control))
    {
        return Err(usage(&format!("{flag} cannot be `{}`", excerpt(name))));
    }
    Ok(name)
}

/// It is compared with one line.
fn parse_promise(text: &str) -> Result<String, String> {
    let promise = parse_text(text)?.trim().to_owned();
    if promise.contains(['\n', '\r']) {
        return Err("must be a single line".to_owned());
    }
    Ok(promise)
}

fn usage(message: &str) -> SettingsError {
    SettingsError::Usage(message.to_owned())
}

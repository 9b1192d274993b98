//! `resolve`: from the layers to `Settings`. A pure function of the command line, the environment and `ralph.yml`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agent_api::MicroUsd;
use ralph_run::RunKind;
use ralph_run::control::PermissionChoice;

use super::agent::{build_agent, choose_system_prompts, fill_in_tools, resolve_auto, strip_foreign_program};
use super::choices::Transport;
use super::error::{SettingsError, Warning};
use super::file::ConfigFile;
use super::layer::{Layer as _, Origin};
use super::mode::{Mode, all_modes, roles_from};
use super::notify::NotifySettings;
use super::prompt::PromptSource;
use super::resolved::{AgentSettings, LimitSettings, RoleSettings, SessionStart, Settings, WorktreeSettings};
use super::table::{SETTINGS, SettingsLayer};
use super::values::{excerpt, parse_text};
use super::view;
use super::watch::WatchSettings;
use crate::commands::run::RunArgs;
use yaml_tree::nearest_word;

/// Where relative paths start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    /// For paths on the command line and in variables.
    pub cwd: PathBuf,
    /// For paths in `ralph.yml`; from [`find_workspace`](super::find_workspace).
    pub workspace: PathBuf,
}

/// What each layer gives.
pub(super) struct Layers<'a> {
    pub(super) flags: SettingsLayer,
    pub(super) environment: SettingsLayer,
    pub(super) mode: SettingsLayer,
    pub(super) file: SettingsLayer,
    config_file: Option<&'a ConfigFile>,
}

impl Layers<'_> {
    pub(super) fn by_precedence(&self) -> [(&SettingsLayer, Origin); 4] {
        [
            (&self.flags, Origin::Flag),
            (&self.environment, Origin::Environment),
            (&self.mode, Origin::Mode),
            (&self.file, Origin::File),
        ]
    }

    /// The value of the first layer that has one.
    pub(super) fn first<T>(&self, field: impl Fn(&SettingsLayer) -> Option<T>) -> Option<(T, Origin)> {
        let mut layers = self.by_precedence().into_iter();
        layers.find_map(|(layer, origin)| Some((field(layer)?, origin)))
    }

    /// Whether the person who starts the run wants to be asked. A repository's `ask: true` does not mean that somebody
    /// is there who could raise a limit.
    fn is_told_to_ask(&self) -> bool {
        self.flags.ask.or(self.environment.ask) == Some(true)
    }

    fn origins(&self) -> BTreeMap<String, Origin> {
        let names = SETTINGS.iter().map(|setting| setting.name().to_owned());
        let mut origins: BTreeMap<String, Origin> = names.map(|name| (name, Origin::Default)).collect();
        for (layer, origin) in self.by_precedence().into_iter().rev() {
            layer.note_origins(origin, &mut origins);
        }
        origins
    }

    fn merged(&self) -> Result<SettingsLayer, SettingsError> {
        let layers = self.by_precedence().into_iter().rev();
        let merge = |lower, (layer, _): (&SettingsLayer, Origin)| layer.clone().or(lower);
        Ok(layers.fold(SettingsLayer::defaults()?, merge))
    }
}

/// Decides every setting: flag, then variable, then mode, then `ralph.yml`, then default.
pub fn resolve(
    args: &RunArgs,
    variables: &dyn Fn(&str) -> Option<String>,
    file: Option<&ConfigFile>,
    context: &Context,
) -> Result<(Settings, Vec<Warning>), SettingsError> {
    args.settings.check_flags()?;
    let kind = kind(args)?;
    let environment = SettingsLayer::read_variables(variables, &args.settings)?;
    let from_file = file.map(|file| file.settings.clone()).unwrap_or_default();
    let mut layers = Layers {
        flags: args.settings.clone().anchored(&context.cwd),
        environment: with_pty_mode(environment.anchored(&context.cwd)),
        mode: SettingsLayer::default(),
        file: with_pty_mode(from_file.anchored(&context.workspace)),
        config_file: file,
    };
    let modes = all_modes(layers.file.modes.as_ref());
    check_modes(&modes, file)?;
    let (mode_name, mode) = active_mode(&layers, &modes)?;
    let roles = match (kind, &mode_name) {
        (RunKind::Loop, Some(name)) => roles(args, &mut layers, name, &modes)?,
        (RunKind::Session, _) | (RunKind::Loop, None) => Vec::new(),
    };
    let prompt = prompt(args, &layers, context)?;
    let ModeSettings {
        mut effective,
        mut origins,
        agent,
    } = in_mode(args, &mut layers, &mode)?;
    if kind == RunKind::Session {
        // The user decides when a conversation is done.
        effective.verify = None;
    }
    check_input(&effective, kind)?;
    let view = view::view(&args.view, variables, file)?;
    show_prompt(&prompt, &mut effective, &mut origins);
    let watch = WatchSettings::resolve(&mut effective)?;
    let notify = NotifySettings::resolve(&effective)?;
    origins.extend(view.origins);
    let mut shown = effective.show();
    shown.extend(view.shown);
    let settings = Settings {
        workspace: context.workspace.clone(),
        agent,
        mode: mode_name,
        task: named(args.task.as_deref(), "--task")?,
        once: kind == RunKind::Loop && (args.once || roles.is_empty() && mode.layer.once == Some(true)),
        kind,
        idle_timeout: limited(effective.idle_timeout),
        ephemeral: args.ephemeral,
        limits: LimitSettings {
            iterations: effective.max_iterations.filter(|count| *count > 0),
            cost: effective.max_cost.filter(|cost| *cost > MicroUsd::ZERO),
            runtime: limited(effective.max_runtime),
            iteration_timeout: limited(effective.iteration_timeout),
            turns: effective.max_turns.filter(|count| *count > 0),
            tokens: effective.max_tokens.filter(|count| *count > 0),
            consecutive_failures: effective.max_consecutive_failures.filter(|count| *count > 0),
            wait: limited(effective.max_wait),
        },
        cooldown: effective.cooldown.unwrap_or_default(),
        completion_promise: decided(effective.completion_promise)?.0,
        prompt: prompt.0,
        mode_prompt: mode.prompt(),
        memory: effective.memory.unwrap_or_default(),
        session: session(args)?,
        session_policy: match args.fresh || !roles.is_empty() {
            true => Default::default(),
            false => mode.layer.session.unwrap_or_default(),
        },
        roles,
        verify: effective.verify.unwrap_or_default(),
        verify_timeout: limited(effective.verify_timeout),
        worktree: WorktreeSettings {
            base: effective.worktree_base,
            setup: effective.worktree_setup.unwrap_or_default(),
            setup_timeout: limited(effective.worktree_setup_timeout),
            copy: effective.worktree_copy.unwrap_or_default(),
        },
        own_worktree: None,
        ask: effective.ask.unwrap_or_default(),
        accepts_input: effective.accepts_input,
        asks_about_limits: layers.is_told_to_ask() || kind == RunKind::Session,
        ask_timeout: limited(effective.ask_timeout),
        denials: decided(effective.denials)?,
        view: view.view,
        detach: args.detach,
        dry_run: args.dry_run,
        reset_budget: args.reset_budget,
        redact: effective.redact.unwrap_or_default(),
        allow_secrets: effective.allow_secrets.unwrap_or_default(),
        watch,
        notify,
        shown,
        origins,
    };
    Ok((
        settings,
        file.map_or_else(Vec::new, |file| file.warnings().to_vec()),
    ))
}

/// What a run needs from an agent that is told nothing but its prompt.
fn check_input(effective: &SettingsLayer, kind: RunKind) -> Result<(), SettingsError> {
    if effective.accepts_input != Some(false) {
        return Ok(());
    }
    let needed = match (kind, effective.ask) {
        (RunKind::Session, _) => "a conversation needs messages",
        (RunKind::Loop, Some(true)) => "`ask` needs answers",
        (RunKind::Loop, _) => return Ok(()),
    };
    Err(SettingsError::Conflict(format!(
        "`accepts_input` is false, but {needed}: change one of them"
    )))
}

/// The value of a setting that has a default.
pub(super) fn decided<T>(value: Option<T>) -> Result<T, SettingsError> {
    value.ok_or_else(|| SettingsError::Conflict("a setting has neither a value nor a default".to_owned()))
}

/// `0` turns a limit off.
fn limited(limit: Option<Duration>) -> Option<Duration> {
    limit.filter(|limit| !limit.is_zero())
}

/// `pty_mode` is an older name of `transport: pty`. In the same layer, `transport` wins.
fn with_pty_mode(mut layer: SettingsLayer) -> SettingsLayer {
    let as_transport = |is_pty: bool| if is_pty { Transport::Pty } else { Transport::Auto };
    layer.transport = layer.transport.or(layer.pty_mode.take().map(as_transport));
    layer
}

/// Flags of a loop cannot be used for a conversation.
fn kind(args: &RunArgs) -> Result<RunKind, SettingsError> {
    let loop_flags = [
        ("--once", args.once),
        ("--verify", args.settings.verify.is_some()),
        ("--max-iterations", args.settings.max_iterations.is_some()),
        ("--iteration-timeout", args.settings.iteration_timeout.is_some()),
        ("--verify-timeout", args.settings.verify_timeout.is_some()),
    ];
    if !args.interactive {
        return Ok(RunKind::Loop);
    }
    match loop_flags.iter().find(|(_, is_given)| *is_given) {
        Some((flag, _)) => Err(usage(&format!("`--interactive` cannot be used with `{flag}`"))),
        None => Ok(RunKind::Session),
    }
}

/// What the layers give in one mode.
struct ModeSettings {
    effective: SettingsLayer,
    origins: BTreeMap<String, Origin>,
    agent: AgentSettings,
}

fn in_mode(args: &RunArgs, layers: &mut Layers<'_>, mode: &Mode) -> Result<ModeSettings, SettingsError> {
    layers.mode = mode.settings();
    strip_foreign_program(layers);
    let mut origins = layers.origins();
    let mut effective = layers.merged()?;
    resolve_auto(&mut effective, &layers.file);
    if layers.first(|layer| layer.permission_mode).is_none() && effective.ask == Some(true) {
        effective.permission_mode = Some(PermissionChoice::Ask);
    }
    if !args.extra.is_empty() {
        effective
            .args
            .get_or_insert_default()
            .extend(args.extra.iter().cloned());
        origins.insert("cli.args".to_owned(), Origin::Flag);
    }
    let mode_tools = fill_in_tools(&mut effective, mode, layers);
    if mode_tools.is_some() {
        origins.insert("tools".to_owned(), Origin::Mode);
    }
    choose_system_prompts(&mut effective, layers)?;
    let agent = build_agent(&mut effective, mode_tools, args.slash)?;
    Ok(ModeSettings {
        effective,
        origins,
        agent,
    })
}

fn roles(
    args: &RunArgs,
    layers: &mut Layers<'_>,
    start: &str,
    modes: &BTreeMap<String, Mode>,
) -> Result<Vec<RoleSettings>, SettingsError> {
    let role = |(name, mode, next): (&str, &Mode, usize)| -> Result<RoleSettings, SettingsError> {
        Ok(RoleSettings {
            name: name.to_owned(),
            next,
            session_policy: mode.layer.session.unwrap_or_default(),
            agent: in_mode(args, layers, mode)?.agent,
            prompt: mode.prompt(),
        })
    };
    roles_from(start, modes).into_iter().map(role).collect()
}

/// Every `next` names a mode, and no mode has two prompts.
fn check_modes(modes: &BTreeMap<String, Mode>, file: Option<&ConfigFile>) -> Result<(), SettingsError> {
    // The built-in modes are right.
    let Some(file) = file else { return Ok(()) };
    for (name, mode) in modes {
        if let Some(next) = mode.layer.next.as_ref().filter(|next| !modes.contains_key(*next)) {
            return Err(file.fail_in_mode(name, "next", unknown_mode(next, modes)));
        }
        if mode.layer.prompt.is_some() && mode.layer.prompt_file.is_some() {
            let message = "the mode has two prompts: `prompt` and `prompt_file`".to_owned();
            return Err(file.fail_in_mode(name, "prompt_file", message));
        }
    }
    Ok(())
}

fn unknown_mode(name: &str, modes: &BTreeMap<String, Mode>) -> String {
    let names: Vec<&str> = modes.keys().map(String::as_str).collect();
    let mut message = format!(
        "there is no mode `{}`; the modes are {}",
        excerpt(name),
        names.join(", ")
    );
    if let Some(near) = nearest_word(name, names.iter().copied()) {
        message.push_str(&format!("; did you mean `{near}`?"));
    }
    message
}

fn active_mode(
    layers: &Layers<'_>,
    modes: &BTreeMap<String, Mode>,
) -> Result<(Option<String>, Mode), SettingsError> {
    let Some((name, origin)) = layers.first(|layer| layer.mode.clone()) else {
        return Ok((None, Mode::default()));
    };
    if let Some(mode) = modes.get(&name) {
        return Ok((Some(name), mode.clone()));
    }
    let message = unknown_mode(&name, modes);
    Err(match (origin, layers.config_file) {
        (Origin::Flag, _) => SettingsError::Usage(message),
        (Origin::File, Some(file)) => file.fail("mode", message),
        _ => SettingsError::Conflict(message),
    })
}

fn session(args: &RunArgs) -> Result<SessionStart, SettingsError> {
    let fork = args.fork;
    match (named(args.resume.as_deref(), "--resume")?, args.continue_last) {
        (Some(_), true) => Err(usage("`--continue` cannot be used with `--resume`")),
        (Some(id), false) => Ok(SessionStart::Resume { id, fork }),
        (None, true) => Ok(SessionStart::Continue { fork }),
        (None, false) if fork => Err(usage("`--fork` needs `--continue` or `--resume`")),
        (None, false) => Ok(SessionStart::Fresh),
    }
}

/// The first layer with a prompt decides; it may not have two.
fn prompt(
    args: &RunArgs,
    layers: &Layers<'_>,
    context: &Context,
) -> Result<(PromptSource, Origin), SettingsError> {
    let (text, path) = (&args.settings.prompt, &args.settings.prompt_file);
    let given = [args.stdin.is_some(), text.is_some(), path.is_some()];
    if given.iter().filter(|is_given| **is_given).count() > 1 {
        return Err(usage("give one prompt: `-p TEXT`, `-P FILE` or `-`"));
    }
    let is_dash = text.as_deref() == Some("-") || path.as_deref() == Some(Path::new("-"));
    if args.stdin.is_some() || is_dash {
        return Ok((PromptSource::Stdin, Origin::Flag));
    }
    for (layer, origin) in layers.by_precedence() {
        match (&layer.prompt, &layer.prompt_file) {
            (None, None) => {}
            (Some(text), None) => return Ok((PromptSource::Text(text.clone()), origin)),
            (None, Some(path)) => return Ok((PromptSource::File(path.clone()), origin)),
            (Some(_), Some(_)) => return Err(two_prompts(layers, origin)),
        }
        if args.interactive {
            // The prompt of a loop does not start a conversation.
            return Ok((PromptSource::Nothing, Origin::Default));
        }
    }
    let path = decided(SettingsLayer::defaults()?.prompt_file)?;
    Ok((PromptSource::File(context.workspace.join(path)), Origin::Default))
}

fn two_prompts(layers: &Layers<'_>, origin: Origin) -> SettingsError {
    match (origin, layers.config_file) {
        (Origin::File, Some(file)) => file.fail(
            "event_loop.prompt_file",
            "there are two prompts: `event_loop.prompt` and `event_loop.prompt_file`",
        ),
        _ => SettingsError::Conflict(
            "the environment gives two prompts: RALPH_PROMPT and RALPH_PROMPT_FILE".to_owned(),
        ),
    }
}

/// Shows the prompt's source, and only that.
fn show_prompt(
    (prompt, origin): &(PromptSource, Origin),
    effective: &mut SettingsLayer,
    origins: &mut BTreeMap<String, Origin>,
) {
    (effective.prompt, effective.prompt_file) = match prompt {
        PromptSource::File(path) => (None, Some(path.clone())),
        PromptSource::Text(_) => (Some("(below)".to_owned()), None),
        PromptSource::Stdin => (Some("(stdin)".to_owned()), None),
        PromptSource::Nothing => (Some("(the first message)".to_owned()), None),
    };
    for name in ["event_loop.prompt", "event_loop.prompt_file"] {
        origins.insert(name.to_owned(), *origin);
    }
}

/// A name given by a flag. A leading `-` would make it an option of the agent.
fn named(text: Option<&str>, flag: &str) -> Result<Option<String>, SettingsError> {
    let Some(name) = text else { return Ok(None) };
    let name = parse_text(name).map_err(|message| usage(&format!("{flag} {message}")))?;
    if name.starts_with('-') || name.chars().any(char::is_control) {
        return Err(usage(&format!("{flag} cannot be `{}`", excerpt(&name))));
    }
    Ok(Some(name))
}

fn usage(message: &str) -> SettingsError {
    SettingsError::Usage(message.to_owned())
}

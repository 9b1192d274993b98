//! Which agent, and how it is started.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::choices::{Backend, PermissionMode, Transport};
use super::document::Value;
use super::error::SettingsError;
use super::layers::{Layers, Origin};
use super::mode::{ActiveMode, Mode, PLANNER};
use super::resolve::{Context, given};
use super::resolved::AgentSettings;
use super::table::{self, Setting};
use super::values::{parse_choice, parse_switch, parse_text};
use crate::cli::RunArgs;

/// The planner may search where it is allowed to.
const SEARCH_TOOL: &str = "WebSearch";

pub(super) fn resolve_agent(
    args: &RunArgs,
    active: &ActiveMode,
    ask: bool,
    layers: &mut Layers<'_>,
    context: &Context,
) -> Result<AgentSettings, SettingsError> {
    let mode = &active.mode;
    let backend = layers.value(&table::BACKEND, args.backend, parse_choice)?;
    let is_for_file = is_for_file(backend, layers)?;
    let program = program(layers, context, is_for_file)?;
    if backend == Backend::Custom && program.is_none() {
        let message = "the backend `custom` needs a command: `cli.command` in ralph.yml, or RALPH_COMMAND";
        return Err(SettingsError::Conflict(message.to_owned()));
    }
    let mut arguments = if is_for_file {
        layers.lines(&table::ARGS, &[])?
    } else {
        layers.note(&table::ARGS, None).unwrap_or_default()
    };
    arguments.extend(args.extra.iter().cloned());
    let (tools, allowed_tools) = tools(args, active, layers)?;
    let model = given(args.model.as_deref(), "--model")?;
    Ok(AgentSettings {
        backend,
        program,
        args: arguments,
        env: environment(layers),
        prompt_mode: layers.value(&table::PROMPT_MODE, None, parse_choice)?,
        prompt_flag: layers.optional(&table::PROMPT_FLAG, None, None, parse_text)?,
        output_format: layers.value(&table::AGENT_OUTPUT, None, parse_choice)?,
        model: layers.optional(&table::MODEL, model, mode.model.clone(), parse_text)?,
        auth: layers.value(&table::AUTH, None, parse_choice)?,
        permission_mode: permission_mode(args, mode, ask, layers)?,
        tools,
        allowed_tools,
        system_prompt_file: path(
            layers,
            &table::SYSTEM_PROMPT_FILE,
            args.system_prompt_file.as_deref(),
            mode.system_prompt_file.as_deref(),
            context,
        )?,
        append_system_prompt_file: path(
            layers,
            &table::APPEND_SYSTEM_PROMPT_FILE,
            args.append_system_prompt_file.as_deref(),
            mode.append_system_prompt_file.as_deref(),
            context,
        )?,
        transport: transport(args, layers)?,
        partials: layers.value(&table::PARTIALS, None, parse_switch)?,
        slash: args.slash,
    })
}

/// A path of the command line or a variable starts in the working directory, one of the file in the workspace.
fn path(
    layers: &mut Layers<'_>,
    setting: &Setting,
    flag: Option<&Path>,
    mode: Option<&Path>,
    context: &Context,
) -> Result<Option<PathBuf>, SettingsError> {
    let parse = |text: &str| parse_text(text).map(PathBuf::from);
    let stated = layers.stated(setting, flag.map(Path::to_owned), parse)?;
    let stated = stated.map(|(path, origin)| (context.cwd.join(path), origin));
    let decided = match stated.or_else(|| mode.map(|path| (path.to_owned(), Origin::Mode))) {
        Some(decided) => Some(decided),
        None => layers
            .filed(setting, parse)?
            .map(|(path, origin)| (context.workspace.join(path), origin)),
    };
    Ok(layers.note(setting, decided))
}

/// Whether the file's program and arguments are those of this backend. They belong to the one that the file names; a
/// file that names none means an agent of the user's, not the demonstration.
fn is_for_file(backend: Backend, layers: &Layers<'_>) -> Result<bool, SettingsError> {
    let named = layers.filed(&table::BACKEND, parse_choice)?;
    Ok(match (named.map(|(named, _)| named), backend) {
        (Some(Backend::Auto | Backend::Claude), Backend::Auto | Backend::Claude) => true,
        (Some(named), backend) => named == backend,
        (None, backend) => backend != Backend::Demo,
    })
}

/// A bare name is looked up on `PATH`; only what has a `/` is a path.
fn program(
    layers: &mut Layers<'_>,
    context: &Context,
    is_for_file: bool,
) -> Result<Option<PathBuf>, SettingsError> {
    let place = |base: &Path, text: String| match text.contains(std::path::is_separator) {
        true => base.join(text).components().collect(),
        false => PathBuf::from(text),
    };
    let decided = match layers.stated(&table::COMMAND, None, parse_text)? {
        Some((text, origin)) => Some((place(&context.cwd, text), origin)),
        None if !is_for_file => None,
        None => {
            let filed = layers.filed(&table::COMMAND, parse_text)?;
            filed.map(|(text, origin)| (place(&context.workspace, text), origin))
        }
    };
    Ok(layers.note(&table::COMMAND, decided))
}

fn environment(layers: &mut Layers<'_>) -> BTreeMap<String, Option<String>> {
    let node = layers.file.and_then(|file| file.node(&table::ENV));
    let variables = node.map(|node| {
        let entries = node.entries().iter().map(|entry| match &entry.value.value {
            Value::Scalar(text) => (entry.key.clone(), Some(text.clone())),
            Value::Null | Value::List(_) | Value::Map(_) => (entry.key.clone(), None),
        });
        (entries.collect(), Origin::File)
    });
    layers.note(&table::ENV, variables).unwrap_or_default()
}

type ToolLists = (Option<Vec<String>>, Option<Vec<String>>);

fn tools(args: &RunArgs, active: &ActiveMode, layers: &mut Layers<'_>) -> Result<ToolLists, SettingsError> {
    let mode = &active.mode;
    let flag = args.tools.as_ref().map(|names| names.0.clone());
    let mut tools = layers.names(&table::TOOLS, flag, mode.tools.clone())?;
    let flag = args.allowed_tools.as_ref().map(|names| names.0.clone());
    let allowed = layers.names(&table::ALLOWED_TOOLS, flag, mode.allowed_tools.clone())?;
    let may_search = allowed.iter().flatten().any(|tool| tool == SEARCH_TOOL);
    if let Some(tools) = &mut tools
        && active.name.as_deref() == Some(PLANNER)
        && may_search
        && layers.origins.get(table::TOOLS.name()) == Some(&Origin::Mode)
        && !tools.iter().any(|tool| tool == SEARCH_TOOL)
    {
        tools.push(SEARCH_TOOL.to_owned());
    }
    Ok(tool_lists(tools, allowed))
}

/// A list of tools also permits them. What there is has no patterns, what is permitted may have.
fn tool_lists(tools: Option<Vec<String>>, allowed: Option<Vec<String>>) -> ToolLists {
    let Some(tools) = tools else {
        return (None, allowed);
    };
    let mut surface: Vec<String> = Vec::new();
    for tool in &tools {
        let name = tool
            .split_once('(')
            .map_or(tool.as_str(), |(name, _)| name)
            .trim();
        if !surface.iter().any(|known| known == name) {
            surface.push(name.to_owned());
        }
    }
    (Some(surface), Some(allowed.unwrap_or(tools)))
}

/// Whoever lets the agent ask wants to be asked.
fn permission_mode(
    args: &RunArgs,
    mode: &Mode,
    ask: bool,
    layers: &mut Layers<'_>,
) -> Result<PermissionMode, SettingsError> {
    let decided = layers.optional(
        &table::PERMISSION_MODE,
        args.permission_mode,
        mode.permission_mode,
        parse_choice,
    )?;
    match decided {
        Some(mode) => Ok(mode),
        None if ask => Ok(PermissionMode::Ask),
        None => layers.or_default(&table::PERMISSION_MODE, None, parse_choice),
    }
}

/// `pty_mode` is an older word for one of the transports: in the same place, `transport` counts more.
fn transport(args: &RunArgs, layers: &mut Layers<'_>) -> Result<Transport, SettingsError> {
    let as_transport = |is_pty: bool| if is_pty { Transport::Pty } else { Transport::Auto };
    let mut decided = layers.stated(&table::TRANSPORT, args.transport, parse_choice)?;
    if decided.is_none() {
        let stated = layers.stated(&table::PTY_MODE, None, parse_switch)?;
        decided = stated.map(|(is_pty, origin)| (as_transport(is_pty), origin));
    }
    if decided.is_none() {
        decided = layers.filed(&table::TRANSPORT, parse_choice)?;
    }
    if decided.is_none() {
        let filed = layers.filed(&table::PTY_MODE, parse_switch)?;
        decided = filed.map(|(is_pty, origin)| (as_transport(is_pty), origin));
    }
    layers.or_default(&table::TRANSPORT, decided, parse_choice)
}

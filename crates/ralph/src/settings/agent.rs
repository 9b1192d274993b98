//! `AgentSettings` from the effective layer: which agent, its program, arguments and tools.

use agent_api::ToolNames;

use super::backend::BackendName;
use super::error::SettingsError;
use super::mode::{Mode, ModeTools};
use super::resolve::{Layers, decided};
use super::resolved::{AcpSettings, AgentSettings};
use super::table::SettingsLayer;
use super::values::Names;

/// Removes the file's program and arguments if they are not for the agent that runs. They belong to the backend that the
/// file names; a file that names none means whichever agent runs, but not the demo.
pub(super) fn strip_foreign_program(layers: &mut Layers<'_>) {
    let auto = BackendName::auto();
    let nearer = layers
        .flags
        .backend
        .as_ref()
        .or(layers.environment.backend.as_ref());
    let named = layers.file.backend.as_ref();
    let backend = nearer.or(named).unwrap_or(&auto);
    let is_for_it = match named {
        None => !backend.is_demo(),
        Some(named) if backend.is_auto() => !named.is_custom() && !named.is_demo(),
        Some(named) if named.is_auto() => {
            let program = layers.file.command.as_ref();
            let is_own = program.is_none_or(|program| BackendName::of_program(&program.0) == *backend);
            is_own && !backend.is_custom() && !backend.is_demo()
        }
        Some(named) => named == backend,
    };
    if !is_for_it {
        layers.file.command = None;
        layers.file.args = None;
    }
}

/// A program of the user's decides which agent `auto` is: the one that the file names, else the one that the program's
/// name suggests.
pub(super) fn resolve_auto(effective: &mut SettingsLayer, file: &SettingsLayer) {
    let is_auto = effective.backend.as_ref().is_none_or(BackendName::is_auto);
    if is_auto && let Some(program) = &effective.command {
        let named = file.backend.clone().filter(|named| !named.is_auto());
        effective.backend = named.or_else(|| Some(BackendName::of_program(&program.0)));
    }
}

/// Gives `tools` and `allowed_tools` their final values. The tools of a built-in mode are returned instead: their names
/// depend on the agent.
pub(super) fn fill_in_tools(
    effective: &mut SettingsLayer,
    mode: &Mode,
    layers: &Layers<'_>,
) -> Option<ModeTools> {
    let is_listed = [&layers.flags, &layers.environment, &layers.mode]
        .iter()
        .any(|layer| layer.tools.is_some());
    let builtin = mode.builtin_tools.filter(|_| !is_listed);
    if builtin.is_some() {
        effective.tools = None;
    }
    let names = |names: Option<Names>| names.map(|names| names.0);
    let (tools, allowed) = tool_lists(
        names(effective.tools.take()),
        names(effective.allowed_tools.take()),
    );
    effective.tools = tools.map(Names);
    effective.allowed_tools = allowed.map(Names);
    builtin
}

/// A system prompt is a text or a file: of the two, the one of the nearest layer counts.
pub(super) fn choose_system_prompts(
    effective: &mut SettingsLayer,
    layers: &Layers<'_>,
) -> Result<(), SettingsError> {
    for (layer, _) in layers.by_precedence() {
        let pairs = [
            ("system_prompt", &layer.system_prompt, &layer.system_prompt_file),
            (
                "append_system_prompt",
                &layer.append_system_prompt,
                &layer.append_system_prompt_file,
            ),
        ];
        for (name, text, file) in pairs {
            if text.is_some() && file.is_some() {
                let message = format!("give `{name}` or `{name}_file`, not both");
                return Err(SettingsError::Conflict(message));
            }
        }
    }
    let is_text = |text: fn(&SettingsLayer) -> bool, file: fn(&SettingsLayer) -> bool| {
        layers.first(|layer| match (text(layer), file(layer)) {
            (false, false) => None,
            (is_text, _) => Some(is_text),
        })
    };
    let replaced = is_text(
        |layer| layer.system_prompt.is_some(),
        |layer| layer.system_prompt_file.is_some(),
    );
    match replaced {
        Some((true, _)) => effective.system_prompt_file = None,
        Some((false, _)) | None => effective.system_prompt = None,
    }
    let appended = is_text(
        |layer| layer.append_system_prompt.is_some(),
        |layer| layer.append_system_prompt_file.is_some(),
    );
    match appended {
        Some((true, _)) => effective.append_system_prompt_file = None,
        Some((false, _)) | None => effective.append_system_prompt = None,
    }
    Ok(())
}

/// Leaves in `effective` what there is to show.
pub(super) fn build_agent(
    effective: &mut SettingsLayer,
    mode_tools: Option<ModeTools>,
    slash: bool,
) -> Result<AgentSettings, SettingsError> {
    let backend = decided(effective.backend.clone())?;
    let program = effective.command.clone().map(|program| program.0);
    let conflict = |message: &str| Err(SettingsError::Conflict(message.to_owned()));
    if backend.is_custom() && program.is_none() {
        return conflict(
            "the backend `custom` needs a command: `cli.command` in ralph.yml, or RALPH_COMMAND",
        );
    }
    let acp = effective.acp_command.clone().map(|program| AcpSettings {
        program: program.0,
        args: effective.acp_args.clone().unwrap_or_default(),
        env: effective.acp_env.clone().unwrap_or_default(),
    });
    if backend.is_acp() && acp.is_none() {
        return conflict("the backend `acp` needs a command: `acp.command` in ralph.yml");
    }
    let names = |names: &Option<Names>| names.clone().map(|names| names.0);
    let agent = AgentSettings {
        program,
        args: effective.args.clone().unwrap_or_default(),
        env: effective.env.clone().unwrap_or_default(),
        acp,
        prompt_mode: decided(effective.prompt_mode)?,
        prompt_flag: effective.prompt_flag.clone(),
        output_format: decided(effective.output_format)?,
        model: effective.model.clone(),
        auth: decided(effective.auth)?,
        permission_mode: decided(effective.permission_mode)?,
        tools: names(&effective.tools),
        allowed_tools: names(&effective.allowed_tools),
        mode_tools,
        system_prompt: effective.system_prompt.clone(),
        system_prompt_file: effective.system_prompt_file.clone(),
        append_system_prompt: effective.append_system_prompt.clone(),
        append_system_prompt_file: effective.append_system_prompt_file.clone(),
        transport: decided(effective.transport)?,
        partials: effective.partials.unwrap_or_default(),
        slash,
        backend,
    };
    if !agent.backend.is_custom() {
        (
            effective.prompt_mode,
            effective.prompt_flag,
            effective.output_format,
        ) = (None, None, None);
    }
    if agent.acp.is_none() {
        (effective.acp_args, effective.acp_env) = (None, None);
    }
    effective.modes = None;
    Ok(agent)
}

impl AgentSettings {
    /// Fills in the tools of a built-in mode with the names that this agent has for them. A planner may also search
    /// the web if the search tool is allowed. Does nothing for an agent that takes no tool list.
    pub fn resolve_mode_tools(&mut self, names: &ToolNames) {
        let (listed, search) = match self.mode_tools {
            None => return,
            Some(ModeTools::Planner) => (names.planner, names.search),
            Some(ModeTools::Coder) => (names.coder, None),
        };
        if listed.is_empty() {
            return;
        }
        let mut tools: Vec<String> = listed.iter().map(|name| (*name).to_owned()).collect();
        let is_allowed = |tool: &str| self.allowed_tools.iter().flatten().any(|allowed| allowed == tool);
        tools.extend(search.filter(|tool| is_allowed(tool)).map(str::to_owned));
        (self.tools, self.allowed_tools) = tool_lists(Some(tools), self.allowed_tools.take());
    }
}

/// A list of tools also permits them. The list itself has no patterns; the permissions may have.
fn tool_lists(
    tools: Option<Vec<String>>,
    allowed: Option<Vec<String>>,
) -> (Option<Vec<String>>, Option<Vec<String>>) {
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

//! Ids of what backends can do.
//!
//! A backend lists those it has in its [`Profile`](crate::Profile); a request for one it lacks is refused before
//! anything is started. Every backend runs prompts without waiting for a person, produces events, reports the final text
//! and can be cancelled, so there are no ids for that.

/// Events arrive while the agent works, with text as it is written.
pub const EVENTS_LIVE: &str = "agent_api.events.live";
/// A turn can be interrupted without ending the run.
pub const INTERRUPT: &str = "agent_api.control.interrupt.v1";
/// Messages can be sent while the agent works.
pub const SEND: &str = "agent_api.control.send.v1";
/// Messages can have images.
pub const IMAGES: &str = "agent_api.input.images.v1";
/// Messages can have documents.
pub const DOCUMENTS: &str = "agent_api.input.documents.v1";
/// The agent asks for permission and asks questions, and takes answers.
pub const ANSWER: &str = "agent_api.control.answer.v1";
/// The model and the permission mode can be changed while the agent works.
pub const SET: &str = "agent_api.control.set.v1";
/// The agent takes requests of its own protocol while it works, and answers them.
pub const REQUEST: &str = "agent_api.control.request.v1";
/// The agent reports the session's id.
pub const SESSION_HANDLE: &str = "agent_api.session.handle.v1";
/// An earlier session can be resumed.
pub const SESSION_RESUME: &str = "agent_api.session.resume.v1";
/// A run can continue in a copy of an earlier session.
pub const SESSION_FORK: &str = "agent_api.session.fork.v1";
/// The copy of a session can be given an id.
pub const SESSION_FORK_ID: &str = "agent_api.session.fork_id.v1";
/// A new session can be given an id.
pub const SESSION_PRESET_ID: &str = "agent_api.session.preset_id.v1";
/// A session can be run without being saved.
pub const SESSION_EPHEMERAL: &str = "agent_api.session.ephemeral.v1";
/// Tool calls have names, kinds and arguments.
pub const TOOLS_STRUCTURED: &str = "agent_api.tools.structured.v1";
/// Tool calls have results.
pub const TOOLS_RESULTS: &str = "agent_api.tools.results.v1";
/// The model can be chosen.
pub const CONFIG_MODEL: &str = "agent_api.config.model.v1";
/// The permission mode can be chosen. Without this capability only `Bypass` is accepted.
pub const CONFIG_PERMISSIONS: &str = "agent_api.config.permissions.v1";
/// The agent can decide by itself what is safe: `PermissionMode::Auto`.
pub const CONFIG_AUTO_PERMISSIONS: &str = "agent_api.config.auto_permissions.v1";
/// Tools can be chosen, allowed and forbidden.
pub const CONFIG_TOOLS: &str = "agent_api.config.tools.v1";
/// The agent enforces a limit of turns or cost by itself.
pub const CONFIG_LIMITS: &str = "agent_api.config.limits.v1";
/// The system prompt can be replaced and added to.
pub const CONFIG_SYSTEM_PROMPT: &str = "agent_api.config.system_prompt.v1";
/// MCP servers can be configured.
pub const CONFIG_MCP: &str = "agent_api.config.mcp.v1";
/// More settings and subagents can be configured, in the agent's own format.
pub const CONFIG_SETTINGS: &str = "agent_api.config.settings.v1";
/// How hard the model thinks can be chosen.
pub const CONFIG_EFFORT: &str = "agent_api.config.effort.v1";
/// The number of thinking tokens can be limited.
pub const CONFIG_THINKING: &str = "agent_api.config.thinking.v1";
/// The model that replaces an overloaded one can be chosen.
pub const CONFIG_FALLBACK_MODEL: &str = "agent_api.config.fallback_model.v1";
/// The final answer can be requested in a JSON Schema.
pub const STRUCTURED_OUTPUT: &str = "agent_api.config.output_schema.v1";
/// The agent can work in further directories.
pub const ADD_DIRS: &str = "agent_api.exec.add_dirs.v1";
/// The agent reports tokens.
pub const USAGE: &str = "agent_api.usage.tokens.v1";
/// The agent reports the cost of a run.
pub const COST: &str = "agent_api.usage.cost.v1";

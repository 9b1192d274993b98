//! Ids of what backends can do.
//!
//! A backend lists those it has in its [`Profile`](crate::Profile); a request for one it lacks is refused before
//! anything is started.

/// Runs a prompt.
pub const RUN: &str = "agent_api.run";
/// Gives events.
pub const EVENTS: &str = "agent_api.events";
/// Gives them while the agent works, text as it is written included.
pub const EVENTS_LIVE: &str = "agent_api.events.live";
/// Can be cancelled.
pub const CANCEL: &str = "agent_api.control.cancel.v1";
/// A turn can be interrupted without ending the run.
pub const INTERRUPT: &str = "agent_api.control.interrupt.v1";
/// Messages can be sent while the agent works.
pub const SEND: &str = "agent_api.control.send.v1";
/// Asks for permission, and questions, and takes answers.
pub const ANSWER: &str = "agent_api.control.answer.v1";
/// The model and the permission mode can be changed while the agent works.
pub const SET: &str = "agent_api.control.set.v1";
/// Tells the session's id.
pub const SESSION_HANDLE: &str = "agent_api.session.handle.v1";
/// Goes on with an earlier session. Also an extension key: `{"selector":"last"}` or `{"selector":"id","id":"…"}`.
pub const SESSION_RESUME: &str = "agent_api.session.resume.v1";
/// Goes on with a copy of an earlier session. Also an extension key, with the same value.
pub const SESSION_FORK: &str = "agent_api.session.fork.v1";
/// A new session can be given an id.
pub const SESSION_PRESET_ID: &str = "agent_api.session.preset_id.v1";
/// The agent can be told to keep nothing of a session.
pub const SESSION_EPHEMERAL: &str = "agent_api.session.ephemeral.v1";
/// Tool calls have names, kinds and arguments.
pub const TOOLS_STRUCTURED: &str = "agent_api.tools.structured.v1";
/// Tool calls have results.
pub const TOOLS_RESULTS: &str = "agent_api.tools.results.v1";
/// The model can be chosen. Also an extension key: a string.
pub const CONFIG_MODEL: &str = "agent_api.config.model.v1";
/// What may happen without asking can be chosen. Without it an agent only takes that everything may.
pub const CONFIG_PERMISSIONS: &str = "agent_api.config.permissions.v1";
/// Tools can be chosen, allowed and forbidden.
pub const CONFIG_TOOLS: &str = "agent_api.config.tools.v1";
/// Ends by itself after so many turns of the model, or so much money.
pub const CONFIG_LIMITS: &str = "agent_api.config.limits.v1";
/// The system prompt can be replaced and added to.
pub const CONFIG_SYSTEM_PROMPT: &str = "agent_api.config.system_prompt.v1";
/// Never waits for a person. Also an extension key: a boolean; `true` where nobody can answer.
pub const NON_INTERACTIVE: &str = "agent_api.exec.non_interactive";
/// May touch further folders. Also an extension key: a list of paths.
pub const ADD_DIRS: &str = "agent_api.exec.add_dirs.v1";
/// There is a sandbox around the agent, so it need not ask. Also an extension key: a boolean.
pub const EXTERNAL_SANDBOX: &str = "agent_api.exec.external_sandbox.v1";
/// A completion carries the final text.
pub const FINAL_TEXT: &str = "agent_api.artifacts.final_text.v1";
/// Tells tokens.
pub const USAGE: &str = "agent_api.usage.tokens.v1";
/// Tells what a run cost.
pub const COST: &str = "agent_api.usage.cost.v1";

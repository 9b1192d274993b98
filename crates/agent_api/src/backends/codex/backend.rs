//! `Codex`: the backend. It starts `codex exec` for a single prompt and `codex app-server` for a conversation.

use json_lines::Value;

use super::app_server::AppServerMapper;
use super::mapper::CodexMapper;
use super::profile::profile;
use super::{app_server, exec};
use crate::backend::{Backend, BackendConfig, InstalledAgent, Launch, Mapper, Profile};
use crate::backends::program::constructors;
use crate::backends::recording::{ByFirstObject, objects, says};
use crate::error::Error;
use crate::request::{Input, RunRequest};

/// OpenAI's Codex CLI.
#[derive(Debug)]
pub struct Codex {
    profile: Profile,
    config: BackendConfig,
}

constructors!(Codex);

impl Backend for Codex {
    fn profile(&self) -> &Profile {
        &self.profile
    }

    fn config(&self) -> &BackendConfig {
        &self.config
    }

    fn launch(&self, request: &RunRequest, found: &InstalledAgent) -> Result<Launch, Error> {
        match request.input {
            Input::PromptOnly => exec::launch(request, found),
            Input::Messages(close) => app_server::launch(request, found, close),
        }
    }

    fn recognises(&self, first_lines: &[&[u8]]) -> bool {
        objects(first_lines).any(|object| is_exec(&object) || is_app_server(&object))
    }

    fn replay_mapper(&self) -> Option<Box<dyn Mapper>> {
        Some(Box::new(ByFirstObject::new(|object| match object.get("type") {
            None => Box::new(AppServerMapper::recorded()),
            Some(_) => Box::new(CodexMapper::default()),
        })))
    }
}

fn is_exec(object: &Value) -> bool {
    says(object, "type", "thread.started") && object.get("thread_id").is_some()
}

/// The response to `initialize`, or a notification. Others that speak JSON-RPC have the member `jsonrpc`.
fn is_app_server(object: &Value) -> bool {
    let is_response = object.at(&["result", "codexHome"]).is_some();
    let is_notification = object.get("emittedAtMs").is_some() && object.get("method").is_some();
    object.get("jsonrpc").is_none() && (is_response || is_notification)
}

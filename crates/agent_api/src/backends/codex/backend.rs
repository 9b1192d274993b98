//! `Codex`: the backend. It starts `codex exec` for a single prompt and `codex app-server` for a conversation.

use super::profile::profile;
use super::recording::{recognises, replay_mapper};
use super::{app_server, exec};
use crate::backend::{Backend, BackendConfig, InstalledAgent, Launch, Mapper, Profile};
use crate::backends::program::constructors;
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
        recognises(first_lines)
    }

    fn replay_mapper(&self) -> Option<Box<dyn Mapper>> {
        Some(replay_mapper())
    }
}

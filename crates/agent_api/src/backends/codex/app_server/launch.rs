//! `launch`: starts `codex app-server`.

use std::ffi::OsString;

use super::mapper::AppServerMapper;
use super::requests::{initialize, message_input};
use super::threads::ThreadSettings;
use crate::backend::{InstalledAgent, Launch, LaunchInput};
use crate::backends::program::spawn_spec;
use crate::error::Error;
use crate::request::{Close, RunRequest};

pub(in crate::backends::codex) fn launch(
    request: &RunRequest,
    found: &InstalledAgent,
    close: Close,
) -> Result<Launch, Error> {
    let settings = ThreadSettings::of(&request.options)?;
    let mut spec = spawn_spec(request, found);
    spec.args = vec![OsString::from("app-server")];
    spec.args.extend(request.options.extra_args.iter().cloned());
    let mut mapper = AppServerMapper::new(
        settings,
        message_input(&request.prompt, &request.attachments),
        request.prompt_id.clone(),
    );
    if let Some(effort) = &request.options.effort {
        // Valid for this turn and those after it.
        mapper
            .next_turn
            .insert("effort".to_owned(), effort.as_str().into());
    }
    Ok(Launch::new(
        spec,
        LaunchInput::Messages {
            first: vec![initialize()],
            close,
        },
        Box::new(mapper),
    ))
}

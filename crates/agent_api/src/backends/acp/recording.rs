//! Recordings of ACP agents: recognised by their first lines, and mapped without the client's side.

use json_lines::Value;

use super::mapper::AcpMapper;
use crate::backend::Mapper;
use crate::backends::recording::{objects, says};

/// Whether these are the first lines of an ACP agent's output, whichever agent it is.
#[must_use]
pub fn recognises(first_lines: &[&[u8]]) -> bool {
    objects(first_lines).any(|message| {
        let is_update = says(&message, "method", "session/update");
        says(&message, "jsonrpc", "2.0") && (is_update || initialized(&message).is_some())
    })
}

/// Whether these are the first lines of the agent that gives itself this name.
pub(super) fn is_output_of(agent_name: &str, first_lines: &[&[u8]]) -> bool {
    objects(first_lines).any(|message| {
        let answer = initialized(&message);
        let name = answer.and_then(|answer| answer.get("agentInfo")?.text("name"));
        name == Some(agent_name)
    })
}

/// The answer to `initialize`.
fn initialized<'value>(message: &'value Value<'value>) -> Option<&'value Value<'value>> {
    let answer = message.get("result")?;
    let mut keys = ["agentCapabilities", "agentInfo", "authMethods"].into_iter();
    let is_agent = keys.any(|key| answer.get(key).is_some());
    (is_agent && answer.get("protocolVersion").is_some()).then_some(answer)
}

/// A mapping for the recorded output of any ACP agent. It finds out from the recording which agent it was.
#[must_use]
pub fn replay_mapper() -> Box<dyn Mapper> {
    Box::new(AcpMapper::for_recording())
}

//! Helpers for [`Backend::recognises`](crate::Backend::recognises) and
//! [`Backend::replay_mapper`](crate::Backend::replay_mapper): reading the first lines of a recording.

use bytes::Bytes;
use json_lines::{Framed, LineObjects, RawObject, Value};

use super::wire_line::read_line;
use crate::backend::Mapper;
use crate::emitter::Emitter;

/// The JSON objects in these lines, read as tolerantly as by the mappers. Other text, such as a banner, is skipped. Of
/// a line of a captured conversation ([`captured`]) it is the message.
pub(crate) fn objects<'lines>(
    first_lines: &'lines [&[u8]],
) -> impl Iterator<Item = Value<'static>> + use<'lines> {
    let objects = |line: &&[u8]| LineObjects::<RawObject>::new(Bytes::copy_from_slice(line), 1, 0);
    first_lines.iter().flat_map(objects).filter_map(|object| {
        let object = object.ok()?;
        let value = Value::of(object.json());
        let message = captured(&value).map_or(&value, |(_, message)| message);
        Some(message.to_static())
    })
}

/// Whether the object's member `name` is this text.
pub(crate) fn says(object: &Value, name: &str, text: &str) -> bool {
    object.text(name) == Some(text)
}

/// Who wrote a message of a captured conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Agent,
    Client,
}

/// A line of a conversation that was captured with both sides: `{"dir": "<", "msg": {…}}`, with `>` for what the client
/// wrote.
pub(crate) fn captured<'value>(object: &'value Value<'value>) -> Option<(Side, &'value Value<'value>)> {
    // Other lines have other first members, so this costs them next to nothing.
    let (first, direction) = object.members().first()?;
    let side = match (&**first, direction.as_str()?) {
        ("dir", "<") => Side::Agent,
        ("dir", ">") => Side::Client,
        _ => return None,
    };
    Some((side, object.get("msg").filter(|message| message.is_object())?))
}

/// For an agent with several output formats: chooses the mapper by the first object of a recording.
pub(crate) struct ByFirstObject<F> {
    choose: F,
    mapper: Option<Box<dyn Mapper>>,
}

impl<F: Fn(&Value) -> Box<dyn Mapper>> ByFirstObject<F> {
    pub(crate) fn new(choose: F) -> Self {
        Self { choose, mapper: None }
    }
}

impl<F: Fn(&Value) -> Box<dyn Mapper> + Send> Mapper for ByFirstObject<F> {
    fn map_line(&mut self, line: Framed, events: &mut Emitter) {
        if self.mapper.is_none()
            && let Framed::Line(text) = &line
        {
            self.mapper = objects(&[&text.bytes])
                .next()
                .map(|object| (self.choose)(&object));
        }
        match &mut self.mapper {
            Some(mapper) => mapper.map_line(line, events),
            // Not JSON: the same error in every format.
            None => read_line(line, events, |_: &RawObject, _| {}),
        }
    }

    fn map_end(&mut self, events: &mut Emitter) {
        if let Some(mapper) = &mut self.mapper {
            mapper.map_end(events);
        }
    }

    fn is_idle(&self) -> bool {
        self.mapper.as_ref().is_some_and(|mapper| mapper.is_idle())
    }
}

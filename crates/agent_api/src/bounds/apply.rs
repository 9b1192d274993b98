//! `bounded`: applies the bounds to every kind of event.

use super::cut::{cut_message, cut_output, cut_text, split_text};
use super::{JSON_BYTES, LIST_ENTRIES, MESSAGE_BYTES, SESSION_ID_BYTES, TEXT_BYTES};
use crate::event::{Body, DeltaMode, Denial, ErrorInfo, Json, Piece, Question, QuestionOption};

/// An account can be used beyond its limit, but not as far as this.
const MOST_PERCENT: f64 = 10_000.0;

/// Emits the body within all bounds: unchanged, cut, or in several pieces.
pub(crate) fn bounded(mut body: Body, mut emit: impl FnMut(Body)) {
    let Some((text, _)) = split_parts(&mut body) else {
        cut_body(&mut body);
        return emit(body);
    };
    if text.len() <= TEXT_BYTES {
        return emit(body);
    }
    let text = std::mem::take(text);
    let mut pieces = split_text(&text).peekable();
    let mut index = 0;
    while let Some(piece) = pieces.next() {
        let mut part = body.clone();
        if let Some((text, place)) = split_parts(&mut part) {
            piece.clone_into(text);
            let is_last = pieces.peek().is_none();
            match place {
                Place::Block(place) => {
                    place.index += index;
                    place.is_last &= is_last;
                }
                Place::Delta(mode) if index > 0 => *mode = DeltaMode::Append,
                Place::Delta(_) => {}
            }
        }
        emit(part);
        index += 1;
    }
}

/// How a consumer puts the parts of a text together.
enum Place<'a> {
    Block(&'a mut Piece),
    Delta(&'a mut DeltaMode),
}

/// The text of a body that is split if it is too long.
fn split_parts(body: &mut Body) -> Option<(&mut String, Place<'_>)> {
    match body {
        Body::Delta(delta) => Some((&mut delta.text, Place::Delta(&mut delta.mode))),
        Body::TextBlock(block) => Some((&mut block.text, Place::Block(&mut block.piece))),
        Body::ThinkingBlock(block) => Some((&mut block.text, Place::Block(&mut block.piece))),
        Body::UserMessage(message) => Some((&mut message.text, Place::Block(&mut message.piece))),
        _ => None,
    }
}

fn cut_body(body: &mut Body) {
    match body {
        Body::SessionStarted(session) => {
            session_id(&mut session.session_id);
            for text in [
                &mut session.model,
                &mut session.cwd,
                &mut session.agent_version,
                &mut session.permission_mode,
            ] {
                optional(text);
            }
            list(&mut session.tools, message, String::len);
            list(&mut session.mcp_servers, message, String::len);
        }
        Body::SessionUpdated(session) => {
            session_id(&mut session.session_id);
            for text in [
                &mut session.model,
                &mut session.permission_mode,
                &mut session.title,
            ] {
                optional(text);
            }
        }
        Body::TurnFinished(turn) => {
            if let Some(text) = &mut turn.text {
                *text = cut_text(std::mem::take(text));
            }
            optional_error(&mut turn.error);
            optional(&mut turn.stop_reason);
            list(&mut turn.denials, denial, |denial| {
                denial.tool.len() + denial.reason.as_ref().map_or(0, String::len)
            });
            json(&mut turn.structured_output);
        }
        Body::ToolStarted(tool) => {
            message(&mut tool.name);
            optional(&mut tool.subject);
            optional(&mut tool.mcp_server);
            json(&mut tool.input);
        }
        Body::ToolFinished(tool) => {
            let (output, bytes) = cut_output(std::mem::take(&mut tool.output));
            tool.output = output;
            tool.output_bytes = tool.output_bytes.or(bytes);
            list(&mut tool.attachments, message, String::len);
            let mut room = JSON_BYTES;
            for change in &mut tool.changes {
                message(&mut change.path);
                let fits = change.diff.as_ref().is_none_or(|diff| diff.len() <= room);
                if fits {
                    room -= change.diff.as_ref().map_or(0, String::len);
                } else {
                    change.diff = None;
                }
            }
            list(&mut tool.changes, |_| {}, |change| change.path.len());
        }
        Body::PlanUpdated(plan) => list(
            &mut plan.entries,
            |entry| message(&mut entry.text),
            |entry| entry.text.len(),
        ),
        Body::PermissionRequested(request) => {
            message(&mut request.tool);
            optional(&mut request.subject);
            optional(&mut request.description);
            json(&mut request.input);
            // What is cut would hide what it grants.
            request.grants.retain(|grant| grant.text.len() <= MESSAGE_BYTES);
            list(&mut request.grants, |_| {}, |grant| grant.text.len());
        }
        Body::QuestionAsked(asked) => list(&mut asked.questions, question, question_bytes),
        Body::PlanProposed(proposed) => proposed.plan = cut_text(std::mem::take(&mut proposed.plan)),
        Body::PermissionDenied(denied) => denial(denied),
        Body::TaskUpdated(task) => {
            message(&mut task.task_id);
            optional(&mut task.title);
            optional(&mut task.summary);
        }
        Body::MessageUpdated(updated) => message(&mut updated.message_id),
        Body::CommandAnswered(answered) => {
            message(&mut answered.command_id);
            optional(&mut answered.error);
        }
        Body::Usage(usage) => optional(&mut usage.model),
        Body::RetryScheduled(retry) => error(&mut retry.error),
        Body::RateLimit(limit) => {
            optional(&mut limit.window);
            let is_percentage = |used: &f64| (0.0..=MOST_PERCENT).contains(used);
            limit.used_percent = limit.used_percent.filter(is_percentage);
        }
        Body::Notice(notice) => {
            message(&mut notice.code);
            message(&mut notice.message);
            json(&mut notice.data);
        }
        Body::Error(info) => error(info),
        Body::Unknown(unknown) => message(&mut unknown.type_name),
        Body::Finished(finished) => optional_error(&mut finished.error),
        Body::Delta(_)
        | Body::TextBlock(_)
        | Body::ThinkingBlock(_)
        | Body::UserMessage(_)
        | Body::TurnStarted(_)
        | Body::ToolProgressed(_)
        | Body::ItemDiscarded(_)
        | Body::RequestClosed(_)
        | Body::StatusChanged(_) => {}
    }
}

fn message(text: &mut String) {
    if text.len() > super::MESSAGE_BYTES {
        *text = cut_message(std::mem::take(text));
    }
}

fn optional(text: &mut Option<String>) {
    if let Some(text) = text {
        message(text);
    }
}

fn session_id(id: &mut Option<String>) {
    id.take_if(|id| id.len() > SESSION_ID_BYTES);
}

fn json(value: &mut Option<Json>) {
    if value
        .as_ref()
        .is_some_and(|value| value.as_str().len() > JSON_BYTES)
    {
        *value = Some(Json::oversize());
    }
}

fn error(info: &mut ErrorInfo) {
    message(&mut info.code);
    message(&mut info.message);
}

fn optional_error(info: &mut Option<ErrorInfo>) {
    if let Some(info) = info {
        error(info);
    }
}

fn denial(denial: &mut Denial) {
    message(&mut denial.tool);
    optional(&mut denial.reason);
}

fn question_bytes(question: &Question) -> usize {
    let options = question.options.iter().map(option_bytes).sum::<usize>();
    question.text.len() + question.header.as_ref().map_or(0, String::len) + options
}

fn option_bytes(option: &QuestionOption) -> usize {
    option.label.len() + option.description.as_ref().map_or(0, String::len)
}

fn question(question: &mut Question) {
    message(&mut question.text);
    optional(&mut question.header);
    let option = |option: &mut QuestionOption| {
        message(&mut option.label);
        optional(&mut option.description);
    };
    list(&mut question.options, option, option_bytes);
}

/// Cuts the entries, then the list, if it has too many entries or they are too long together.
fn list<T>(entries: &mut Vec<T>, cut: impl Fn(&mut T), length: impl Fn(&T) -> usize) {
    let mut room = JSON_BYTES;
    let mut fitting = 0;
    for entry in entries.iter_mut().take(LIST_ENTRIES) {
        cut(entry);
        let Some(left) = room.checked_sub(length(entry)) else {
            break;
        };
        room = left;
        fitting += 1;
    }
    entries.truncate(fitting);
}

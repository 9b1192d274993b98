//! What the agent asks a person: a permission, questions or the approval of a plan; and how it was answered.

use agent_api::{PermissionRequested, Question};
use run_view::{DetailKind, describe_permission_request, request_detail, visible};

use super::super::cell::{Ask, RequestCell, RequestState};
use super::super::line::{Line, Look, Overflow};
use super::super::markdown::MarkdownStream;
use super::super::sheet::Sheet;
use super::labeled::INDENT;
use crate::theme::Role;

pub(in crate::transcript) fn build(request: &RequestCell, sheet: &mut Sheet) {
    let role = match request.state {
        RequestState::Open => Role::NeedsPerson,
        RequestState::Closed { is_granted: true, .. } => Role::Good,
        RequestState::Closed { .. } => Role::Warning,
        RequestState::Ended => Role::Faint,
    };
    match &request.ask {
        Ask::Permission(asked) => push_permission(asked, role, sheet),
        Ask::Question(questions) => questions
            .iter()
            .for_each(|question| push_question(question, role, sheet)),
        Ask::Plan(plan) => {
            sheet.push(Line::of("Plan", Look::of(role)));
            MarkdownStream::new(0, Look::PLAIN, INDENT, sheet).update(plan, sheet);
        }
    }
    let answer = match &request.state {
        RequestState::Open => "waiting for an answer",
        RequestState::Closed { text, .. } => text,
        RequestState::Ended => "the agent ended first",
    };
    sheet.push(Line::of(answer, Look::of(role)).led_by(INDENT, Look::PLAIN));
}

/// Nothing in it is hidden, and what is too long says how much is missing. The panel where it is answered has all of it.
fn push_permission(asked: &PermissionRequested, role: Role, sheet: &mut Sheet) {
    let text = describe_permission_request(asked);
    super::labeled::push_labeled(sheet, "Permission", role, &visible(&text));
    for row in request_detail(asked).rows {
        let role = match row.kind {
            DetailKind::Plain => None,
            DetailKind::Added => Some(Role::Added),
            DetailKind::Removed => Some(Role::Removed),
            DetailKind::Remark | DetailKind::Grant => Some(Role::Faint),
        };
        let line = Line::of(&row.text, role.map_or(Look::PLAIN, Look::of));
        sheet.push(line.led_by(INDENT, Look::PLAIN).overflowing(Overflow::Words));
    }
}

fn push_question(question: &Question, role: Role, sheet: &mut Sheet) {
    super::labeled::push_labeled(sheet, "Question", role, &question.text);
    for (number, option) in (1..).zip(&question.options) {
        let mut line = Line::of(&option.label, Look::of(Role::Strong));
        if let Some(description) = &option.description {
            line.push(": ", Look::PLAIN);
            line.push(description, Look::PLAIN);
        }
        line.first_lead = format!("{INDENT}{number}. ");
        line.rest_lead = "     ".to_owned();
        sheet.push(line);
    }
}

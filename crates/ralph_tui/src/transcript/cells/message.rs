//! A message of the user to the agent, and whether it was delivered.

use ralph_run::model::MessageState;
use run_view::{actor_name, message_label};

use super::super::cell::MessageCell;
use super::super::layout::Setting;
use super::super::line::{Line, Look, Overflow};
use super::super::sheet::Sheet;
use crate::theme::Role;

pub(in crate::transcript) fn build(message: &MessageCell, sheet: &mut Sheet, setting: &Setting) {
    let role = match message.state {
        MessageState::Lost => Role::Warning,
        MessageState::Queued | MessageState::Withdrawn => Role::Faint,
        MessageState::Sent | MessageState::Delivered => Role::Message,
    };
    let mut head = Line::of(message_label(message.state), Look::of(role)).overflowing(Overflow::Cut);
    if let Some(by) = &message.by {
        head.push(&format!(" · from {}", actor_name(by)), Look::of(Role::Faint));
    }
    sheet.push(head);
    let (first, more) = super::text::first_line(&message.text);
    let text = if setting.is_folded && more > 0 {
        first
    } else {
        message.text.trim()
    };
    for content in run_view::sanitise(text).lines() {
        sheet.push(Line::of(content, Look::PLAIN).led_by("│ ", Look::of(role)));
    }
    if setting.is_folded && more > 0 {
        super::labeled::push_more(sheet, more, "more");
    }
}

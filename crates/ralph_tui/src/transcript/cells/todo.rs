//! The agent's to-do list: the newest in full, earlier ones in a line.

use agent_api::PlanStatus;
use ratatui::style::Modifier;
use run_view::describe_plan;

use super::super::cell::TodoCell;
use super::super::layout::Setting;
use super::super::line::{Line, Look};
use super::super::sheet::Sheet;
use crate::theme::Role;

pub(in crate::transcript) fn build(todo: &TodoCell, sheet: &mut Sheet, setting: &Setting) {
    super::labeled::push_labeled(sheet, "Plan", Role::Tool, &describe_plan(&todo.plan));
    if !todo.is_newest || setting.is_folded {
        return;
    }
    for entry in &todo.plan.entries {
        let (mark, role, look) = match entry.status {
            PlanStatus::Completed => ("✓ ", Role::Good, Look::of(Role::Faint)),
            PlanStatus::InProgress => ("> ", Role::Warning, Look::of(Role::Strong)),
            PlanStatus::Pending => ("· ", Role::Faint, Look::PLAIN),
            PlanStatus::Cancelled => (
                "✗ ",
                Role::Faint,
                Look::of(Role::Faint).with(Modifier::CROSSED_OUT),
            ),
        };
        let mut line = Line::of(&entry.text, look);
        line.first_lead = format!("{}{mark}", super::labeled::INDENT);
        line.rest_lead = "    ".to_owned();
        line.lead_look = Look::of(role);
        sheet.push(line);
    }
}

//! Hostile texts in every place where text can be: nothing that a terminal would obey reaches a buffer.

use std::sync::atomic::{AtomicUsize, Ordering};

use agent_api::{
    Body, FileChange, ItemId, Json, Notice, Part, PermissionRequested, PlanEntry, PlanProposed, PlanStatus,
    PlanUpdated, Question, QuestionAsked, QuestionOption, RequestId, Severity, ToolFinished, ToolKind,
    ToolStarted, ToolStatus,
};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::json;

use super::story::Story;
use crate::hostile_texts::{assert_nothing_hostile, hostile_texts};
use crate::theme::Theme;
use crate::transcript::TranscriptView;
use crate::transcript::view::FoldTarget;

/// The text as a string of JSON, in all places of arguments.
fn call(item: &str, kind: ToolKind, text: &str) -> ToolStarted {
    let mut tool = ToolStarted::new(ItemId::new(item), text, kind);
    tool.subject = Some(text.to_owned());
    let input = json!({
        "command": format!("{text}\n{text}"), "file_path": text, "old_string": text, "new_string": format!("b{text}"),
        "pattern": text, "description": text,
    });
    tool.input = Some(Json::from(&input));
    tool
}

fn story(text: &str) -> Story {
    let mut story = Story::new();
    story
        .run_json(&json!({"type": "iteration_started", "data": {"number": 1, "prompt": text, "role": text}}));
    story.text("t", text);
    story.live("l", Part::Text, text);
    story.live("h", Part::Thinking, text);
    // A journal splits texts long before this, so only places that add them up again see them.
    if text.len() > 1 << 19 {
        let tool = ToolStarted::new(ItemId::new("b"), "Bash", ToolKind::Execute);
        story.agent(Body::ToolStarted(Box::new(tool)));
        story.live("b", Part::ToolOutput, text);
        return story;
    }
    for (item, kind) in [
        ("b", ToolKind::Execute),
        ("e", ToolKind::Edit),
        ("m", ToolKind::Mcp),
    ] {
        story.agent(Body::ToolStarted(Box::new(call(item, kind, text))));
        story.live(item, Part::ToolOutput, text);
        let mut end = ToolFinished::new(ItemId::new(item), ToolStatus::Failed);
        end.output = text.to_owned();
        end.attachments = vec![text.to_owned()];
        story.agent(Body::ToolFinished(Box::new(end)));
    }
    let edit = ToolStarted::new(ItemId::new("d"), "Edit", ToolKind::Edit);
    story.agent(Body::ToolStarted(Box::new(edit)));
    let mut end = ToolFinished::new(ItemId::new("d"), ToolStatus::Completed);
    for _ in 0..2 {
        let diff = format!("@@ -1 +1 @@ {text}\n-{text}\n+{text}\n {text}\n");
        end.changes.push(FileChange::new(
            format!("{text}.rs"),
            agent_api::ChangeKind::Modified,
            Some(diff),
        ));
    }
    story.agent(Body::ToolFinished(Box::new(end)));
    let entries = vec![PlanEntry {
        text: text.to_owned(),
        status: PlanStatus::InProgress,
    }];
    story.agent(Body::PlanUpdated(PlanUpdated { item: None, entries }));
    let mut asked = PermissionRequested::new(RequestId::new("p"), text, ToolKind::Execute);
    asked.subject = Some(text.to_owned());
    asked.description = Some(text.to_owned());
    asked.input = Some(Json::from(&json!({"command": text, "x": text})));
    story.agent(Body::PermissionRequested(Box::new(asked)));
    let option = QuestionOption {
        label: text.to_owned(),
        description: Some(text.to_owned()),
    };
    let question = Question {
        text: text.to_owned(),
        header: None,
        options: vec![option],
        is_multiple: false,
    };
    let (request, item) = (RequestId::new("q"), None);
    story.agent(Body::QuestionAsked(Box::new(QuestionAsked {
        request,
        item,
        questions: vec![question],
    })));
    let (request, item) = (RequestId::new("r"), None);
    story.agent(Body::PlanProposed(Box::new(PlanProposed {
        request,
        item,
        plan: text.to_owned(),
    })));
    story.agent(Body::Notice(Box::new(Notice::new(Severity::Warning, text, text))));
    story.run_json(&json!({"type": "warned", "data": {"kind": "silence", "message": text, "evidence": [{"seq": 1, "text": text}]}}));
    story.run_json(&json!({"type": "command_received", "data": {"command_id": "1", "command": "send", "by": text, "text": text, "message_id": "m"}}));
    story.run_json(&json!({"type": "verify_finished", "data": {"command": text, "is_ok": false, "exit": {"code": 1}, "output": text, "duration_ms": 1}}));
    story.run_json(&json!({"type": "run_ended", "data": {"reason": "agent_error", "exit_code": 1, "message": text, "iterations": 1, "totals": {}}}));
    story.transcript.push_damage(text);
    story
}

/// Draws all of it, and of a giant text the beginning and the end.
fn check_all(text: &str, is_unfolded: bool) {
    let story = story(text);
    let area = Rect::new(1, 1, 61, 40);
    let frame = Rect::new(0, 0, 63, 42);
    let mut view = TranscriptView::default();
    if is_unfolded {
        view.toggle_fold(&story.transcript, FoldTarget::All);
    }
    let is_giant = text.len() > 1 << 16;
    let mut seen = 0;
    loop {
        let mut buffer = Buffer::filled(frame, ratatui::buffer::Cell::new("#"));
        for position in area.positions() {
            buffer[position].reset();
        }
        view.render(&story.transcript, area, &mut buffer, Theme::default(), story.at);
        assert_nothing_hostile(&buffer, area, text);
        seen += 1;
        let is_top = view.is_at_top();
        if is_top || (is_giant && seen > story.transcript.len()) {
            break;
        }
        match is_giant {
            true => view.select_previous(&story.transcript),
            false => view.page(&story.transcript, -2),
        }
    }
}

#[test]
fn nothing_that_a_terminal_would_obey_reaches_a_buffer() {
    let texts = hostile_texts();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(text) = texts.get(next.fetch_add(1, Ordering::Relaxed)) {
                    check_all(text, false);
                    check_all(text, true);
                }
            });
        }
    });
}

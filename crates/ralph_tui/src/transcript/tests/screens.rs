//! Every kind of cell, as it is drawn in windows of three sizes, dark, light and without colors.

use agent_api::{
    Body, ChangeKind, CloseReason, DiscardReason, ErrorClass, ErrorInfo, FileChange, ItemDiscarded, ItemId,
    Json, Notice, Part, PermissionRequested, Piece, PlanEntry, PlanProposed, PlanStatus, PlanUpdated,
    Question, QuestionAsked, QuestionOption, RequestClosed, RequestId, Retry, SessionStarted, Severity,
    ThinkingBlock, ToolFinished, ToolKind, ToolStarted, ToolStatus,
};
use ralph_run::RunEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::{Value, json};

use super::story::{Story, rows_of, text_block};
use crate::theme::{ColorScheme, Theme};
use crate::transcript::TranscriptView;
use crate::transcript::view::FoldTarget;

const MARKDOWN: &str = "## Plan of the *day*\n\nFirst **bold**, then `code` and a [link](https://example.org/a) in a paragraph that is long enough to be wrapped at eighty columns.\n\n1. One item\n2. Another item that is so long that its second row stands below its text, not below its number\n   - nested\n\n> Quoted text\n\n```rust\nfn main() {\n    println!(\"hi {}\", 42); // done\n}\n```\n\n| File | Lines |\n|:-----|------:|\n| a.rs | 12 |\n| long_name.rs | 3 |\n";

fn tool(item: &str, name: &str, kind: ToolKind, subject: &str, input: &Value) -> Body {
    let mut tool = ToolStarted::new(ItemId::new(item), name, kind);
    tool.subject = Some(subject.to_owned());
    tool.input = Some(Json::from(input));
    Body::ToolStarted(Box::new(tool))
}

fn ended(item: &str, status: ToolStatus, output: &str, exit_code: Option<i32>) -> Body {
    let mut end = ToolFinished::new(ItemId::new(item), status);
    end.output = output.to_owned();
    end.exit_code = exit_code;
    Body::ToolFinished(Box::new(end))
}

fn edit(story: &mut Story) {
    story.agent(tool(
        "e",
        "Edit",
        ToolKind::Edit,
        "/w/src/main.rs",
        &json!({"file_path": "/w/src/main.rs"}),
    ));
    let diff = "@@ -3,4 +3,5 @@\n fn main() {\n-    let old = \"text\";\n+    let new = 42; // better\n+    call(new);\n }\n";
    let mut end = ToolFinished::new(ItemId::new("e"), ToolStatus::Completed);
    end.changes.push(FileChange::new(
        "/w/src/main.rs",
        ChangeKind::Modified,
        Some(diff.to_owned()),
    ));
    story.agent(Body::ToolFinished(Box::new(end)));
}

fn permission(story: &mut Story) {
    let mut asked = PermissionRequested::new(RequestId::new("p"), "Bash", ToolKind::Execute);
    asked.subject = Some("rm -rf build".to_owned());
    asked.description = Some("Remove the build".to_owned());
    asked.input = Some(Json::from(&json!({"command": "rm -rf build", "timeout": 5})));
    story.agent(Body::PermissionRequested(Box::new(asked)));
}

fn close(story: &mut Story, request: &str, reason: CloseReason) {
    story.run_json(&json!({"type": "command_received", "data": {"command_id": "c", "command": "answer", "by": "web", "request": request}}));
    let request = RequestId::new(request);
    story.agent(Body::RequestClosed(RequestClosed { request, reason }));
}

fn message(story: &mut Story, then: &[Value]) {
    story.run_json(&json!({"type": "command_received", "data": {"command_id": "c", "command": "send", "by": "terminal", "text": "Use the other parser.\nAnd test it.", "message_id": "m"}}));
    for body in then {
        story.run_json(body);
    }
}

type Scene = (&'static str, fn(&mut Story));

fn scenes() -> Vec<Scene> {
    vec![
        ("text in Markdown", |story| {
            story.text("t", MARKDOWN);
        }),
        ("text that is being written", |story| {
            story.live("t", Part::Text, "Half a sent");
        }),
        ("text that was discarded", |story| {
            story.text("t", "Broken answ");
            let (item, reason) = (ItemId::new("t"), DiscardReason::Retry);
            story.agent(Body::ItemDiscarded(ItemDiscarded { item, reason }));
        }),
        ("thinking", |story| {
            story.agent(Body::ThinkingBlock(ThinkingBlock {
                item: ItemId::new("h"),
                text: "First I look.\nThen I think.\nThen I act.".to_owned(),
                piece: Piece::WHOLE,
                is_redacted: false,
            }));
        }),
        ("a command that is running", |story| {
            story.agent(tool(
                "b",
                "Bash",
                ToolKind::Execute,
                "cargo test",
                &json!({"command": "cargo test"}),
            ));
            story.live("b", Part::ToolOutput, "   \u{1b}[32mCompiling\u{1b}[0m a v1\n");
            story.at += jiff::SignedDuration::from_secs(83);
        }),
        ("a command that failed", |story| {
            story.agent(tool(
                "b",
                "Bash",
                ToolKind::Execute,
                "cargo test",
                &json!({"command": "cargo test"}),
            ));
            let output: String = (0..15).map(|number| format!("test {number} ... ok\n")).collect();
            let output = format!("{output}\u{1b}[1;31merror\u{1b}[0m: test failed\n");
            story.agent(ended("b", ToolStatus::Failed, &output, Some(101)));
        }),
        ("tools in a row", |story| {
            story.agent(tool(
                "r",
                "Read",
                ToolKind::Read,
                "/w/a.rs",
                &json!({"file_path": "/w/a.rs"}),
            ));
            story.agent(ended("r", ToolStatus::Completed, "1\n2\n", None));
            story.agent(tool(
                "x",
                "Bash",
                ToolKind::Execute,
                "rm x",
                &json!({"command": "rm x"}),
            ));
            story.agent(ended("x", ToolStatus::Denied, "", None));
        }),
        ("an edit", edit),
        ("a new file", |story| {
            let input = json!({"file_path": "/w/b.py", "content": "def f():\n    return 'x'\n"});
            story.agent(tool("w", "Write", ToolKind::Edit, "/w/b.py", &input));
            story.agent(ended("w", ToolStatus::Completed, "ok", None));
        }),
        ("a subagent", |story| {
            story.agent(tool(
                "a",
                "Task",
                ToolKind::Agent,
                "Review it",
                &json!({"prompt": "Review"}),
            ));
            story.inner(
                "a",
                tool(
                    "i",
                    "Read",
                    ToolKind::Read,
                    "/w/a.rs",
                    &json!({"file_path": "/w/a.rs"}),
                ),
            );
            story.inner("a", ended("i", ToolStatus::Completed, "x", None));
            story.inner("a", text_block("it", "It is fine."));
        }),
        ("a to-do list", |story| {
            let entry = |text: &str, status| PlanEntry {
                text: text.to_owned(),
                status,
            };
            let entries = vec![
                entry("Read", PlanStatus::InProgress),
                entry("Write", PlanStatus::Pending),
            ];
            story.agent(Body::PlanUpdated(PlanUpdated { item: None, entries }));
            let entries = vec![
                entry("Read", PlanStatus::Completed),
                entry("Write", PlanStatus::InProgress),
                entry("Rest", PlanStatus::Cancelled),
            ];
            story.agent(Body::PlanUpdated(PlanUpdated { item: None, entries }));
        }),
        ("a permission", permission),
        ("a permission that was given", |story| {
            permission(story);
            close(story, "p", CloseReason::Answered);
        }),
        ("a question", |story| {
            let option = |label: &str| QuestionOption {
                label: label.to_owned(),
                description: Some("as it says".to_owned()),
            };
            let questions = vec![Question {
                text: "Which database?".to_owned(),
                header: None,
                options: vec![option("SQLite"), option("PostgreSQL")],
                is_multiple: false,
            }];
            let (request, item) = (RequestId::new("q"), None);
            story.agent(Body::QuestionAsked(Box::new(QuestionAsked {
                request,
                item,
                questions,
            })));
        }),
        ("a plan that was rejected", |story| {
            let (request, item) = (RequestId::new("q"), None);
            let plan = "1. Read\n2. **Write**".to_owned();
            story.agent(Body::PlanProposed(Box::new(PlanProposed { request, item, plan })));
            close(story, "q", CloseReason::Denied);
        }),
        ("a message in the queue", |story| message(story, &[])),
        ("a message that was delivered", |story| {
            message(
                story,
                &[json!({"type": "message_sent", "data": {"message_id": "m"}})],
            );
        }),
        ("a message that was withdrawn", |story| {
            let body = json!({"command_id": "d", "command": "withdraw_message", "message_id": "m"});
            message(story, &[json!({"type": "command_received", "data": body})]);
        }),
        ("an iteration", |story| {
            story.run_json(&json!({"type": "run_started", "data": {"format_version": 1, "run_id": "r", "ralph_version": "0", "workspace": "/w", "backend": "demo", "display_name": "Demo", "max_iterations": 5}}));
            story.run_json(&json!({"type": "iteration_started", "data": {"number": 2, "prompt": "Do it.", "role": "review"}}));
            story.run_json(&json!({"type": "iteration_ended", "data": {"number": 2, "outcome": "verify_failed", "totals": {"cost": 123_000, "duration_ms": 187_000}}}));
        }),
        ("an attempt that failed", |story| {
            story.run_json(&json!({"type": "attempt_ended", "data": {"outcome": "crashed", "exit": {"signal": 9}, "totals": {}, "will_retry": true, "error": {"class": "process", "code": "died", "message": "the process died"}}}));
        }),
        ("verification", |story| {
            story.run_json(&json!({"type": "verify_started", "data": {"command": "cargo fmt"}}));
            story.run_json(&json!({"type": "verify_finished", "data": {"command": "cargo fmt", "is_ok": true, "exit": {"code": 0}, "output": "", "duration_ms": 900}}));
            story.run_json(&json!({"type": "verify_started", "data": {"command": "cargo test"}}));
            story.run_json(&json!({"type": "verify_finished", "data": {"command": "cargo test", "is_ok": false, "exit": {"code": 101}, "output": "running\n1 failed\n", "duration_ms": 1_900}}));
            story.run_json(&json!({"type": "verify_started", "data": {"command": "cargo doc"}}));
            story.at += jiff::SignedDuration::from_secs(5);
        }),
        ("a warning with evidence", |story| {
            let evidence = json!([{"seq": 4, "text": "Bash: ls"}, {"seq": 9, "text": "Bash: ls"}]);
            story.run_json(&json!({"type": "warned", "data": {"kind": "repeated_call", "message": "the same call again and again", "evidence": evidence}}));
        }),
        ("a retry", |story| {
            let mut error = ErrorInfo::new(ErrorClass::Overloaded, "overloaded", "Overloaded");
            error.http_status = Some(529);
            let mut retry = Retry::new(error);
            (retry.attempt, retry.max_attempts, retry.delay_ms) = (Some(1), Some(10), Some(8_000));
            story.agent(Body::RetryScheduled(Box::new(retry)));
            story.at += jiff::SignedDuration::from_secs(3);
        }),
        ("a pause", |story| {
            story.run_json(&json!({"type": "cooldown_started", "data": {"until": "2026-01-02T03:14:05Z", "cause": "usage_limit"}}));
        }),
        ("a limit", |story| {
            story.run_json(&json!({"type": "budget_awaited", "data": {"limit": "cost", "message": "used $10.02 of $10.00", "until": "2026-01-02T04:04:06.2Z"}}));
        }),
        ("a limit that was raised", |story| {
            story.run_json(&json!({"type": "budget_awaited", "data": {"limit": "cost", "message": "used $10.02 of $10.00"}}));
            story.run_json(&json!({"type": "limit_raised", "data": {"limit": "cost", "to": 20_000_000}}));
        }),
        ("notices and errors", |story| {
            let session = SessionStarted {
                model: Some("opus".to_owned()),
                session_id: Some("s-1".to_owned()),
                ..SessionStarted::default()
            };
            story.agent(Body::SessionStarted(Box::new(session)));
            story.agent(Body::Notice(Box::new(Notice::new(
                Severity::Info,
                "compacted",
                "The conversation was compacted.",
            ))));
            story.agent(Body::Error(Box::new(ErrorInfo::new(
                ErrorClass::Network,
                "net",
                "connection reset",
            ))));
            story.agent(Body::Error(Box::new(ErrorInfo::new(
                ErrorClass::Network,
                "net",
                "connection reset",
            ))));
            story.run_json(&json!({"type": "command_received", "data": {"command_id": "x", "command": "set_model", "model": "haiku"}}));
            let unknown: RunEvent = serde_json::from_value(json!({"type": "dreamt", "data": {}})).unwrap();
            story.record(unknown);
            story
                .transcript
                .push_damage("2 lines of the journal cannot be read");
        }),
        ("the end", |story| {
            story.run_json(&json!({"type": "run_ended", "data": {"reason": {"limit": "cost"}, "exit_code": 2, "message": "used $10.021 of $10.00; raise it", "iterations": 3, "totals": {"cost": 10_021_000, "turns": 7, "duration_ms": 83_000}}}));
        }),
    ]
}

/// The rows of a buffer, each followed by the looks in it.
fn described(buffer: &Buffer, has_looks: bool) -> String {
    let mut out = String::new();
    for (y, row) in (0..).zip(rows_of(buffer)) {
        if row.is_empty() {
            continue;
        }
        out.push_str(&format!("{row}\n"));
        let mut looks: Vec<(u16, u16, String)> = Vec::new();
        for x in 0..buffer.area.width {
            let cell = &buffer[(x, y)];
            let look = format!("{:?} {:?}", cell.fg, cell.modifier);
            let look = look.replace("Reset", "").replace("NONE", "").trim().to_owned();
            match looks.last_mut() {
                Some(last) if last.2 == look => last.1 = x,
                _ => looks.push((x, x, look)),
            }
        }
        looks.retain(|(_, _, look)| !look.is_empty());
        if has_looks && !looks.is_empty() {
            let looks: Vec<String> = looks
                .iter()
                .map(|(first, last, look)| format!("{first}-{last} {look}"))
                .collect();
            out.push_str(&format!("    ~ {}\n", looks.join(", ")));
        }
    }
    out
}

fn screens(width: u16, height: u16, scheme: ColorScheme, is_unfolded: bool, has_looks: bool) -> String {
    let mut out = String::new();
    for (name, tell) in scenes() {
        let mut story = Story::new();
        tell(&mut story);
        let mut view = TranscriptView::default();
        if width >= 120 {
            view.toggle_side_by_side().ok();
        }
        if is_unfolded {
            view.toggle_fold(&story.transcript, FoldTarget::All);
        }
        let area = Rect::new(0, 0, width, height);
        let mut buffer = Buffer::empty(area);
        view.render(&story.transcript, area, &mut buffer, Theme::new(scheme), story.at);
        out.push_str(&format!("=== {name}\n{}\n", described(&buffer, has_looks)));
    }
    out
}

#[test]
fn every_cell_in_a_small_window() {
    insta::assert_snapshot!("60x15_dark", screens(60, 15, ColorScheme::Dark, false, false));
    insta::assert_snapshot!("60x15_light", screens(60, 15, ColorScheme::Light, true, true));
}

#[test]
fn every_cell_in_a_usual_window() {
    insta::assert_snapshot!("80x24_dark", screens(80, 24, ColorScheme::Dark, false, true));
    insta::assert_snapshot!("80x24_light", screens(80, 24, ColorScheme::Light, false, true));
    insta::assert_snapshot!("80x24_no_color", screens(80, 24, ColorScheme::None, true, true));
}

#[test]
fn every_cell_in_a_wide_window_with_diffs_side_by_side() {
    insta::assert_snapshot!("200x60_dark", screens(200, 60, ColorScheme::Dark, true, false));
    insta::assert_snapshot!("200x60_light", screens(200, 60, ColorScheme::Light, false, true));
}

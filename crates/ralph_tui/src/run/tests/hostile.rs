//! Hostile texts in the header, in requests, dialogs, fields and notices of a run.

use std::sync::atomic::{AtomicUsize, Ordering};

use ralph_run::RunKind;
use serde_json::json;
use terminal_input::Key;

use super::Desk;
use crate::hostile_texts::{assert_nothing_hostile, short_hostile_texts};
use crate::input::Input;

const SIZES: [(u16, u16); 2] = [(60, 15), (200, 60)];

fn for_each_text(check: impl Fn(&str) + Sync) {
    let texts = short_hostile_texts();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(text) = texts.get(next.fetch_add(1, Ordering::Relaxed)) {
                    check(text);
                }
            });
        }
    });
}

#[track_caller]
fn assert_safe(desk: &mut Desk, (columns, rows): (u16, u16), text: &str) {
    let (buffer, _) = desk.buffer(columns, rows);
    assert_nothing_hostile(&buffer, buffer.area, text);
    let title = desk.app.title();
    assert!(!title.contains(run_view::is_forbidden), "{title:?}");
}

#[test]
fn nothing_forbidden_reaches_the_screen_from_a_request() {
    for_each_text(|hostile| {
        // Long enough to be wrapped and scrolled.
        let long = hostile.repeat((1_024 / hostile.len().max(1)).clamp(1, 20));
        let requests = [
            (
                "permission_requested",
                json!({"request": "r", "tool": hostile, "kind": "execute", "subject": long,
                "description": hostile, "input": {"command": long, hostile: hostile},
                "grants": [{"id": "g", "kind": "rule", "destination": "session", "text": long}]}),
            ),
            (
                "permission_requested",
                json!({"request": "r", "tool": "Edit", "kind": "edit", "subject": hostile,
                "input": {"file_path": hostile, "old_string": hostile, "new_string": long}}),
            ),
            (
                "question_asked",
                json!({"request": "r", "questions": [{"text": long, "header": hostile,
                "options": [{"label": long, "description": hostile}, {"label": hostile}]}]}),
            ),
            ("plan_proposed", json!({"request": "r", "plan": long})),
        ];
        for (name, data) in &requests {
            let size = (60, 15);
            let mut desk = Desk::started(RunKind::Loop);
            desk.agent(name, data);
            assert_safe(&mut desk, size, hostile);
            desk.settle();
            assert_safe(&mut desk, size, hostile);
            desk.press("n");
            desk.key(Key::Paste(hostile.to_owned()));
            assert_safe(&mut desk, size, hostile);
            desk.press("\u{1b}\t");
            assert_safe(&mut desk, size, hostile);
        }
    });
}

#[test]
fn nothing_forbidden_reaches_the_screen_from_anywhere_else() {
    for_each_text(|hostile| {
        for size in SIZES {
            let mut desk = Desk::new(RunKind::Loop);
            desk.run_event(
                "iteration_started",
                &json!({"number": 1, "prompt": hostile, "role": hostile}),
            );
            desk.agent(
                "session_started",
                &json!({"session_id": hostile, "model": hostile, "permission_mode": hostile, "tools": []}),
            );
            desk.agent(
                "tool_started",
                &json!({"item": "t", "name": hostile, "kind": "execute", "state": "running", "subject": hostile}),
            );
            let change = json!({"path": hostile, "kind": "modified", "lines": [1, 1]});
            desk.agent(
                "tool_finished",
                &json!({"item": "t", "status": "completed", "output": hostile, "changes": [change]}),
            );
            let sent = json!({"command_id": "c", "command": "send", "message_id": "m", "mode": "queue",
                "text": hostile});
            desk.run_event("command_received", &sent);
            assert_safe(&mut desk, size, hostile);
            desk.press("Qe");
            assert_safe(&mut desk, size, hostile);
            desk.press("\u{1b}\u{1b}p");
            assert_safe(&mut desk, size, hostile);
            desk.input(Input::Notice(hostile.to_owned()));
            desk.input(Input::LoadFailed {
                run: super::RUN.to_owned(),
                reason: hostile.to_owned(),
            });
            assert_safe(&mut desk, size, hostile);
            desk.press("\u{1b}/");
            desk.key(Key::Paste(hostile.to_owned()));
            assert_safe(&mut desk, size, hostile);
        }
    });
}

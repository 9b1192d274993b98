//! What reaches the terminal, counted: a run as it streams, drawn by the app and written frame by frame.

use std::sync::Arc;
use std::time::Instant;

use ralph_run::{FORMAT_VERSION, Record, ViewUpdate};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use run_view::is_forbidden;
use serde_json::{Value, json};

use super::screen::FrameWriter;
use crate::app::{App, Now};
use crate::hostile_texts::short_hostile_texts;
use crate::input::Input;
use crate::theme::{ColorScheme, Theme};

const RUN: &str = "run-1";

/// An app in a terminal of 80×24.
struct Stage {
    app: App,
    writer: FrameWriter,
    now: Now,
    seq: u64,
}

impl Stage {
    fn new() -> Self {
        let mut stage = Self::with_prompt("Explain it.");
        stage.frame();
        stage
    }

    fn with_prompt(prompt: &str) -> Self {
        let (app, _) = App::new(Theme::new(ColorScheme::Dark), Some(RUN.to_owned()));
        let mut stage = Self {
            app,
            writer: FrameWriter::new(),
            now: Now {
                at: "2026-01-02T03:04:05Z".parse().unwrap(),
                instant: Instant::now(),
            },
            seq: 0,
        };
        stage.record(&json!({"type": "run_started", "data": {
            "format_version": FORMAT_VERSION, "run_id": RUN, "ralph_version": "0.1.0", "workspace": "/w",
            "backend": "claude_code", "display_name": "Claude Code", "max_iterations": 1,
        }}));
        stage.record(&json!({"type": "iteration_started", "data": {"number": 1, "prompt": prompt}}));
        stage
    }

    fn record(&mut self, event: &Value) {
        self.seq += 1;
        let record = json!({
            "seq": self.seq, "at": "2026-01-02T03:04:05Z", "iteration": 1, "attempt": 1, "event": event,
        });
        let record: Record = serde_json::from_value(record).unwrap();
        let input = Input::Updates {
            run: RUN.to_owned(),
            updates: vec![ViewUpdate::Record(Arc::new(record))],
        };
        self.app.update(input, self.now);
    }

    fn say(&mut self, text: &str) {
        let data = json!({"item": "1", "part": "text", "mode": "append", "text": text});
        self.record(&json!({"agent_kind": "claude_code", "type": "delta", "data": data}));
    }

    /// Draws, and counts the bytes of it.
    fn frame(&mut self) -> usize {
        self.bytes().len()
    }

    fn bytes(&mut self) -> Vec<u8> {
        let area = Rect::new(0, 0, 80, 24);
        let mut buffer = Buffer::empty(area);
        let cursor = self.app.render(area, &mut buffer, self.now);
        let title = self.app.title();
        self.writer.render(buffer, cursor, &title).unwrap()
    }
}

#[test]
fn a_streamed_answer_takes_at_most_three_times_its_bytes() {
    let pieces = [
        "The function ",
        "reads a line ",
        "and returns `None` ",
        "at the end of the file, ",
        "so the **loop** must not ",
        "wait for it.",
        " Then ",
        "it is done.\n\n",
    ];
    // From a slow model, and from one that says several pieces within a frame.
    for pieces_of_frame in [1, 4] {
        let mut stage = Stage::new();
        let (mut said, mut written) = (0, 0);
        for (number, piece) in (1..).zip(pieces.iter().cycle()) {
            stage.say(piece);
            said += piece.len();
            if number % pieces_of_frame == 0 {
                written += stage.frame();
            }
            if said >= 64 << 10 {
                break;
            }
        }
        written += stage.frame();
        assert!(
            written <= 3 * said,
            "{written} bytes for {said}, {pieces_of_frame} in a frame"
        );
    }
}

#[test]
fn a_run_that_has_ended_needs_no_clock_and_writes_nothing() {
    let mut stage = Stage::new();
    stage.say("All of it.");
    let totals = json!({"tokens": {}, "turns": 1, "duration_ms": 5});
    stage.record(&json!({"type": "run_ended", "data": {
        "reason": "completed", "exit_code": 0, "iterations": 1, "totals": totals,
    }}));
    stage.frame();
    assert_eq!(stage.app.next_tick(stage.now), None);
    stage.now.at = "2026-01-02T04:04:05Z".parse().unwrap();
    assert_eq!(stage.frame(), 0);
}

/// Fails for every control character and sequence that the writer of frames does not need.
fn assert_only_own_sequences(bytes: Vec<u8>, said: &str) {
    let written = String::from_utf8(bytes).unwrap();
    let mut characters = written.chars();
    while let Some(character) = characters.next() {
        if character != '\u{1b}' {
            // A joiner between pictures is the only one that the sanitiser leaves.
            let is_allowed = !is_forbidden(character) || character == '\u{200d}';
            assert!(
                is_allowed && !character.is_control(),
                "{character:?} for {said:?}"
            );
            continue;
        }
        match characters.next() {
            Some('[') => {
                let end = characters.find(|it| !it.is_ascii_digit() && !matches!(it, ';' | '?'));
                let is_known = end.is_some_and(|end| "HJSrmhl".contains(end));
                assert!(is_known, "CSI … {end:?} for {said:?}");
            }
            Some(']') => {
                let title: String = characters.by_ref().take_while(|it| *it != '\u{7}').collect();
                let title = title.strip_prefix("2;").expect("not a title");
                assert!(!title.contains(is_forbidden), "{title:?}");
            }
            other => panic!("ESC {other:?} for {said:?}"),
        }
    }
}

#[test]
fn nothing_but_frames_reaches_the_terminal_whatever_a_run_says() {
    for text in short_hostile_texts() {
        let mut stage = Stage::with_prompt(&text);
        assert_only_own_sequences(stage.bytes(), &text);
        stage.say(&text);
        let call = json!({"item": "c", "name": text, "kind": "execute", "state": "running", "subject": text,
            "input": {"command": text}});
        stage.record(&json!({"agent_kind": "claude_code", "type": "tool_started", "data": call}));
        assert_only_own_sequences(stage.bytes(), &text);
        let changes =
            json!([{"path": text, "kind": "modified", "diff": format!("@@ -1 +1 @@\n-a\n+{text}\n")}]);
        let end = json!({"item": "c", "status": "failed", "output": text, "changes": changes});
        stage.record(&json!({"agent_kind": "claude_code", "type": "tool_finished", "data": end}));
        let asked = json!({"request": "r", "tool": text, "kind": "execute", "input": {"command": text}});
        stage.record(&json!({"agent_kind": "claude_code", "type": "permission_requested", "data": asked}));
        assert_only_own_sequences(stage.bytes(), &text);
    }
}

#[test]
fn the_check_of_sequences_finds_what_is_not_of_a_frame() {
    let is_refused = |bytes: &str| {
        let bytes = bytes.as_bytes().to_vec();
        std::panic::catch_unwind(|| assert_only_own_sequences(bytes, "")).is_err()
    };
    assert!(!is_refused("\u{1b}[2;3Htext\u{1b}[0m\u{1b}]2;title\u{7}"));
    for sequence in [
        "\u{1b}]52;c;aGk=\u{7}",
        "\u{1b}]8;;x\u{7}",
        "\u{1b}P1$r\u{1b}\\",
        "\u{1b}c",
        "\u{1b}[5n",
        "\u{9b}31m",
        "\u{7}",
        "\t",
        "\n",
        "\u{202e}",
    ] {
        assert!(is_refused(sequence), "{sequence:?}");
    }
}

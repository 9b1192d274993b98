//! Whole screens, at three sizes, dark and light.

use std::fmt::Write as _;

use ralph_run::RunKind;
use ratatui::buffer::Buffer;
use ratatui::style::Style;
use serde_json::{Value, json};

use super::{Desk, text_of};
use crate::hostile_texts::assert_nothing_hostile;
use crate::input::Input;
use crate::theme::ColorScheme;

const SIZES: [(u16, u16); 3] = [(60, 15), (80, 24), (200, 60)];

/// A snapshot of each size. At 80×24 with its styles, dark and light.
fn assert_screens(name: &str, prepare: impl Fn(&mut Desk)) {
    for (columns, rows) in SIZES {
        let mut shown = String::new();
        for scheme in [ColorScheme::Dark, ColorScheme::Light] {
            let mut desk = Desk::with_theme(RunKind::Loop, scheme);
            desk.size = (columns, rows);
            desk.run_event(
                "iteration_started",
                &json!({"number": 1, "prompt": "Fix it.", "role": "coder"}),
            );
            prepare(&mut desk);
            let (buffer, cursor) = desk.buffer(columns, rows);
            assert_nothing_hostile(&buffer, buffer.area, name);
            if scheme == ColorScheme::Dark {
                shown = text_of(&buffer);
                if let Some(cursor) = cursor {
                    writeln!(shown, "cursor {},{}", cursor.x, cursor.y).unwrap();
                }
            }
            if (columns, rows) == (80, 24) {
                write!(shown, "\n{scheme:?}\n{}", styles_of(&buffer)).unwrap();
            }
        }
        insta::assert_snapshot!(format!("{name}_{columns}x{rows}"), shown);
    }
}

/// `3: 0-12 Cyan BOLD`: what is styled in each row.
fn styles_of(buffer: &Buffer) -> String {
    let mut text = String::new();
    for row in 0..buffer.area.height {
        let mut runs: Vec<(u16, u16, Style)> = Vec::new();
        for column in 0..buffer.area.width {
            let style = buffer[(column, row)].style();
            match runs.last_mut() {
                Some((_, end, last)) if *last == style => *end = column,
                _ => runs.push((column, column, style)),
            }
        }
        let plain = Buffer::empty(buffer.area)[(0, 0)].style();
        for (start, end, style) in runs.into_iter().filter(|(.., style)| *style != plain) {
            let color = style.fg.map(|color| color.to_string()).unwrap_or_default();
            writeln!(text, "{row}: {start}-{end} {color} {:?}", style.add_modifier).unwrap();
        }
    }
    text
}

fn working(desk: &mut Desk) {
    desk.agent(
        "usage",
        &json!({"scope": "run", "tokens": {}, "context": {"used": 68_000, "size": 200_000},
        "run": {"tokens": {}, "cost": {"micro_usd": 1_230_000, "source": "reported"}}}),
    );
    desk.agent(
        "tool_started",
        &json!({"item": "t", "name": "Bash", "kind": "execute", "state": "running", "subject": "cargo test"}),
    );
    desk.wait(12_000);
}

#[test]
fn a_working_run() {
    assert_screens("working", working);
}

/// A name, and what leads to it.
type State = (&'static str, fn(&mut Desk));

/// The header of a run in each state, and nothing below it.
#[test]
fn the_header_of_every_state() {
    let states: [State; 13] = [
        ("starting", |_| {}),
        ("thinking", |desk| {
            desk.agent("turn_started", &json!({"number": 1}))
        }),
        ("silent", |desk| {
            desk.agent("turn_started", &json!({"number": 1}));
            desk.wait(75_000);
        }),
        ("tool", working),
        ("verifying", |desk| {
            desk.run_event("verify_started", &json!({"command": "cargo test --workspace"}));
        }),
        ("permission", |desk| desk.ask("a")),
        ("question", |desk| desk.question(&json!([{"text": "Why?"}]))),
        ("plan", |desk| {
            desk.agent("plan_proposed", &json!({"request": "p", "plan": "Plan"}));
        }),
        ("budget", |desk| {
            let until = desk.at() + std::time::Duration::from_secs(90);
            desk.run_event(
                "budget_awaited",
                &json!({"limit": "cost", "message": "x", "until": until}),
            );
        }),
        ("usage limit", |desk| {
            let until = desk.at() + std::time::Duration::from_secs(3_000);
            desk.run_event(
                "cooldown_started",
                &json!({"until": until, "cause": "usage_limit"}),
            );
        }),
        ("cooling", |desk| {
            let until = desk.at() + std::time::Duration::from_secs(14);
            desk.run_event("cooldown_started", &json!({"until": until}));
        }),
        ("stopping", |desk| {
            desk.run_event("stop_started", &json!({"reason": "stopped"}))
        }),
        ("ended", |desk| {
            desk.run_event(
                "run_ended",
                &json!({"reason": {"limit": "cost"}, "exit_code": 2, "iterations": 1,
                "totals": {"cost": 5_010_000, "duration_ms": 61_000}, "message": "$5.01 of $5.00 spent"}),
            );
        }),
    ];
    for (columns, rows) in SIZES {
        let mut shown = String::new();
        for (name, prepare) in &states {
            let mut desk = Desk::started(RunKind::Loop);
            prepare(&mut desk);
            desk.wait(1_000);
            let screen = desk.screen(columns, rows);
            let header: Vec<&str> = screen.lines().take_while(|line| !line.starts_with('─')).collect();
            writeln!(shown, "[{name}]\n{}\n", header.join("\n")).unwrap();
        }
        let mut desk = Desk::started(RunKind::Loop);
        desk.input(Input::RunnerGone {
            run: super::RUN.to_owned(),
        });
        let screen = desk.screen(columns, rows);
        let header: Vec<&str> = screen.lines().take_while(|line| !line.starts_with('─')).collect();
        writeln!(shown, "[lost]\n{}", header.join("\n")).unwrap();
        insta::assert_snapshot!(format!("headers_{columns}x{rows}"), shown);
    }
}

#[test]
fn the_permission_mode_is_shown_beside_any_title_and_model() {
    for wide in [
        "❤\u{fe0f}",
        "漢",
        "👩\u{200d}👩\u{200d}👧",
        "\u{644}\u{627}",
        "e\u{301}",
        "🇩🇪",
    ] {
        let mut desk = Desk::new(RunKind::Loop);
        desk.run_event(
            "iteration_started",
            &json!({"number": 1, "prompt": wide.repeat(60)}),
        );
        desk.agent(
            "session_started",
            &json!({"session_id": "s", "model": wide.repeat(60), "permission_mode": "bypassPermissions", "tools": []}),
        );
        for (columns, rows) in SIZES {
            let screen = desk.screen(columns, rows);
            let first = screen.lines().next().unwrap();
            assert!(first.trim_end().ends_with("bypass · 0s"), "{first}");
        }
    }
}

#[test]
fn what_earlier_runs_of_the_task_spent_is_in_figures_bars_and_the_top_up() {
    let mut desk = Desk::new(RunKind::Loop);
    desk.run_event(
        "run_started",
        &json!({"format_version": ralph_run::FORMAT_VERSION, "run_id": super::RUN, "ralph_version": "0.1.0",
            "workspace": "/w", "backend": "claude_code", "display_name": "Claude Code", "max_iterations": 1,
            "max_cost": 10_000_000, "spent_before": 9_500_000, "verify": [], "kind": "loop"}),
    );
    desk.run_event("iteration_started", &json!({"number": 1, "prompt": "Fix it."}));
    let usage = json!({"scope": "run", "tokens": {}, "run": {"tokens": {},
        "cost": {"micro_usd": 500_000, "source": "reported"}}});
    desk.agent("usage", &usage);
    let screen = desk.screen(100, 40);
    let figures = screen.lines().nth(1).unwrap();
    assert!(figures.contains("$10.00 of $10.00 ━━━━━━━━━━━━"), "{figures}");
    // The cost limit is reached, so it is the one to raise, though the iterations are used up too.
    desk.press("+1\n");
    assert!(desk.shows("$10.00") || !desk.shows("Iterations"));
}

#[test]
fn a_permission_with_a_diff() {
    assert_screens("permission_diff", |desk| {
        working(desk);
        let input = json!({"file_path": "/home/me/project/src/lib.rs", "replace_all": true,
            "old_string": "fn old() {\n    1\n}\n", "new_string": "fn new() {\n    2\n}\n"});
        desk.agent(
            "permission_requested",
            &json!({"request": "p", "tool": "Edit", "kind": "edit", "subject": "/home/me/project/src/lib.rs",
                "description": "Rename it", "input": input}),
        );
        desk.ask("second");
        desk.settle();
    });
}

fn long_command() -> String {
    let lines: Vec<String> = (1..=40)
        .map(|number| format!("echo 'step {number} of the build'"))
        .collect();
    lines.join("\n")
}

#[test]
fn a_permission_for_a_long_command() {
    assert_screens("permission_long", |desk| {
        desk.agent(
            "permission_requested",
            &json!({"request": "p", "tool": "Bash", "kind": "execute", "subject": "echo 'step 1 …'",
                "input": {"command": long_command()}, "grants": super::rule()}),
        );
        desk.settle();
    });
}

fn colours(is_multiple: bool) -> Value {
    json!([{"text": "Which colours should the page have?", "is_multiple": is_multiple, "options": [
        {"label": "Blue", "description": "As the logo"}, {"label": "Red"}, {"label": "Green"}]}])
}

#[test]
fn a_question() {
    assert_screens("question_single", |desk| {
        desk.question(&colours(false));
        desk.settle();
    });
}

#[test]
fn a_question_with_several_answers() {
    assert_screens("question_multiple", |desk| {
        desk.question(&colours(true));
        desk.settle();
        desk.press("13");
    });
}

#[test]
fn a_question_answered_in_words() {
    assert_screens("question_text", |desk| {
        desk.question(&colours(false));
        desk.settle();
        desk.press("tMauve, if it is not too much");
    });
}

#[test]
fn a_denial() {
    assert_screens("denial", |desk| {
        desk.ask("a");
        desk.settle();
        desk.press("nUse the staging server");
    });
}

#[test]
fn a_plan() {
    assert_screens("plan", |desk| {
        let steps: Vec<String> = (1..=30)
            .map(|number| format!("{number}. Do step {number}."))
            .collect();
        let plan = format!("# Plan\n\n{}", steps.join("\n"));
        desk.agent("plan_proposed", &json!({"request": "p", "plan": plan}));
        desk.settle();
    });
}

#[test]
fn a_request_that_is_not_armed_yet() {
    assert_screens("unarmed", |desk| desk.ask("a"));
}

#[test]
fn a_request_behind_a_draft() {
    assert_screens("draft", |desk| {
        desk.press("mLook at the");
        desk.ask("a");
    });
}

#[test]
fn dialogs() {
    for (name, keys) in [
        ("stop", "X"),
        ("interrupt", "x"),
        ("top_up", "+5\t\t1h"),
        ("model", "L"),
        ("permission_mode", "pj"),
        ("help", "?"),
        ("search", "/cargo te"),
        ("composer", "mPlease also\\\nupdate the docs"),
    ] {
        assert_screens(name, |desk| {
            desk.press(keys);
        });
    }
}

#[test]
fn the_queue() {
    assert_screens("queue", |desk| {
        for (id, text) in [("one", "Use the new API"), ("two", "Then\nrun the tests")] {
            let sent = json!({"command_id": format!("c{id}"), "command": "send", "message_id": id,
                "mode": "queue", "text": text});
            desk.run_event("command_received", &sent);
        }
        desk.run_event("message_sent", &json!({"message_id": "one"}));
        desk.press("Qje");
    });
}

/// What agents and repositories could write anywhere.

#[test]
fn lasting_permissions_are_chosen_one_by_one() {
    assert_screens("grants", |desk| {
        desk.ask("a");
        desk.settle();
        desk.press("a1");
    });
}

#[test]
fn the_second_of_two_questions() {
    assert_screens("question_second", |desk| {
        desk.question(&json!([{"text": "Which language?", "options": [{"label": "Rust"}, {"label": "C"}]},
            {"text": "How fast?", "options": [{"label": "Very"}, {"label": "Less", "description": "but sure"}]}]));
        desk.settle();
        desk.press("1");
        desk.settle();
    });
}

#[test]
fn more_permissions_are_confirmed() {
    assert_screens("permission_mode_confirm", |desk| {
        desk.press("p5");
        desk.wait(500);
        desk.press("\n");
        desk.settle();
    });
}

#[test]
fn a_line_of_the_agent() {
    assert_screens("page", |desk| {
        let text = format!("{{\"type\":\"assistant\",\"text\":\"{}\"}}", "word ".repeat(400));
        let title = "raw/1.ndjson, byte 0".to_owned();
        desk.input(Input::Page { title, text });
    });
}

#[test]
fn a_journal_that_cannot_be_read_any_further() {
    assert_screens("problem", |desk| {
        desk.input(Input::LoadFailed {
            run: super::RUN.to_owned(),
            reason: "the journal was written by a newer version of ralph (format 9); update ralph to read the rest of it"
                .to_owned(),
        });
    });
}

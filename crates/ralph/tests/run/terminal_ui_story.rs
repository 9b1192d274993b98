//! A whole run in the terminal UI, as one person uses it: read, steer, answer, raise a limit, stop. In between the
//! terminal UI is killed, and the run does not notice.

use rustix::process::{Signal, kill_process};
use serde_json::{Value, json};
use test_support::dialect::{Session, ToolOutcome};
use test_support::script::Script;

use crate::stage::{Stage, success};
use crate::terminal::Terminal;

/// Changes the arguments of a tool as a person would in an editor.
const EDITOR: (&str, &str) = ("EDITOR", "/bin/sed -i s/target/build/");

fn asks(request: &str, tool: &str, input: &Value) -> String {
    json!({
        "type": "control_request",
        "request_id": request,
        "request": {"subtype": "can_use_tool", "tool_name": tool, "input": input, "tool_use_id": format!("toolu_{request}")},
    })
    .to_string()
}

fn answered(request: &str, answer: &Value) -> Value {
    json!({"type": "control_response", "response": {"request_id": request, "response": answer}})
}

/// Runs a tool, waits for a message, asks for permission and a question, and checks every answer.
fn agent() -> Script {
    let mut session = Session::new("00000000-0000-4000-8000-000000000001");
    let init = session.init("/");
    session.begin_message();
    let lines: Vec<String> = (0..40).map(|number| format!("line {number}")).collect();
    let call = session.tool_use("t", "Bash", &json!({"command": "seq 40"}));
    let done = session.tool_result("t", &lines.join("\n"), ToolOutcome::Succeeded, &json!({}));
    let questions = json!({"questions": [{"question": "Which colour?", "header": "Colour", "multiSelect": false,
        "options": [{"label": "Blue", "description": "b"}, {"label": "Red", "description": "r"}]}]});
    Script::new()
        .read_line()
        .emit(init)
        .emit(call)
        .emit(done)
        .expect_line(json!({"type": "user"}))
        .emit(session.text("Understood."))
        .emit(asks("p", "Bash", &json!({"command": "rm -rf target"})))
        .expect_line(answered(
            "p",
            &json!({"behavior": "allow", "updatedInput": {"command": "rm -rf build"}}),
        ))
        .emit(asks("q", "AskUserQuestion", &questions))
        .expect_line(answered(
            "q",
            &json!({"behavior": "allow", "updatedInput": {"answers": {"Which colour?": "Red"}}}),
        ))
        .emit(success("More to do."))
        .read_to_end()
}

#[test]
fn a_run_is_read_steered_answered_topped_up_and_stopped() {
    let stage = Stage::new(&agent());
    let arguments = [
        "run",
        "-p",
        "Fix the parser.",
        "--ask",
        "--max-iterations",
        "1",
        "--tui",
    ];
    let mut terminal = Terminal::ralph_with(&stage, &arguments, &[EDITOR]);
    terminal.wait_for("more lines");
    assert!(
        terminal.screen().contains("Fix the parser. · workspace"),
        "{}",
        terminal.screen()
    );

    terminal.press("/");
    terminal.wait_for("enter search");
    // A text that arrives at once is a paste, whose line breaks send nothing.
    terminal.press("line 35");
    terminal.wait_for("hit 1/1");
    terminal.wait_for("  line 35");
    terminal.press("\r");
    terminal.wait_for("n next hit");
    terminal.press("\u{1b}");
    terminal.wait_until("not searching", |terminal| !terminal.screen().contains("hit"));
    terminal.press("\r");
    terminal.wait_until("folded", |terminal| !terminal.screen().contains("line 35"));
    terminal.press("G");

    terminal.press("m");
    terminal.wait_for("Message, as soon as possible");
    terminal.press("q is a letter here");
    terminal.wait_for("q is a letter here");
    terminal.press("\r");
    terminal.wait_for("Understood.");

    terminal.wait_for("y once");
    kill_process(terminal.pid(), Signal::KILL).unwrap();
    terminal.wait();
    assert_eq!(stage.run_file()["ended_at"], Value::Null);
    let mut terminal = Terminal::ralph_with(&stage, &["attach", "--tui"], &[EDITOR]);
    terminal.wait_for("y once");
    assert!(
        terminal.screen().contains("rm -rf target"),
        "{}",
        terminal.screen()
    );
    terminal.press("e");
    terminal.wait_for("Which colour?");
    terminal.wait_for("1-2 choose");
    terminal.press("2");

    terminal.wait_for("waiting for a higher limit");
    terminal.press("+");
    terminal.wait_for("Add to the limits");
    // The cursor is at the limit that was reached.
    terminal.press("1");
    terminal.wait_for("1 → 2");
    terminal.press("\r");
    terminal.wait_for("Iteration 2 of 2");
    terminal.wait_for("more lines");

    terminal.press("X");
    terminal.wait_for("Stop the run?");
    terminal.wait_for("y stop");
    terminal.press("y");
    let ended = stage.wait_for_end();
    assert_eq!(ended["reason"], "stopped", "{ended}");
    terminal.wait_for("ended: stopped");
    assert!(!terminal.screen().contains("m message"), "{}", terminal.screen());
    terminal.press("q");
    let code = ended["exit_code"]
        .as_i64()
        .and_then(|code| i32::try_from(code).ok());
    assert_eq!(terminal.wait().code(), code);
    terminal.wait_until("restored", |terminal| !terminal.is_alternate());
    assert_eq!(format!("{:?}", terminal.mode()), terminal.initial_mode());
}

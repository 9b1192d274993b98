//! Conversations: messages, turns, waiting, and their ends.

use ralph_run::control::{ControlClient, ControlCommand, ControlError, Receipt, RefusalCode, SendMode};
use serde_json::{Value, json};
use test_support::dialect::Session;
use test_support::script::{Script, Signal};
use test_support::{wait_for, wait_until};

use crate::stage::{Ran, Stage, result, success};

const SESSION: &str = "00000000-0000-4000-8000-000000000001";

fn user(content: &str) -> Value {
    json!({"type": "user", "message": {"content": content}})
}

fn init() -> String {
    Session::new(SESSION).init("/")
}

fn says(text: &str) -> String {
    json!({
        "type": "assistant",
        "message": {"id": "msg_${/uuid}", "type": "message", "role": "assistant", "model": "claude-opus-5-5",
            "content": [{"type": "text", "text": text}], "usage": {"input_tokens": 1, "output_tokens": 1}},
        "parent_tool_use_id": null,
        "session_id": SESSION,
    })
    .to_string()
}

fn receipt(state: &str) -> String {
    json!({"type": "command_lifecycle", "command_uuid": "${/uuid}", "state": state, "session_id": SESSION})
        .to_string()
}

/// Answers a message and ends the turn.
fn replies() -> Script {
    Script::new()
        .answer(receipt("started"))
        .emit(init())
        .answer(says("You said ${/message/content}."))
        .answer(receipt("completed"))
        .emit(success("ok"))
}

/// Begins a turn and leaves it open.
fn begins() -> Script {
    Script::new()
        .answer(receipt("started"))
        .emit(init())
        .answer(says("Working."))
}

fn interrupts() -> (Value, Script) {
    let answer = r#"{"type":"control_response","response":{"subtype":"success","request_id":"${/request_id}","response":{}}}"#;
    let aborted = json!({"subtype": "error_during_execution", "is_error": true, "terminal_reason": "aborted_streaming"});
    (
        json!({"type": "control_request", "request": {"subtype": "interrupt"}}),
        Script::new().answer(answer).emit(result(&aborted)),
    )
}

/// Ends its turn at once, but for `slow`, dies of `die`, fails at `fail`, and can be interrupted.
pub(crate) fn talks() -> Script {
    let failed = json!({"subtype": "success", "is_error": true, "result": "API Error: 500"});
    Script::new().converse([
        (user("slow"), begins()),
        (user("die"), begins().die(Signal::Kill)),
        (user("fail"), begins().emit(result(&failed))),
        (
            user("again"),
            Script::new()
                .expect_argument(format!("--resume={SESSION}"))
                .then(replies()),
        ),
        (json!({"type": "user"}), replies()),
        interrupts(),
    ])
}

/// A conversation with a scripted agent.
pub(crate) struct Talk {
    pub(crate) stage: Stage,
}

impl Talk {
    pub(crate) fn start(script: &Script, args: &[&str]) -> Self {
        let stage = Stage::new(script);
        let mut all = vec!["run", "--interactive", "--detach"];
        all.extend(args);
        let ran = Ran::of(&stage.ralph(&all).output().unwrap());
        assert_eq!(ran.code, Some(0), "{ran:?}");
        Self { stage }
    }

    pub(crate) fn ralph(&self, args: &[&str]) -> Ran {
        Ran::of(&self.stage.ralph(args).output().unwrap())
    }

    fn send(&self, text: &str) {
        let sent = self.ralph(&["send", "latest", text]);
        assert_eq!(sent.code, Some(0), "{sent:?}");
    }

    pub(crate) fn of_kind(&self, kind: &str) -> Vec<Value> {
        let records = self.stage.records().into_iter();
        let found = records.filter(|record| record["event"]["type"] == kind);
        found.map(|record| record["event"]["data"].clone()).collect()
    }

    pub(crate) fn wait_for(&self, kind: &str, count: usize) -> Vec<Value> {
        wait_for(&format!("{count} records `{kind}`"), || {
            let found = self.of_kind(kind);
            (found.len() >= count).then_some(found)
        })
    }

    fn wait_for_state(&self, state: &str) -> Value {
        wait_for(&format!("the state `{state}`"), || {
            let file = self.stage.run_file();
            (file["status"]["state"] == state).then_some(file)
        })
    }

    pub(crate) fn idle(&self, turns: usize) {
        self.wait_for("turn_finished", turns);
        wait_until("the agent to be idle", || {
            self.stage.run_file()["status"]["for"] == "message"
        });
    }

    fn ask(&self, by: &str, command: ControlCommand) -> Result<Receipt, ControlError> {
        let socket = self.stage.last_run().join("control.sock");
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let client = ControlClient::connect(&socket).await?;
            client.named(by).request(command).await
        })
    }

    fn refusal(&self, command: ControlCommand) -> (RefusalCode, String) {
        match self.ask("a test", command) {
            Err(ControlError::Refused(refusal)) => (refusal.code, refusal.message),
            other => unreachable!("{other:?}"),
        }
    }

    pub(crate) fn end(&self) -> Value {
        let stopped = self.ralph(&["stop", "latest"]);
        assert_eq!(stopped.code, Some(0), "{stopped:?}");
        self.stage.run_file()
    }
}

#[test]
fn every_message_is_a_turn_of_one_process_and_the_end_is_in_order() {
    let talk = Talk::start(&talks(), &["-p", "hello"]);
    talk.idle(1);
    talk.send("more");
    talk.idle(2);
    let listed = talk.ralph(&["runs"]);
    assert!(listed.stdout.contains("waiting for a message"), "{listed:?}");
    let file = talk.end();
    assert_eq!(
        (&file["reason"], &file["exit_code"]),
        (&json!("completed"), &json!(0))
    );
    assert_eq!(
        (&file["kind"], &file["status"]["totals"]["turns"]),
        (&json!("session"), &json!(2))
    );
    assert_eq!(talk.of_kind("attempt_started").len(), 1);
    assert_eq!(talk.of_kind("run_started")[0]["kind"], "session");
    // The first message goes in as it is.
    assert_eq!(talk.of_kind("iteration_started")[0]["prompt"], "hello");
    let sent = &talk.of_kind("command_received")[0];
    let id = &sent["message_id"];
    assert_eq!((&sent["mode"], &sent["text"]), (&json!("steer"), &json!("more")));
    assert_eq!(talk.of_kind("message_sent"), [json!({"message_id": id})]);
    let states: Vec<Value> = talk
        .of_kind("message_updated")
        .into_iter()
        .filter(|updated| updated["message_id"] == *id)
        .map(|updated| updated["state"].clone())
        .collect();
    assert_eq!(states, ["started", "completed"]);
}

#[test]
fn without_a_prompt_the_agent_starts_with_the_first_message() {
    let talk = Talk::start(&talks(), &[]);
    talk.wait_for("message_awaited", 1);
    assert_eq!(talk.of_kind("attempt_started").len(), 0);
    talk.send("first");
    talk.idle(1);
    assert_eq!(talk.of_kind("iteration_started")[0]["prompt"], "first");
    let id = talk.of_kind("command_received")[0]["message_id"].clone();
    assert_eq!(talk.of_kind("message_sent"), [json!({"message_id": id})]);
    assert!(
        talk.of_kind("message_updated")
            .iter()
            .all(|updated| updated["message_id"] == id)
    );
    let file = talk.end();
    assert_eq!(
        (&file["reason"], &file["prompt"]),
        (&json!("completed"), &json!("first"))
    );
}

#[test]
fn an_interrupt_ends_the_turn_and_the_next_message_is_answered() {
    let talk = Talk::start(&talks(), &["-p", "slow"]);
    talk.wait_for("text_block", 1);
    let interrupted = talk.ralph(&["interrupt", "latest"]);
    assert!(interrupted.stdout.contains("interrupted"), "{interrupted:?}");
    talk.idle(1);
    assert_eq!(talk.of_kind("turn_finished")[0]["outcome"], "interrupted");
    let nothing = talk.ralph(&["interrupt", "latest"]);
    assert!(
        nothing.stdout.contains("nothing to interrupt: the agent is idle"),
        "{nothing:?}"
    );
    talk.send("go on");
    talk.idle(2);
    assert_eq!(talk.of_kind("attempt_started").len(), 1);
    assert_eq!(talk.end()["reason"], "completed");
}

#[test]
fn a_turn_that_fails_is_shown_and_the_session_continues() {
    let talk = Talk::start(&talks(), &["-p", "fail"]);
    talk.idle(1);
    assert_eq!(talk.of_kind("turn_finished")[0]["outcome"], "failed");
    talk.send("more");
    talk.idle(2);
    assert_eq!(talk.end()["reason"], "completed");
}

#[test]
fn a_process_that_dies_is_resumed_by_the_next_message() {
    let talk = Talk::start(&talks(), &["-p", "hello"]);
    talk.idle(1);
    talk.send("die");
    talk.wait_for("message_awaited", 1);
    assert_eq!(talk.of_kind("attempt_ended")[0]["outcome"], "crashed");
    talk.send("again");
    talk.idle(2);
    assert_eq!(talk.of_kind("attempt_started").len(), 2);
    // The turn that ended well makes good for it, and then it dies twice.
    talk.send("die");
    talk.wait_for("message_awaited", 2);
    talk.send("die");
    let file = talk.wait_for_state("ended");
    assert_eq!(
        (&file["reason"], &file["exit_code"]),
        (&json!("crashed"), &json!(1))
    );
}

#[test]
fn messages_that_wait_can_be_changed_and_taken_back_until_the_agent_has_them() {
    let talk = Talk::start(&talks(), &["-p", "slow"]);
    talk.wait_for("text_block", 1);
    let queue = |text: &str| {
        let mode = SendMode::Queue;
        let text = text.to_owned();
        let receipt = talk.ask("a test", ControlCommand::Send { text, mode }).unwrap();
        receipt.message_id.unwrap()
    };
    let (one, two, three) = (queue("one"), queue("two"), queue("three"));
    let text = "uno".to_owned();
    let message_id = one.clone();
    talk.ask("a test", ControlCommand::EditMessage { message_id, text })
        .unwrap();
    let message_id = two.clone();
    talk.ask("a test", ControlCommand::WithdrawMessage { message_id })
        .unwrap();
    let status = talk
        .ask("a test", ControlCommand::Status)
        .unwrap()
        .status
        .unwrap();
    let told: Vec<(&str, &str)> = status
        .queue
        .iter()
        .map(|message| (message.message_id.as_str(), message.text.as_str()))
        .collect();
    assert_eq!(told, [(one.as_str(), "uno"), (three.as_str(), "three")]);
    talk.ralph(&["interrupt", "latest"]);
    talk.idle(3);
    let message_id = one.clone();
    assert_eq!(
        talk.refusal(ControlCommand::WithdrawMessage { message_id }).0,
        RefusalCode::AlreadySent
    );
    let (message_id, text) = (two, "dos".to_owned());
    assert_eq!(
        talk.refusal(ControlCommand::EditMessage { message_id, text }).0,
        RefusalCode::NoSuchMessage
    );
    assert_eq!(
        talk.of_kind("message_sent"),
        [json!({"message_id": one}), json!({"message_id": three})]
    );
    let blocks = talk.of_kind("text_block");
    let said: Vec<&Value> = blocks.iter().map(|block| &block["text"]).collect();
    assert_eq!(said, ["Working.", "You said uno.", "You said three."]);
    let edits = talk.of_kind("command_received");
    let edit = edits
        .iter()
        .find(|command| command["command"] == "edit_message")
        .unwrap();
    assert_eq!(
        (&edit["text"], &edit["by"], &edit["message_id"]),
        (&json!("uno"), &json!("a test"), &json!(one))
    );
    talk.end();
}

#[test]
fn an_idle_session_ends_and_says_how_to_resume_it() {
    let talk = Talk::start(&talks(), &["-p", "hello", "--idle-timeout", "0.3"]);
    let file = talk.wait_for_state("ended");
    assert_eq!(file["reason"], "completed");
    let message = &talk.of_kind("run_ended")[0]["message"];
    assert_eq!(message, "no message came within the idle timeout");
    let ended = &talk.of_kind("attempt_ended")[0];
    assert_eq!(ended["exit"]["code"], 0, "in good order: {ended}");
}

#[test]
fn a_session_that_is_stopped_in_a_turn_was_stopped() {
    let talk = Talk::start(&talks(), &["-p", "slow"]);
    talk.wait_for("text_block", 1);
    assert_eq!(talk.end()["reason"], "stopped");
}

#[test]
fn another_model_and_mode_are_recorded_with_their_names() {
    let answer = r#"{"type":"control_response","response":{"subtype":"success","request_id":"${/request_id}","response":{}}}"#;
    let script = Script::new().converse([
        (json!({"type": "user"}), replies()),
        (json!({"type": "control_request"}), Script::new().answer(answer)),
    ]);
    let talk = Talk::start(&script, &["-p", "hello"]);
    talk.idle(1);
    let model = Some("claude-haiku-5".to_owned());
    talk.ask("a test", ControlCommand::SetModel { model }).unwrap();
    let mode = ralph_run::control::PermissionChoice::Plan;
    talk.ask("a test", ControlCommand::SetPermissionMode { mode })
        .unwrap();
    talk.wait_for("command_answered", 2);
    let commands = talk.of_kind("command_received");
    assert_eq!(commands[0]["model"], "claude-haiku-5");
    assert_eq!(commands[1]["permission_mode"], "plan");
    let file = talk.end();
    assert_eq!(file["model"], "claude-haiku-5");
}

#[test]
fn what_is_not_for_a_conversation_is_refused() {
    let stage = Stage::empty();
    for (args, words) in [
        (&["--once"][..], "`--interactive` cannot be used with `--once`"),
        (
            &["--verify", "true"],
            "`--interactive` cannot be used with `--verify`",
        ),
    ] {
        let mut all = vec!["run", "-i", "-b", "demo"];
        all.extend(args);
        let ran = Ran::of(&stage.ralph(&all).output().unwrap());
        assert_eq!(ran.code, Some(64), "{ran:?}");
        assert!(ran.stderr.contains(words), "{ran:?}");
    }
    stage.configure("cli:\n  backend: custom\n  command: cat\n");
    let ran = Ran::of(&stage.ralph(&["run", "-i"]).output().unwrap());
    assert_eq!(ran.code, Some(64), "{ran:?}");
    assert!(ran.stderr.contains("takes no messages"), "{ran:?}");
    assert!(stage.runs().is_empty());
}

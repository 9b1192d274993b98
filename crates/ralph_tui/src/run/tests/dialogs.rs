//! Stop, top-up, model, permission mode, queue and help.

use agent_api::MicroUsd;
use ralph_run::RunKind;
use ralph_run::control::{ControlCommand, PermissionChoice, TopUp};
use serde_json::json;
use terminal_input::Key;

use super::{Desk, command};
use crate::bindings::{Context, Keymap};

#[test]
fn stopping_asks_and_killing_is_a_key_of_its_own() {
    for (keys, effects) in [
        ("Xy", vec![command(ControlCommand::Stop)]),
        ("Xk", vec![command(ControlCommand::Kill)]),
        ("X\n\u{1b}", vec![]),
        ("Xn", vec![]),
    ] {
        let mut desk = Desk::started(RunKind::Loop);
        let (open, confirm) = keys.split_at(1);
        assert_eq!(desk.press(open), []);
        // What is typed in one go confirms nothing.
        assert_eq!(desk.press("yk"), [], "{keys:?}");
        desk.settle();
        assert_eq!(desk.press(confirm), effects, "{keys:?}");
        assert!(!desk.shows("Stop the run?"), "{keys:?}");
    }
}

#[test]
fn interrupting_a_loop_asks_because_it_ends_the_run() {
    let mut desk = Desk::started(RunKind::Loop);
    assert_eq!(desk.press("x"), []);
    assert!(desk.shows("interrupting the agent ends the run"));
    desk.settle();
    assert_eq!(desk.press("y"), [command(ControlCommand::Interrupt)]);
    let mut desk = Desk::started(RunKind::Session);
    assert_eq!(desk.press("x"), [command(ControlCommand::Interrupt)]);
}

#[test]
fn limits_are_raised_by_what_is_typed() {
    let mut desk = Desk::started(RunKind::Loop);
    desk.press("+2.50\t7\t1h30m\t100k");
    assert_eq!(
        desk.press("\n"),
        [command(ControlCommand::TopUp(TopUp {
            cost: Some(MicroUsd::new(2_500_000)),
            iterations: Some(7),
            seconds: Some(5_400),
            tokens: Some(100_000),
        }))]
    );
}

#[test]
fn a_form_without_amounts_or_with_a_wrong_one_stays_open() {
    let mut desk = Desk::started(RunKind::Loop);
    assert_eq!(desk.press("+\n"), []);
    assert!(desk.shows("at least one limit"));
    assert_eq!(desk.press("abc\n"), []);
    assert!(desk.shows("cost must be an amount in dollars"));
    assert_eq!(desk.press("\u{1b}"), []);
}

#[test]
fn a_limit_that_is_reached_has_the_cursor_and_nothing_is_typed_for_the_user() {
    let mut desk = Desk::started(RunKind::Loop);
    let usage = json!({"scope": "run", "tokens": {}, "run": {"tokens": {},
        "cost": {"micro_usd": 5_000_000, "source": "reported"}}});
    desk.agent("usage", &usage);
    let awaited = json!({"limit": "cost", "message": "$5.00 of $5.00"});
    desk.run_event("budget_awaited", &awaited);
    assert!(desk.shows("press + to raise it"));
    assert_eq!(desk.press("+\n"), []);
    assert!(desk.shows("now $5.00"));
    desk.press("10");
    assert!(desk.shows("$5.00 → $15.00"));
    let amounts = TopUp {
        cost: Some(MicroUsd::new(10_000_000)),
        ..TopUp::default()
    };
    assert_eq!(desk.press("\n"), [command(ControlCommand::TopUp(amounts))]);
}

#[test]
fn a_conversation_shows_no_limit_of_iterations() {
    let mut desk = Desk::started(RunKind::Session);
    desk.press("+");
    assert!(desk.shows("now $5.00"));
    assert!(!desk.shows("now 10"));
}

#[test]
fn a_refused_top_up_brings_the_form_back() {
    let mut desk = Desk::started(RunKind::Loop);
    let amounts = TopUp {
        iterations: Some(3),
        ..TopUp::default()
    };
    desk.press("+\t3\n");
    desk.reply(
        ControlCommand::TopUp(amounts),
        Err("the run has no such limit".to_owned()),
    );
    assert!(desk.shows("Add to the limits"));
    assert!(desk.shows("the run has no such limit"));
    assert_eq!(desk.press("\n"), [command(ControlCommand::TopUp(amounts))]);
}

#[test]
fn the_model_is_typed_into_an_empty_field() {
    let mut desk = Desk::started(RunKind::Loop);
    assert_eq!(desk.press("L\n"), []);
    assert!(desk.shows("enter the name of a model"));
    assert!(desk.shows("Now opus."));
    let sonnet = ControlCommand::SetModel {
        model: Some("sonnet".to_owned()),
    };
    assert_eq!(desk.press("sonnet\n"), [command(sonnet.clone())]);
    desk.reply(sonnet, Ok(None));
    assert!(desk.shows("asked the agent for model sonnet"));
    let default = ControlCommand::SetModel { model: None };
    assert_eq!(desk.press("Ldefault\n"), [command(default.clone())]);
    desk.reply(default, Err("not while it works".to_owned()));
    assert!(desk.shows("not while it works"));
}

#[test]
fn the_permission_mode_is_chosen_and_takes_effect_after_a_pause() {
    let mut desk = Desk::started(RunKind::Loop);
    assert_eq!(desk.press("p5"), []);
    desk.key(Key::Up);
    assert_eq!(desk.press("\n"), []);
    assert!(desk.shows("press enter once more"));
    desk.settle();
    let mode = PermissionChoice::Refuse;
    let command_sent = ControlCommand::SetPermissionMode { mode };
    assert_eq!(desk.press("\n"), [command(command_sent.clone())]);
    desk.reply(command_sent, Ok(None));
    assert!(desk.shows("run-1 Fix it.: permission mode is now refuse"));
}

#[test]
fn more_freedom_for_the_agent_is_confirmed() {
    for (key, mode, question) in [
        ("2", PermissionChoice::AcceptEdits, "edit files without asking?"),
        ("5", PermissionChoice::Bypass, "Turn permission checks off?"),
    ] {
        let mut desk = Desk::started(RunKind::Loop);
        assert_eq!(desk.press(&format!("p{key}\n\ny")), []);
        desk.settle();
        assert_eq!(desk.press("\n"), []);
        assert!(desk.shows(question));
        assert_eq!(desk.press("yy\n"), []);
        desk.settle();
        assert_eq!(
            desk.press("y"),
            [command(ControlCommand::SetPermissionMode { mode })]
        );
    }
    let mut desk = Desk::started(RunKind::Loop);
    desk.press("p5");
    desk.settle();
    desk.press("\n");
    desk.settle();
    assert_eq!(desk.press("\u{1b}"), []);
    assert!(desk.shows("> 5 bypass"));
}

#[test]
fn the_header_shows_what_the_agent_may_do() {
    let mut desk = Desk::started(RunKind::Loop);
    let changed = json!({"command_id": "c", "command": "set_permission_mode", "permission_mode": "bypass"});
    desk.run_event("command_received", &changed);
    let screen = desk.screen(60, 15);
    assert!(screen.lines().next().unwrap().contains("bypass · "), "{screen}");
    desk.press("p");
    assert!(desk.shows("now: bypass"));
}

fn queued(desk: &mut Desk, id: &str, text: &str) {
    let sent = json!({"command_id": format!("c-{id}"), "command": "send", "message_id": id, "mode": "queue",
        "text": text});
    desk.run_event("command_received", &sent);
}

#[test]
fn queued_messages_are_edited_and_withdrawn() {
    let mut desk = Desk::started(RunKind::Loop);
    queued(&mut desk, "one", "first");
    queued(&mut desk, "two", "second");
    assert_eq!(
        desk.press("Qje!\n"),
        [command(ControlCommand::EditMessage {
            message_id: "two".to_owned(),
            text: "second!".to_owned()
        })]
    );
    // The cursor stays on its message although the one before it is gone.
    desk.run_event("message_sent", &json!({"message_id": "one"}));
    desk.agent(
        "message_updated",
        &json!({"message_id": "one", "state": "completed"}),
    );
    let message_id = "two".to_owned();
    assert_eq!(
        desk.press("d"),
        [command(ControlCommand::WithdrawMessage { message_id })]
    );
}

#[test]
fn a_message_takes_no_key_for_one_that_left_the_queue() {
    let mut desk = Desk::started(RunKind::Loop);
    queued(&mut desk, "one", "first");
    queued(&mut desk, "two", "second");
    desk.press("Q");
    desk.screen(80, 24);
    desk.run_event("message_sent", &json!({"message_id": "one"}));
    desk.agent(
        "message_updated",
        &json!({"message_id": "one", "state": "completed"}),
    );
    assert_eq!(desk.press("d"), []);
    assert!(desk.shows("the selected message is gone"));
    let message_id = "two".to_owned();
    assert_eq!(
        desk.press("jd"),
        [command(ControlCommand::WithdrawMessage { message_id })]
    );
}

#[test]
fn a_message_that_was_sent_cannot_be_changed() {
    let mut desk = Desk::started(RunKind::Loop);
    queued(&mut desk, "one", "first");
    desk.run_event("message_sent", &json!({"message_id": "one"}));
    desk.press("Q");
    assert!(desk.shows("esc close") && !desk.shows("d withdraw"));
    assert_eq!(desk.press("d"), []);
    assert!(desk.shows("the agent has this message already"));
    assert_eq!(desk.press("ex\n"), []);
}

#[test]
fn a_refused_edit_of_a_message_comes_back() {
    let mut desk = Desk::started(RunKind::Loop);
    queued(&mut desk, "one", "first");
    desk.press("Qe!\n");
    let edit = ControlCommand::EditMessage {
        message_id: "one".to_owned(),
        text: "first!".to_owned(),
    };
    desk.reply(edit.clone(), Err("it was sent meanwhile".to_owned()));
    assert!(desk.shows("it was sent meanwhile"));
    assert_eq!(desk.press("\n"), [command(edit)]);
}

#[test]
fn the_help_lists_every_key_and_scrolls() {
    let mut desk = Desk::started(RunKind::Loop);
    desk.press("?");
    let all = desk.screen(100, 200);
    let keymap = Keymap::default();
    for row in Context::ALL.into_iter().flat_map(|context| keymap.rows(context)) {
        assert!(all.contains(&row.labels().join(" ")), "{:?}", row.labels());
        let words: Vec<&str> = row.binding.help.split(' ').take(4).collect();
        assert!(all.contains(&words.join(" ")), "{}", row.binding.help);
    }
    assert!(desk.screen(60, 15).contains("more ↓"));
    desk.press("G");
    desk.screen(60, 15);
    assert!(desk.screen(60, 15).contains("more ↑"));
    desk.press("q");
    assert!(!desk.shows("Keys"));
}

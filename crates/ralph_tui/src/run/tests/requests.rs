//! Answers to requests.

use ralph_run::RunKind;
use ralph_run::control::{AnswerChoice, ControlCommand, SendMode};
use serde_json::{Value, json};
use terminal_input::Key;

use super::{Desk, answer, command, granted, run_of};
use crate::effect::Effect;
use crate::input::Input;

fn deny(reason: &str) -> AnswerChoice {
    AnswerChoice::Deny {
        reason: reason.to_owned(),
    }
}

fn answers(texts: &[&str]) -> AnswerChoice {
    AnswerChoice::Answers {
        answers: texts.iter().map(ToString::to_string).collect(),
    }
}

fn colour(is_multiple: bool) -> Value {
    json!({"text": "Colour?", "is_multiple": is_multiple,
        "options": [{"label": "Blue"}, {"label": "Red", "description": "like fire"}, {"label": "Green, dark"}]})
}

#[test]
fn typed_keys_do_not_answer_before_the_request_is_armed() {
    let mut desk = Desk::started(RunKind::Loop);
    desk.ask("a");
    desk.screen(100, 40);
    assert_eq!(desk.press("yay"), []);
    assert!(!desk.shows("y once"));
    desk.wait(424);
    assert_eq!(desk.key(Key::Character('y')), []);
    desk.wait(425);
    assert!(desk.shows("y once · a always… · e edit · n deny"));
    assert_eq!(
        desk.key(Key::Character('y')),
        [answer("a", AnswerChoice::allow_once())]
    );
}

#[test]
fn somebody_who_goes_on_typing_answers_nothing() {
    let mut desk = Desk::started(RunKind::Loop);
    desk.ask("a");
    desk.screen(100, 40);
    for _ in 0..10 {
        desk.wait(370);
        assert_eq!(desk.key(Key::Character('y')), []);
    }
    desk.wait(430);
    assert_eq!(
        desk.key(Key::Character('y')),
        [answer("a", AnswerChoice::allow_once())]
    );
}

#[test]
fn a_paste_never_answers() {
    let mut desk = Desk::started(RunKind::Loop);
    desk.ask("a");
    desk.settle();
    assert_eq!(desk.key(Key::Paste("y".to_owned())), []);
    assert!(desk.shows("press m to write a message"));
    assert!(desk.shows("Allow Bash: cargo test?"));
}

#[test]
fn lasting_permissions_are_chosen_one_by_one() {
    let ask = || {
        let mut desk = Desk::started(RunKind::Loop);
        let mut grants = super::rule();
        grants.as_array_mut().unwrap().push(
            json!({"id": "mode", "kind": "mode", "destination": "session", "text": "Switch to mode acceptEdits"}),
        );
        desk.agent(
            "permission_requested",
            &json!({"request": "a", "tool": "Edit", "kind": "edit", "grants": grants}),
        );
        desk.settle();
        assert!(desk.shows("always 1: Allow Bash(cargo test:*) for this session"));
        assert!(desk.shows("always 2: MODE: Switch to mode acceptEdits"));
        assert_eq!(desk.press("a"), []);
        desk.settle();
        desk
    };
    let mut desk = ask();
    assert!(desk.shows("1 [ ] Allow Bash(cargo test:*) for this session"));
    assert_eq!(desk.press("\ny"), []);
    assert_eq!(desk.press("1"), []);
    assert!(desk.shows("1 [x] Allow Bash(cargo test:*) for this session"));
    assert!(desk.shows("2 [ ] MODE: Switch to mode acceptEdits"));
    assert_eq!(desk.press("\n"), [answer("a", granted(&["rule"]))]);
    assert_eq!(ask().press("121\n"), [answer("a", granted(&["mode"]))]);
    assert_eq!(ask().press("21\n"), [answer("a", granted(&["rule", "mode"]))]);
    // Escape goes back, and then it is allowed once.
    assert_eq!(ask().press("1\u{1b}y"), [answer("a", AnswerChoice::allow_once())]);
    assert_eq!(ask().press("1nno\n"), [answer("a", deny("no"))]);
}

#[test]
fn a_denial_has_a_reason_and_escape_goes_back() {
    let mut desk = Desk::started(RunKind::Loop);
    desk.ask("a");
    desk.settle();
    assert_eq!(desk.press("nqqX?"), []);
    assert!(desk.shows("Reason (optional)"));
    assert_eq!(desk.press("\u{1b}"), []);
    assert!(!desk.shows("Reason (optional)"));
    assert_eq!(desk.press("nnot here\n"), [answer("a", deny("not here"))]);
    let mut desk = Desk::started(RunKind::Loop);
    desk.ask("a");
    desk.settle();
    assert_eq!(
        desk.press("n\n"),
        [answer("a", deny("The user does not want this."))]
    );
}

#[test]
fn arguments_are_edited_as_json() {
    let mut desk = Desk::started(RunKind::Loop);
    desk.ask("a");
    desk.settle();
    let effects = desk.press("e");
    let [Effect::EditText { text }] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    let before: Value = serde_json::from_str(text).unwrap();
    assert_eq!(before, json!({"command": "cargo test", "timeout": 5}));
    let edited = text.replace("cargo test", "cargo test --lib");
    let input = json!({"command": "cargo test --lib", "timeout": 5});
    assert_eq!(
        desk.input(Input::Edited { text: Some(edited) }),
        [answer("a", AnswerChoice::AllowChanged { input })]
    );
}

#[test]
fn a_broken_edit_is_not_followed_by_the_original() {
    let mut desk = Desk::started(RunKind::Loop);
    desk.ask("a");
    desk.settle();
    desk.press("e");
    let text = Some("{\"command\": \"echo safe".to_owned());
    desk.input(Input::Edited { text });
    assert!(desk.shows("your edit was not used"));
    desk.settle();
    assert_eq!(desk.press("y"), []);
    assert!(desk.shows("y again to allow the ORIGINAL"));
    desk.settle();
    assert_eq!(desk.press("y"), [answer("a", AnswerChoice::allow_once())]);
}

#[test]
fn escape_puts_a_request_aside_before_it_leaves_the_run() {
    let mut desk = Desk::started(RunKind::Loop);
    desk.ask("a");
    desk.settle();
    assert_eq!(desk.press("\u{1b}"), []);
    assert!(desk.shows("tab to answer"));
    assert_eq!(desk.press("\u{1b}"), [Effect::Close]);
}

#[test]
fn arguments_that_are_not_valid_json_are_kept_for_another_try() {
    let mut desk = Desk::started(RunKind::Loop);
    desk.ask("a");
    desk.settle();
    desk.press("e");
    let broken = "{\"command\": \"cargo".to_owned();
    assert_eq!(
        desk.input(Input::Edited {
            text: Some(broken.clone())
        }),
        []
    );
    assert!(desk.shows("invalid JSON"));
    desk.settle();
    assert_eq!(desk.press("e"), [Effect::EditText { text: broken }]);
    assert_eq!(desk.input(Input::Edited { text: None }), []);
    assert!(desk.shows("nothing was changed"));
    desk.settle();
    assert_eq!(desk.press("e").len(), 1);
    assert_eq!(
        desk.input(Input::Edited {
            text: Some("[1]".to_owned())
        }),
        []
    );
    assert!(desk.shows("must be a JSON object"));
}

#[test]
fn arguments_with_a_redacted_secret_cannot_be_edited() {
    let mut desk = Desk::started(RunKind::Loop);
    desk.agent(
        "permission_requested",
        &json!({"request": "b", "tool": "Bash", "kind": "execute",
            "input": {"command": "curl -H [redacted:bearer]"}}),
    );
    desk.settle();
    assert_eq!(desk.press("e"), []);
    assert!(desk.shows("redacted secret"));
}

#[test]
fn an_edit_of_a_request_that_was_answered_elsewhere_is_not_sent() {
    let mut desk = Desk::started(RunKind::Loop);
    desk.ask("a");
    desk.settle();
    desk.press("e");
    desk.close("a", Some("the web page"));
    desk.ask("b");
    let text = Some("{\"command\": \"rm\"}".to_owned());
    assert_eq!(desk.input(Input::Edited { text }), []);
    assert!(desk.shows("your arguments were not sent: the request was answered by the web page"));
}

#[test]
fn of_more_than_nine_options_the_number_is_typed() {
    let options: Vec<Value> = (1..=12)
        .map(|number| json!({"label": format!("Option {number}")}))
        .collect();
    let ask = |is_multiple: bool| json!([{"text": "Which?", "is_multiple": is_multiple, "options": options}]);
    let mut desk = Desk::started(RunKind::Loop);
    desk.question(&ask(false));
    desk.settle();
    assert!(desk.shows("1-12 choose"));
    assert_eq!(desk.press("12"), []);
    assert!(desk.shows("Answer, or a number"));
    assert_eq!(desk.press("\n"), [answer("q", answers(&["Option 12"]))]);
    let mut desk = Desk::started(RunKind::Loop);
    desk.question(&ask(true));
    desk.settle();
    assert_eq!(
        desk.press("1,11\n"),
        [answer("q", answers(&["Option 1, Option 11"]))]
    );
}

#[test]
fn a_question_is_answered_by_number_or_in_words() {
    let mut desk = Desk::started(RunKind::Loop);
    desk.question(&json!([colour(false)]));
    desk.settle();
    assert!(desk.shows("1-3 choose · t text · n decline"));
    assert_eq!(desk.press("92"), [answer("q", answers(&["Red"]))]);
    let mut desk = Desk::started(RunKind::Loop);
    desk.question(&json!([colour(false)]));
    desk.settle();
    assert_eq!(desk.press("tmauve\n"), [answer("q", answers(&["mauve"]))]);
}

#[test]
fn several_options_can_be_chosen() {
    let mut desk = Desk::started(RunKind::Loop);
    desk.question(&json!([colour(true)]));
    desk.settle();
    assert_eq!(desk.press("\n123"), []);
    assert!(desk.shows("2 [x] Red"));
    assert_eq!(desk.press("2\n"), [answer("q", answers(&["Blue, Green, dark"]))]);
}

#[test]
fn the_next_question_is_armed_again() {
    let mut desk = Desk::started(RunKind::Loop);
    desk.question(&json!([colour(false), {"text": "Size?"}]));
    desk.settle();
    assert_eq!(desk.press("1"), []);
    assert!(desk.shows("Question 2 of 2"));
    assert_eq!(desk.press("1"), []);
    desk.settle();
    assert_eq!(desk.press("XL\n"), [answer("q", answers(&["Blue", "XL"]))]);
}

#[test]
fn a_question_without_options_can_be_put_aside() {
    let mut desk = Desk::started(RunKind::Loop);
    desk.question(&json!([{"text": "Name?"}]));
    desk.settle();
    assert_eq!(desk.press("yes\u{1b}"), []);
    assert!(desk.shows("tab to answer"));
    desk.press("\t");
    desk.settle();
    assert_eq!(desk.press(" 1\n"), [answer("q", answers(&["yes 1"]))]);
}

#[test]
fn a_plan_is_approved_or_rejected_with_a_reason() {
    for (keys, choice) in [("y", AnswerChoice::allow_once()), ("nsmaller\n", deny("smaller"))] {
        let mut desk = Desk::started(RunKind::Loop);
        desk.agent(
            "plan_proposed",
            &json!({"request": "p", "plan": "# Plan\n\n1. Do it."}),
        );
        desk.settle();
        assert!(desk.shows("y approve · n reject"));
        assert_eq!(desk.press(keys), [answer("p", choice)]);
    }
}

#[test]
fn a_draft_survives_a_request_and_keeps_the_keys() {
    let mut desk = Desk::started(RunKind::Loop);
    desk.press("mrun m");
    desk.ask("a");
    desk.wait(60_000);
    assert_eq!(desk.press("y y"), []);
    assert!(desk.shows("esc to answer (your text is kept)"));
    assert_eq!(desk.press("\u{1b}yyy"), []);
    desk.settle();
    assert_eq!(desk.press("y"), [answer("a", AnswerChoice::allow_once())]);
    desk.close("a", None);
    desk.settle();
    let text = "run my y!".to_owned();
    let mode = SendMode::Steer;
    assert_eq!(desk.press("m!\n"), [command(ControlCommand::Send { text, mode })]);
}

#[test]
fn a_request_that_is_answered_elsewhere_closes_and_says_by_whom() {
    let mut desk = Desk::started(RunKind::Loop);
    desk.ask("a");
    desk.settle();
    desk.press("nnot so ");
    desk.close("a", Some("ralph answer"));
    assert!(desk.shows("the request was answered by ralph answer"));
    // What was meant for the reason does nothing else.
    assert_eq!(desk.press("xXq\n"), []);
    assert!(!desk.shows("Stop the run?"));
    desk.settle();
    assert_eq!(desk.press("q"), [Effect::Quit]);
}

#[test]
fn the_oldest_request_is_asked_first_and_the_others_are_counted() {
    let mut desk = Desk::started(RunKind::Loop);
    desk.ask("a");
    desk.ask("b");
    desk.settle();
    assert!(desk.shows("1 more waiting"));
    assert_eq!(desk.press("y"), [answer("a", AnswerChoice::allow_once())]);
    desk.close("a", None);
    assert_eq!(desk.press("yyy"), []);
    desk.settle();
    assert_eq!(desk.press("y"), [answer("b", AnswerChoice::allow_once())]);
}

#[test]
fn a_refused_answer_can_be_given_again() {
    let mut desk = Desk::started(RunKind::Loop);
    desk.ask("a");
    desk.settle();
    let effects = desk.press("y");
    let [Effect::Command { command, .. }] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    assert!(!desk.shows("Allow Bash: "));
    desk.reply(command.clone(), Err("the agent is busy".to_owned()));
    assert!(desk.shows("Allow Bash"));
    assert!(desk.shows("refused: the agent is busy"));
    assert_eq!(desk.press("y"), []);
    desk.settle();
    assert_eq!(desk.press("y"), [answer("a", AnswerChoice::allow_once())]);
}

#[test]
fn keys_that_mean_nothing_to_a_request_still_scroll_and_search() {
    let mut desk = Desk::started(RunKind::Loop);
    desk.ask("a");
    desk.settle();
    desk.press("k/");
    assert!(run_of(&mut desk).search.is_some());
    desk.press("y\n");
    assert_eq!(desk.press("y"), []);
    desk.settle();
    assert_eq!(desk.press("y"), [answer("a", AnswerChoice::allow_once())]);
}

#[test]
fn a_request_behind_a_dialog_or_the_help_is_armed_when_it_is_seen_again() {
    for (open, close) in [("X", "n"), ("?", "q"), ("Q", "\u{1b}")] {
        let mut desk = Desk::started(RunKind::Loop);
        desk.press(open);
        desk.ask("a");
        desk.wait(5_000);
        assert_eq!(desk.press(close), [], "{open}");
        assert_eq!(desk.press("y"), [], "{open}");
        desk.settle();
        assert_eq!(
            desk.press("y"),
            [answer("a", AnswerChoice::allow_once())],
            "{open}"
        );
    }
}

#[test]
fn an_edited_transcript_answers_nothing() {
    let mut desk = Desk::started(RunKind::Loop);
    desk.ask("a");
    desk.settle();
    // The editor for the arguments could not be started.
    assert_eq!(desk.press("e").len(), 1);
    desk.input(Input::Notice("cannot start the editor".to_owned()));
    assert_eq!(desk.press("v").len(), 1);
    let text = Some("{\"command\": \"rm\"}".to_owned());
    assert_eq!(desk.input(Input::Edited { text }), []);
}

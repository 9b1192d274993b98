//! Messages, questions and who answers.

use agent_api::{Answer, Body, ItemId, PermissionRequested, RequestId, Status, StatusChanged, ToolKind};
use ralph_run::EndReason;
use ralph_run::control::{AnswerChoice, ControlCommand, RefusalCode, SendMode};
use ralph_run::machine::{Effect, Input, Plan, Timer};

use crate::play::{Play, command, done, said, says, send};

fn asks() -> Body {
    let mut asked = PermissionRequested::new(RequestId::new("r1"), "Bash", ToolKind::Execute);
    asked.item = Some(ItemId::new("toolu_1"));
    Body::PermissionRequested(Box::new(asked))
}

fn idle() -> Body {
    Body::StatusChanged(StatusChanged { status: Status::Idle })
}

#[test]
fn an_idle_agent_leaves_unless_somebody_has_more_to_say() {
    let mut play = Play::begin(Plan::default());
    assert_eq!(play.step(send("later", SendMode::Queue)), []);
    assert_eq!(play.event(idle()), said("later"));
    assert!(play.event(idle()).contains(&Effect::CloseInput));
}

#[test]
fn a_steering_message_goes_out_at_once() {
    let mut play = Play::begin(Plan::default());
    let effects = play.step(send("now", SendMode::Steer));
    assert_eq!(effects, said("now"));
}

#[test]
fn nobody_answers_and_the_agent_is_told_to_decide() {
    let mut play = Play::begin(Plan::default());
    let asked = play.event(asks());
    let timer = Timer::Ask(RequestId::new("r1"));
    assert!(matches!(asked.as_slice(), [Effect::Arm(armed, _)] if *armed == timer));
    let effects = play.step(Input::Timer(timer));
    assert!(effects.iter().any(|effect| matches!(
        effect,
        Effect::Answer { answer: Answer::Deny { reason }, .. } if reason.contains("Decide for yourself")
    )));
}

#[test]
fn a_persons_no_is_no_denial() {
    let mut play = Play::begin(Plan::default());
    play.event(asks());
    play.step(command(ControlCommand::Answer {
        request: RequestId::new("r1"),
        answer: AnswerChoice::Deny {
            reason: "no".to_owned(),
        },
    }));
    let denied = Body::PermissionDenied(Box::new(agent_api::Denial {
        item: Some(ItemId::new("toolu_1")),
        tool: "Bash".to_owned(),
        reason: None,
    }));
    assert_eq!(play.event(denied), []);
    play.ends(done());
    assert_eq!(play.end(), Some(EndReason::Completed));
}

#[test]
fn a_late_timer_of_an_answered_request_does_nothing() {
    let mut play = Play::begin(Plan::default());
    play.event(asks());
    play.event(Body::RequestClosed(agent_api::RequestClosed {
        request: RequestId::new("r1"),
        reason: agent_api::CloseReason::Answered,
    }));
    assert_eq!(play.step(Input::Timer(Timer::Ask(RequestId::new("r1")))), []);
    play.ends(says("x"));
}

#[test]
fn a_message_that_nobody_got_is_told_at_the_end() {
    let mut play = Play::begin(Plan::default());
    play.step(send("later", SendMode::Queue));
    let effects = play.ends(done());
    assert!(effects.iter().any(|effect| matches!(
        effect,
        Effect::Record(body) if matches!(&**body, ralph_run::RunBody::Warned(warned) if warned.message.contains("1 queued"))
    )));
}

#[test]
fn an_agent_whose_input_has_ended_takes_no_messages() {
    let mut play = Play::begin(Plan::default());
    assert!(play.machine.takes_messages());
    play.event(idle());
    assert!(!play.machine.takes_messages());
}

#[test]
fn without_a_timeout_a_request_stays_open() {
    let mut play = Play::begin(Plan {
        ask_timeout: None,
        ..Plan::default()
    });
    assert_eq!(play.event(asks()), []);
    assert_eq!(play.machine.requests().len(), 1);
}

#[test]
fn a_second_answer_is_refused_before_the_agent_has_taken_the_first() {
    let mut play = Play::begin(Plan::default());
    play.event(asks());
    let allow = || ControlCommand::Answer {
        request: RequestId::new("r1"),
        answer: AnswerChoice::allow_once(),
    };
    assert!(play.machine.accept(&allow()).is_ok());
    play.step(command(allow()));
    let refusal = play.machine.accept(&allow()).unwrap_err();
    assert_eq!(refusal.code, RefusalCode::AlreadyAnswered);
    assert_eq!(play.step(command(allow())), [], "and would do nothing");
    // An answer that the agent refuses can be given again, and its time starts again.
    let effects = play.event(Body::CommandAnswered(agent_api::CommandAnswered {
        command_id: "r1".to_owned(),
        error: Some("no such option".to_owned()),
    }));
    assert!(
        matches!(effects.as_slice(), [Effect::Arm(Timer::Ask(_), _)]),
        "{effects:?}"
    );
    assert!(play.machine.accept(&allow()).is_ok());
}

#[test]
fn commands_are_refused_with_their_reason() {
    let code =
        |play: &Play, command: ControlCommand| play.machine.accept(&command).map_err(|refusal| refusal.code);
    let message = |text: &str| ControlCommand::Send {
        text: text.to_owned(),
        mode: SendMode::Queue,
    };
    let withdraw = |id: &str| ControlCommand::WithdrawMessage {
        message_id: id.to_owned(),
    };
    let mut play = Play::begin(Plan::default());
    assert_eq!(code(&play, message(" \n")), Err(RefusalCode::Invalid));
    assert_eq!(code(&play, ControlCommand::Status), Err(RefusalCode::Invalid));
    assert_eq!(
        code(&play, ControlCommand::CloseInput),
        Err(RefusalCode::Unsupported)
    );
    assert_eq!(code(&play, withdraw("a")), Err(RefusalCode::NoSuchMessage));
    play.step(send("a", SendMode::Queue));
    assert_eq!(code(&play, withdraw("a")), Ok(None));
    play.event(idle());
    assert_eq!(code(&play, withdraw("a")), Err(RefusalCode::AlreadySent));
    for number in 0..1_000 {
        play.step(send(&number.to_string(), SendMode::Queue));
    }
    assert_eq!(code(&play, message("more")), Err(RefusalCode::Busy));
    play.step(command(ControlCommand::Stop));
    assert_eq!(code(&play, message("late")), Err(RefusalCode::InputClosed));
    let deaf = Play::begin(Plan {
        takes_messages: false,
        ..Plan::default()
    });
    assert_eq!(code(&deaf, message("x")), Err(RefusalCode::Unsupported));
}

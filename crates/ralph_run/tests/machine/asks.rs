//! Messages, questions and who answers.

use agent_api::{Answer, Body, ItemId, PermissionRequested, RequestId, Status, StatusChanged, ToolKind};
use ralph_run::EndReason;
use ralph_run::machine::{Effect, Input, Plan, RunCommand, SendMode, Timer};

use crate::play::{Play, done, said, says};

fn asks() -> Body {
    Body::PermissionRequested(Box::new(PermissionRequested {
        request: RequestId::new("r1"),
        item: Some(ItemId::new("toolu_1")),
        tool: "Bash".to_owned(),
        kind: ToolKind::Execute,
        subject: None,
        description: None,
        input: None,
        suggestions: None,
    }))
}

fn idle() -> Body {
    Body::StatusChanged(StatusChanged { status: Status::Idle })
}

fn send(text: &str, mode: SendMode) -> Input<'static> {
    Input::Command(RunCommand::Send {
        id: text.to_owned(),
        text: text.to_owned(),
        mode,
    })
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
        Effect::Answer { answer: Answer::Deny { reason }, .. } if reason.contains("decide yourself")
    )));
}

#[test]
fn a_persons_no_is_no_denial() {
    let mut play = Play::begin(Plan::default());
    play.event(asks());
    play.step(Input::Command(RunCommand::Answer {
        request: RequestId::new("r1"),
        answer: Answer::Deny {
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

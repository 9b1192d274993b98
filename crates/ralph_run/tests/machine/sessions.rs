//! A conversation instead of a loop.

use std::time::Duration;

use agent_api::{
    Body, Denial, ErrorClass, Limit, MessageState, MessageUpdated, Outcome, SessionChoice, Status,
    StatusChanged, TurnFinished, TurnStarted,
};
use ralph_run::control::{ControlCommand, SendMode};
use ralph_run::machine::{
    AttemptReport, ConversationPlan, Effect, Input, LoopPlan, MessagePlace, Plan, Signal, SpawnPrompt, Timer,
    WorkPlan,
};
use ralph_run::{BudgetLimits, EndReason, LimitKind, RunBody};

use crate::play::{Play, command, fails, report, said, send, usage, with_max_cost};

const IDLE: Duration = Duration::from_secs(1800);

fn plan(has_prompt: bool) -> Plan {
    Plan {
        work: WorkPlan::Conversation(ConversationPlan {
            has_prompt,
            idle_timeout: Some(IDLE),
            can_resume: true,
        }),
        ..Plan::default()
    }
}

fn idle() -> Body {
    Body::StatusChanged(StatusChanged { status: Status::Idle })
}

fn turn(outcome: Outcome) -> Body {
    Body::TurnFinished(Box::new(TurnFinished::new(1, outcome)))
}

impl Play {
    /// The agent works on something, from its beginning to its end.
    fn turn(&mut self, outcome: Outcome) -> Vec<Effect> {
        self.event(Body::TurnStarted(TurnStarted { number: 1 }));
        let mut effects = self.event(turn(outcome));
        effects.extend(self.event(idle()));
        effects
    }

    fn is_awaiting(&self) -> bool {
        matches!(self.effects.iter().rev().find(|effect| matches!(effect, Effect::Record(_))),
            Some(Effect::Record(body)) if matches!(**body, RunBody::MessageAwaited(_)))
    }
}

fn spawned_with(effects: &[Effect]) -> Option<(SessionChoice, Option<String>)> {
    effects.iter().find_map(|effect| match effect {
        Effect::Spawn { session, prompt, .. } => {
            let message = match prompt {
                SpawnPrompt::Message(message) => Some(message.text.clone()),
                SpawnPrompt::Task | SpawnPrompt::Iteration { .. } => None,
            };
            Some((session.clone(), message))
        }
        _ => None,
    })
}

#[test]
fn each_message_is_a_turn_and_the_process_stays_in_between() {
    let mut play = Play::begin(plan(true));
    let effects = play.turn(Outcome::Succeeded);
    assert!(effects.contains(&Effect::Arm(Timer::Idle, IDLE)));
    assert!(play.machine.is_idle() && play.machine.takes_messages());
    for mode in [SendMode::Queue, SendMode::Steer] {
        let effects = play.step(send("more", mode));
        assert!(effects.ends_with(&said("more")), "{effects:?}");
        assert!(effects.contains(&Effect::Disarm(Timer::Idle)));
        assert!(!play.machine.is_idle());
        play.turn(Outcome::Succeeded);
    }
    assert_eq!(play.spawned().len(), 1);
    assert_eq!(play.end(), None);
}

#[test]
fn without_a_prompt_the_first_message_starts_the_agent() {
    let mut play = Play::begin(plan(false));
    assert!(play.is_awaiting() && play.machine.is_idle());
    assert_eq!(play.spawned(), []);
    let effects = play.step(send("hello", SendMode::Steer));
    let begun = Some((SessionChoice::New, Some("hello".to_owned())));
    assert_eq!(spawned_with(&effects), begun);
    assert_eq!(play.machine.place_of("hello"), MessagePlace::Sent);
}

#[test]
fn an_interrupt_ends_the_turn_and_the_next_message_goes_on() {
    let mut play = Play::begin(plan(true));
    play.event(Body::TurnStarted(TurnStarted { number: 1 }));
    let effects = play.step(command(ControlCommand::Interrupt));
    assert_eq!(effects[0], Effect::Interrupt);
    assert_eq!(
        play.step(command(ControlCommand::Interrupt)),
        [],
        "once is enough"
    );
    let effects = play.event(turn(Outcome::Interrupted));
    assert!(effects.contains(&Effect::Disarm(Timer::Grace)));
    play.event(idle());
    assert!(play.machine.is_idle());
    assert_eq!(
        play.step(command(ControlCommand::Interrupt)),
        [],
        "nothing goes on"
    );
    assert!(
        play.step(send("go on", SendMode::Steer))
            .ends_with(&said("go on"))
    );
    assert_eq!(play.end(), None);
}

#[test]
fn an_agent_that_ignores_an_interrupt_is_stopped_and_resumed_by_the_next_message() {
    let mut play = Play::begin(plan(true));
    play.step(command(ControlCommand::Interrupt));
    assert_eq!(play.step(Input::Timer(Timer::Grace)), [Effect::Stop]);
    play.event(session("s1"));
    play.ends(report(Outcome::Cancelled));
    assert!(play.is_awaiting());
    let effects = play.step(send("again", SendMode::Queue));
    let resumed = Some((SessionChoice::Resume("s1".to_owned()), Some("again".to_owned())));
    assert_eq!(spawned_with(&effects), resumed);
}

fn session(id: &str) -> Body {
    Body::SessionStarted(Box::new(agent_api::SessionStarted {
        session_id: Some(id.to_owned()),
        ..Default::default()
    }))
}

#[test]
fn a_turn_that_fails_does_not_end_the_session() {
    let mut play = Play::begin(plan(true));
    for outcome in [
        Outcome::Failed,
        Outcome::Refused,
        Outcome::LimitReached(Limit::Tokens),
        Outcome::Failed,
        Outcome::Failed,
    ] {
        play.turn(outcome);
        assert!(play.machine.is_idle(), "{outcome:?}");
        play.step(send("again", SendMode::Steer));
    }
    assert_eq!(play.end(), None);
}

#[test]
fn what_is_not_allowed_does_not_end_it_either() {
    let mut play = Play::begin(plan(true));
    let denial = Denial {
        item: None,
        tool: "Bash".to_owned(),
        reason: None,
    };
    assert_eq!(play.event(Body::PermissionDenied(Box::new(denial))), []);
}

#[test]
fn a_process_that_dies_is_started_once_more_by_the_next_message() {
    let mut play = Play::begin(plan(true));
    play.event(session("s1"));
    play.ends(report(Outcome::Crashed));
    assert!(play.is_awaiting() && play.spawned().len() == 1);
    let effects = play.step(send("again", SendMode::Steer));
    assert!(matches!(spawned_with(&effects), Some((SessionChoice::Resume(id), _)) if id == "s1"));
    // A turn that ends well makes good for it.
    play.turn(Outcome::Succeeded);
    play.ends(report(Outcome::Crashed));
    play.step(send("and again", SendMode::Steer));
    play.ends(report(Outcome::NoResult));
    assert_eq!(play.end(), Some(EndReason::Crashed));
}

#[test]
fn a_dead_agent_that_nobody_speaks_to_any_more_has_crashed() {
    for last in [Input::Timer(Timer::Idle), command(ControlCommand::Stop)] {
        let mut play = Play::begin(plan(true));
        play.ends(report(Outcome::Crashed));
        play.step(last);
        assert_eq!(play.end(), Some(EndReason::Crashed));
    }
}

#[test]
fn a_conversation_that_cannot_be_resumed_ends_with_its_process() {
    for (outcome, reason) in [
        (Outcome::Crashed, EndReason::Crashed),
        (Outcome::Succeeded, EndReason::Completed),
    ] {
        let mut plan = plan(true);
        plan.work = WorkPlan::Conversation(ConversationPlan {
            has_prompt: true,
            idle_timeout: None,
            can_resume: false,
        });
        let mut play = Play::begin(plan);
        play.ends(report(outcome));
        assert_eq!(play.end(), Some(reason));
    }
}

#[test]
fn an_agent_that_does_not_even_begin_ends_it() {
    for (class, reason) in [
        (ErrorClass::Auth, EndReason::NotLoggedIn),
        (ErrorClass::Config, EndReason::AgentError),
    ] {
        let mut play = Play::begin(plan(true));
        play.ends(AttemptReport {
            session_id: None,
            ..fails(class)
        });
        assert_eq!(play.end(), Some(reason));
    }
}

#[test]
fn a_person_who_ends_an_idle_session_has_completed_it() {
    for last in [
        command(ControlCommand::Stop),
        command(ControlCommand::CloseInput),
        Input::Signal(Signal::Interrupt),
    ] {
        let mut play = Play::begin(plan(true));
        play.turn(Outcome::Succeeded);
        let effects = play.step(last);
        assert!(effects.contains(&Effect::CloseInput) && !effects.contains(&Effect::Stop));
        assert!(!play.machine.takes_messages());
        play.ends(report(Outcome::Succeeded));
        assert_eq!(play.end(), Some(EndReason::Completed));
    }
    let mut play = Play::begin(plan(false));
    play.step(command(ControlCommand::Stop));
    assert_eq!(play.end(), Some(EndReason::Completed));
}

#[test]
fn a_session_that_is_stopped_in_the_midst_of_a_turn_is_stopped() {
    let mut play = Play::begin(plan(true));
    play.event(Body::TurnStarted(TurnStarted { number: 1 }));
    assert!(play.step(command(ControlCommand::Stop)).contains(&Effect::Stop));
    play.ends(report(Outcome::Cancelled));
    assert_eq!(play.end(), Some(EndReason::Stopped));
}

#[test]
fn ctrl_c_ends_the_turn_and_the_second_one_the_run() {
    let mut play = Play::begin(plan(true));
    play.event(Body::TurnStarted(TurnStarted { number: 1 }));
    let effects = play.step(Input::Signal(Signal::Interrupt));
    assert!(effects.contains(&Effect::Interrupt));
    let effects = play.step(Input::Signal(Signal::Interrupt));
    assert!(effects.contains(&Effect::Kill));
    play.ends(report(Outcome::Cancelled));
    assert_eq!(play.end(), Some(EndReason::Interrupted));
}

#[test]
fn a_conversation_without_messages_ends_and_says_why() {
    let mut play = Play::begin(plan(true));
    play.event(session("s1"));
    assert_eq!(play.step(Input::Timer(Timer::Idle)), [], "a turn is no silence");
    play.turn(Outcome::Succeeded);
    assert!(play.step(Input::Timer(Timer::Idle)).contains(&Effect::CloseInput));
    play.ends(report(Outcome::Succeeded));
    assert_eq!(play.end(), Some(EndReason::Completed));
    let message = play.ended().unwrap().message.as_deref();
    assert_eq!(message, Some("no message came within the idle timeout"));
}

/// A conversation that may cost 5 micro-dollars.
fn limited(has_prompt: bool) -> Plan {
    Plan {
        limits: BudgetLimits {
            cost: Some(agent_api::MicroUsd::new(5)),
            ..BudgetLimits::default()
        },
        ..plan(has_prompt)
    }
}

#[test]
fn limits_hold_in_every_state() {
    let limit = EndReason::Limit(LimitKind::Cost);
    let mut spent = limited(false);
    spent.spent_before = agent_api::MicroUsd::new(5);
    assert_eq!(Play::begin(spent).end(), Some(limit));
    let mut idle_one = Play::begin(limited(true));
    idle_one.turn(Outcome::Succeeded);
    let effects = idle_one.costs(5);
    assert!(effects.contains(&Effect::CloseInput) && !effects.contains(&Effect::Interrupt));
    idle_one.ends(report(Outcome::Succeeded));
    assert_eq!(idle_one.end(), Some(limit));
    let mut busy = Play::begin(limited(true));
    assert!(busy.costs(5).contains(&Effect::Interrupt));
    assert!(busy.turn(Outcome::Interrupted).contains(&Effect::CloseInput));
    busy.ends(report(Outcome::Interrupted));
    assert_eq!(busy.end(), Some(limit));
    let mut late = Play::begin(limited(true));
    late.turn(Outcome::Succeeded);
    late.ends(AttemptReport {
        usage: Some(usage(5)),
        ..report(Outcome::Succeeded)
    });
    assert_eq!(late.end(), Some(limit));
    let mut turns = Play::begin(plan(true));
    turns.turn(Outcome::LimitReached(Limit::Turns));
    turns.ends(report(Outcome::Succeeded));
    assert_eq!(turns.end(), Some(EndReason::Limit(LimitKind::Turns)));
}

#[test]
fn queued_messages_go_in_one_by_one_and_the_last_one_may_be_followed_by_the_end() {
    let mut play = Play::begin(plan(true));
    for text in ["a", "b", "c"] {
        assert_eq!(play.step(send(text, SendMode::Queue)), []);
    }
    play.step(command(ControlCommand::EditMessage {
        message_id: "b".to_owned(),
        text: "B".to_owned(),
    }));
    play.step(command(ControlCommand::WithdrawMessage {
        message_id: "c".to_owned(),
    }));
    play.step(command(ControlCommand::CloseInput));
    assert!(play.turn(Outcome::Succeeded).ends_with(&said("a")));
    assert_eq!(play.machine.place_of("a"), MessagePlace::Sent);
    assert_eq!(play.machine.place_of("b"), MessagePlace::Waiting);
    assert_eq!(play.machine.place_of("c"), MessagePlace::Unknown);
    let effects = play.turn(Outcome::Succeeded);
    assert!(matches!(effects.last(), Some(Effect::Say { id, text }) if id == "b" && text == "B"));
    assert!(play.turn(Outcome::Succeeded).contains(&Effect::CloseInput));
    play.ends(report(Outcome::Succeeded));
    assert_eq!(play.end(), Some(EndReason::Completed));
}

#[test]
fn a_queued_message_survives_the_death_of_the_process() {
    let mut play = Play::begin(plan(true));
    play.event(session("s1"));
    play.step(send("later", SendMode::Queue));
    let effects = play.ends(report(Outcome::Crashed));
    let resumed = Some((SessionChoice::Resume("s1".to_owned()), Some("later".to_owned())));
    assert_eq!(spawned_with(&effects), resumed);
}

#[test]
fn an_agent_that_was_idle_before_it_saw_the_message_is_not_idle() {
    let mut play = Play::begin(plan(true));
    play.turn(Outcome::Succeeded);
    play.step(send("more", SendMode::Steer));
    assert_eq!(play.event(idle()), [], "that was before the message");
    assert!(!play.machine.is_idle());
    play.event(Body::MessageUpdated(MessageUpdated {
        message_id: "more".to_owned(),
        state: MessageState::Started,
    }));
    play.turn(Outcome::Succeeded);
    assert!(play.machine.is_idle());
}

#[test]
fn a_loop_that_is_being_ended_loses_no_queued_message_unseen() {
    let mut play = Play::begin(with_max_cost(5, LoopPlan::default()));
    play.step(send("later", SendMode::Queue));
    play.costs(5);
    play.event(idle());
    play.ends(report(Outcome::Interrupted));
    let warned = play.effects.iter().any(|effect| match effect {
        Effect::Record(body) => {
            matches!(&**body, RunBody::Warned(warned) if warned.message.starts_with("1 queued"))
        }
        _ => false,
    });
    assert!(warned, "{:?}", play.effects);
}

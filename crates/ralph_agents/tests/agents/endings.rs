//! What the end of a run means where a turn, a night or a long run makes it unclear.

use agent_api::MicroUsd;
use ralph_agents::{Desired, MAX_FAILURES, ProcessStatus, RunOutcome};
use ralph_run::model::{RunState, WaitingFor};
use ralph_run::{EndReason, LimitKind};

use crate::world::{World, agent, round};

fn conversation() -> ralph_agents::Agent {
    let mut conversation = agent("a");
    conversation.accepts_input = true;
    conversation
}

#[tokio::test]
async fn a_conversation_that_was_paused_continues_its_session() {
    let world = World::with([conversation()]);
    let mut reconciler = world.reconciler();
    round(&mut reconciler, &world).await;
    let first = world.live("a").unwrap();
    world.change("a", |agent| agent.desired = Desired::Paused);
    round(&mut reconciler, &world).await;
    round(&mut reconciler, &world).await;
    assert_eq!(world.state("a").last_outcome, Some(RunOutcome::Paused));
    world.change("a", |agent| agent.start());
    round(&mut reconciler, &world).await;
    let second = world.live("a").expect("it is started again");
    assert_eq!(world.lock().runs[&second].resumes.as_ref(), Some(&first));
}

#[tokio::test]
async fn a_conversation_at_the_limit_of_the_day_continues_on_the_next() {
    let mut costly = conversation();
    costly.limits_per_day.cost = Some(MicroUsd::new(1_000));
    let world = World::with([costly]);
    let mut reconciler = world.reconciler();
    round(&mut reconciler, &world).await;
    world.set_live("a", |live| live.cost = MicroUsd::new(1_000));
    round(&mut reconciler, &world).await;
    round(&mut reconciler, &world).await;
    assert_eq!(world.state("a").last_outcome, Some(RunOutcome::DailyLimit));
    world.wait(12 * 3_600);
    round(&mut reconciler, &world).await;
    assert!(world.live("a").is_some());
}

#[tokio::test]
async fn work_that_fails_after_a_long_time_is_not_tried_for_ever() {
    let world = World::with([agent("a")]);
    let mut reconciler = world.reconciler();
    for _ in 0..10 {
        round(&mut reconciler, &world).await;
        world.wait(601);
        round(&mut reconciler, &world).await;
        if world.live("a").is_some() {
            world.end("a", EndReason::VerifyFailed);
        }
        round(&mut reconciler, &world).await;
        world.wait(301);
    }
    assert_eq!(world.lock().starts, MAX_FAILURES);
    assert_eq!(world.state("a").process_status, ProcessStatus::Error);
    world.check();
}

#[tokio::test]
async fn a_limit_of_the_day_that_is_reached_after_midnight_does_not_end_the_work() {
    let mut costly = agent("a");
    costly.limits_per_day.cost = Some(MicroUsd::new(1_500));
    let world = World::with([costly]);
    let mut reconciler = world.reconciler();
    round(&mut reconciler, &world).await;
    world.end("a", EndReason::Lost);
    round(&mut reconciler, &world).await;
    world.wait(11 * 3_600);
    round(&mut reconciler, &world).await;
    assert!(world.live("a").is_some());
    // What was left of the first day is used up on the second one.
    world.wait(2 * 3_600);
    world.end("a", EndReason::Limit(LimitKind::Cost));
    round(&mut reconciler, &world).await;
    assert_eq!(world.state("a").last_outcome, Some(RunOutcome::DailyLimit));
    round(&mut reconciler, &world).await;
    assert!(world.live("a").is_some(), "the new day has money left");
}

#[tokio::test]
async fn a_first_run_that_waits_for_the_usage_limit_holds_agents_that_name_its_backend() {
    let mut other = agent("b");
    other.backend = Some("one".to_owned());
    other.desired = Desired::Stopped;
    let world = World::with([agent("a"), other]);
    let mut reconciler = world.reconciler();
    round(&mut reconciler, &world).await;
    let until = world.now() + jiff::SignedDuration::from_hours(1);
    world.set_live("a", |live| {
        live.state = RunState::Waiting {
            what: WaitingFor::Limit { until },
        };
    });
    world.change("b", |agent| agent.start());
    round(&mut reconciler, &world).await;
    assert_eq!(world.live("b"), None);
}

#[tokio::test]
async fn a_reboot_while_a_run_waits_for_the_usage_limit_keeps_the_hold() {
    let world = World::with([agent("a"), agent("b")]);
    for name in ["a", "b"] {
        world.change(name, |agent| agent.backend = Some("one".to_owned()));
    }
    world.change("b", |agent| agent.desired = Desired::Stopped);
    let mut reconciler = world.reconciler();
    round(&mut reconciler, &world).await;
    let first = world.live("a").unwrap();
    let reset = world.now() + jiff::SignedDuration::from_hours(1);
    world.lock().end(&first, EndReason::Lost, Some(reset));
    world.change("b", |agent| agent.start());
    round(&mut reconciler, &world).await;
    world.wait(60);
    round(&mut reconciler, &world).await;
    assert_eq!(world.lock().starts, 1);
    assert_eq!(world.state("a").failures, 0);
    world.wait(3_600);
    round(&mut reconciler, &world).await;
    let second = world.live("a").unwrap();
    assert_eq!(world.lock().runs[&second].resumes.as_ref(), Some(&first));
    assert!(world.live("b").is_some());
}

//! What the reconciler does with one or a few agents.

use agent_api::MicroUsd;
use ralph_agents::{Action, Desired, MAX_FAILURES, ProcessStatus, RunOutcome, StartFailureKind, StoreError};
use ralph_run::model::{RunState, WaitingFor};
use ralph_run::{EndReason, LimitKind};

use crate::world::{World, agent, round};

#[tokio::test]
async fn an_agent_works_on_its_prompt_once_and_is_idle_then() {
    let world = World::with([agent("a")]);
    let mut reconciler = world.reconciler();
    round(&mut reconciler, &world).await;
    assert_eq!(world.state("a").process_status, ProcessStatus::Running);
    world.end("a", EndReason::Completed);
    for _ in 0..5 {
        world.wait(600);
        round(&mut reconciler, &world).await;
    }
    let state = world.state("a");
    assert_eq!((state.process_status, state.failures), (ProcessStatus::Exited, 0));
    assert_eq!(world.lock().starts, 1);
    world.change("a", |agent| agent.start());
    round(&mut reconciler, &world).await;
    assert_eq!(world.lock().starts, 2, "a person asked for it again");
}

#[tokio::test]
async fn a_run_whose_runner_died_is_resumed_after_a_second() {
    let world = World::with([agent("a")]);
    let mut reconciler = world.reconciler();
    round(&mut reconciler, &world).await;
    let first = world.live("a").unwrap();
    world.end("a", EndReason::Lost);
    let report = round(&mut reconciler, &world).await;
    assert!(matches!(
        report.decisions[0].action,
        Action::Wait { until: Some(_) }
    ));
    world.wait(2);
    round(&mut reconciler, &world).await;
    let second = world.live("a").unwrap();
    let inner = world.lock();
    let run = &inner.runs[&second];
    assert_eq!(run.resumes.as_ref(), Some(&first));
    assert!(run.prompt.starts_with("You were interrupted") && run.prompt.ends_with("Do it."));
}

#[tokio::test]
async fn five_failures_in_a_row_are_an_error_that_a_person_clears() {
    let world = World::with([agent("a")]);
    let mut reconciler = world.reconciler();
    for _ in 0..20 {
        round(&mut reconciler, &world).await;
        if world.live("a").is_some() {
            world.end("a", EndReason::AgentError);
        }
        world.wait(301);
    }
    assert_eq!(world.lock().starts, MAX_FAILURES);
    assert_eq!(world.state("a").process_status, ProcessStatus::Error);
    let report = round(&mut reconciler, &world).await;
    assert!(
        report.decisions[0].reason.contains("`ralph agents start a`"),
        "{report:?}"
    );
    world.change("a", |agent| agent.start());
    round(&mut reconciler, &world).await;
    assert_eq!(
        world.state("a").failures,
        1,
        "the new attempt is the only one that counts"
    );
    world.end("a", EndReason::Completed);
    round(&mut reconciler, &world).await;
    assert_eq!(world.state("a").process_status, ProcessStatus::Exited);
}

#[tokio::test]
async fn failures_are_taken_back_by_a_run_that_works_long_enough() {
    let world = World::with([agent("a")]);
    let mut reconciler = world.reconciler();
    for _ in 0..2 {
        round(&mut reconciler, &world).await;
        world.end("a", EndReason::Lost);
        round(&mut reconciler, &world).await;
        world.wait(60);
    }
    round(&mut reconciler, &world).await;
    assert_eq!(world.state("a").failures, 3);
    world.wait(601);
    round(&mut reconciler, &world).await;
    assert_eq!(world.state("a").failures, 0);
    world.end("a", EndReason::Lost);
    round(&mut reconciler, &world).await;
    assert_eq!(
        world.state("a").failures,
        1,
        "the next failure is the first one again"
    );
    world.check();
}

#[tokio::test]
async fn what_only_a_person_can_correct_is_not_tried_again() {
    for reason in [
        EndReason::NotLoggedIn,
        EndReason::NoCredit,
        EndReason::ModelNotFound,
    ] {
        let world = World::with([agent("a")]);
        let mut reconciler = world.reconciler();
        for _ in 0..5 {
            round(&mut reconciler, &world).await;
            if world.live("a").is_some() {
                world.end("a", reason);
            }
            world.wait(301);
        }
        assert_eq!(world.lock().starts, 1, "{reason:?}");
        assert_eq!(world.state("a").process_status, ProcessStatus::Error);
    }
}

#[tokio::test]
async fn a_pause_waits_for_the_end_of_the_turn_and_resumes_the_session() {
    let world = World::with([agent("a")]);
    let mut reconciler = world.reconciler();
    round(&mut reconciler, &world).await;
    let first = world.live("a").unwrap();
    world.change("a", |agent| agent.desired = Desired::Paused);
    for _ in 0..3 {
        round(&mut reconciler, &world).await;
        assert!(world.live("a").is_some(), "the agent is still in its turn");
    }
    world.set_live("a", |live| live.state = RunState::Verifying);
    round(&mut reconciler, &world).await;
    round(&mut reconciler, &world).await;
    let state = world.state("a");
    assert_eq!(state.last_outcome, Some(RunOutcome::Paused));
    assert_eq!(
        (state.failures, state.process_status),
        (0, ProcessStatus::Stopped)
    );
    world.change("a", |agent| agent.start());
    round(&mut reconciler, &world).await;
    let second = world.live("a").unwrap();
    assert_eq!(world.lock().runs[&second].resumes.as_ref(), Some(&first));
}

#[tokio::test]
async fn a_stop_ends_the_run_at_once_and_gives_its_work_up() {
    let world = World::with([agent("a")]);
    let mut reconciler = world.reconciler();
    round(&mut reconciler, &world).await;
    world.change("a", |agent| agent.desired = Desired::Stopped);
    round(&mut reconciler, &world).await;
    assert_eq!(world.live("a"), None);
    round(&mut reconciler, &world).await;
    assert_eq!(world.state("a").last_outcome, Some(RunOutcome::Stopped));
    world.change("a", |agent| agent.start());
    round(&mut reconciler, &world).await;
    let again = world.live("a").unwrap();
    assert_eq!(world.lock().runs[&again].resumes, None, "it begins again");
}

#[tokio::test]
async fn a_run_that_a_person_stopped_is_not_started_again() {
    let world = World::with([agent("a")]);
    let mut reconciler = world.reconciler();
    round(&mut reconciler, &world).await;
    world.end("a", EndReason::Stopped);
    for _ in 0..3 {
        world.wait(600);
        round(&mut reconciler, &world).await;
    }
    assert_eq!(world.lock().starts, 1);
}

#[tokio::test]
async fn the_usage_limit_of_one_run_holds_every_agent_of_the_account() {
    let names: Vec<String> = (0..20).map(|index| format!("a{index}")).collect();
    let world = World::with(names.iter().map(|name| agent(name)));
    world.change("a0", |agent| agent.account = Some("other".to_owned()));
    // So that the accounts are known before the first run.
    for name in &names {
        world.change(name, |agent| {
            agent.backend = Some("one".to_owned());
            agent.desired = Desired::Stopped;
        });
    }
    world.change("a1", |agent| agent.desired = Desired::Active);
    let mut reconciler = world.reconciler();
    round(&mut reconciler, &world).await;
    let until = world.now() + jiff::SignedDuration::from_hours(1);
    world.set_live("a1", |live| {
        live.state = RunState::Waiting {
            what: WaitingFor::Limit { until },
        };
    });
    for name in &names[2..] {
        world.change(name, |agent| agent.desired = Desired::Active);
    }
    world.change("a0", |agent| agent.desired = Desired::Active);
    round(&mut reconciler, &world).await;
    assert_eq!(world.lock().starts, 2, "only the agent of the other account");
    world.wait(3_599);
    round(&mut reconciler, &world).await;
    assert_eq!(world.lock().starts, 2);
    world.wait(2);
    round(&mut reconciler, &world).await;
    let woken = world.lock().starts - 2;
    assert!(woken < 10, "they wake one after the other, not {woken} at once");
    world.wait(60);
    round(&mut reconciler, &world).await;
    assert_eq!(world.lock().starts, 20);
    assert!(names.iter().all(|name| world.state(name).failures <= 1));
}

#[tokio::test]
async fn a_run_that_gave_up_at_the_usage_limit_counts_as_no_attempt() {
    let world = World::with([agent("a")]);
    let mut reconciler = world.reconciler();
    for _ in 0..8 {
        round(&mut reconciler, &world).await;
        world.end("a", EndReason::Limit(LimitKind::Usage));
        round(&mut reconciler, &world).await;
        assert_eq!(world.state("a").failures, 0);
        world.wait(15 * 60 + 1);
    }
    assert_eq!(world.lock().starts, 8);
}

#[tokio::test]
async fn the_cost_limit_of_a_day_ends_with_the_day() {
    let mut costly = agent("a");
    costly.limits_per_day.cost = Some(MicroUsd::new(1_000));
    let world = World::with([costly]);
    let mut reconciler = world.reconciler();
    round(&mut reconciler, &world).await;
    world.end("a", EndReason::Limit(LimitKind::Cost));
    let report = round(&mut reconciler, &world).await;
    assert_eq!(world.state("a").last_outcome, Some(RunOutcome::DailyLimit));
    let midnight = "2026-01-02T00:00:00Z".parse().unwrap();
    assert_eq!(
        report.decisions[0].action,
        Action::Wait {
            until: Some(midnight)
        },
        "{report:?}"
    );
    world.wait(12 * 3_600);
    round(&mut reconciler, &world).await;
    assert!(world.live("a").is_some(), "it continues on the next day");
}

#[tokio::test]
async fn a_live_run_that_reaches_the_limit_of_the_day_is_paused() {
    let mut costly = agent("a");
    costly.limits_per_day.cost = Some(MicroUsd::new(1_000));
    let world = World::with([costly]);
    let mut reconciler = world.reconciler();
    round(&mut reconciler, &world).await;
    world.set_live("a", |live| live.cost = MicroUsd::new(2_000));
    round(&mut reconciler, &world).await;
    assert!(world.live("a").is_some());
    world.set_live("a", |live| live.iteration = 2);
    round(&mut reconciler, &world).await;
    round(&mut reconciler, &world).await;
    assert_eq!(world.state("a").last_outcome, Some(RunOutcome::DailyLimit));
    assert_eq!(world.state("a").failures, 0);
}

#[tokio::test]
async fn a_new_reconciler_adopts_live_runs() {
    let world = World::with((0..50).map(|index| agent(&format!("a{index}"))));
    let mut first = world.reconciler();
    for _ in 0..10 {
        round(&mut first, &world).await;
    }
    assert_eq!(world.lock().starts, 50);
    drop(first);
    let mut second = world.reconciler();
    let report = round(&mut second, &world).await;
    let adopted = report
        .decisions
        .iter()
        .filter(|decision| matches!(decision.action, Action::Adopt { .. }))
        .count();
    assert_eq!(adopted, 50);
    let report = round(&mut second, &world).await;
    assert!(report.is_settled(), "{report:?}");
    assert_eq!(world.lock().starts, 50, "none is started twice");
    world.check();
}

#[tokio::test]
async fn a_second_reconciler_is_refused() {
    let world = World::with([agent("a")]);
    let _first = world.reconciler();
    let now = world.now();
    let second = ralph_agents::Reconciler::open(
        world.clone(),
        world.clone(),
        std::sync::Arc::new(ralph_agents::NoWork),
        now,
    );
    assert!(matches!(second.err(), Some(StoreError::Locked(_))));
}

#[tokio::test]
async fn a_stop_that_comes_while_a_start_waits_bars_it() {
    let world = World::with([agent("a")]);
    let racing = RacingStorage { world: world.clone() };
    let mut raced = ralph_agents::Reconciler::open(
        racing,
        world.clone(),
        std::sync::Arc::new(ralph_agents::NoWork),
        world.now(),
    )
    .unwrap();
    raced.round(world.now()).await.unwrap();
    assert_eq!(world.lock().starts, 0);
    let state = world.state("a");
    assert_eq!(
        (state.failures, state.today.runs),
        (0, 0),
        "it counts as no attempt"
    );
}

#[tokio::test]
async fn nothing_is_started_that_cannot_be_recorded() {
    let world = World::with([agent("a")]);
    world.lock().is_disk_full = true;
    let mut reconciler = world.reconciler();
    for _ in 0..3 {
        let report = round(&mut reconciler, &world).await;
        assert_eq!(report.problems.len(), 1, "{report:?}");
    }
    assert_eq!(world.lock().starts, 0);
    world.lock().is_disk_full = false;
    round(&mut reconciler, &world).await;
    assert_eq!(world.lock().starts, 1);
}

#[tokio::test]
async fn an_agent_is_stopped_even_if_the_disk_is_full() {
    let world = World::with([agent("a")]);
    let mut reconciler = world.reconciler();
    round(&mut reconciler, &world).await;
    world.lock().is_disk_full = true;
    world.change("a", |agent| agent.desired = Desired::Stopped);
    round(&mut reconciler, &world).await;
    assert_eq!(world.live("a"), None);
}

#[tokio::test]
async fn a_workspace_in_use_is_waited_for_and_counts_as_no_attempt() {
    let world = World::with([agent("a")]);
    let name = "a".parse().unwrap();
    world.lock().refused.insert(name, StartFailureKind::Busy);
    let mut reconciler = world.reconciler();
    for _ in 0..3_600 {
        round(&mut reconciler, &world).await;
        world.wait(1);
    }
    let tries = world.lock().journals.values().flatten().count() / 2;
    assert!((12..20).contains(&tries), "{tries} in an hour");
    assert_eq!(world.state("a").failures, 0);
    world.lock().refused.clear();
    world.wait(300);
    round(&mut reconciler, &world).await;
    assert_eq!(world.lock().starts, 1);
}

#[tokio::test]
async fn two_agents_of_one_workspace_work_one_after_the_other() {
    let mut second = agent("b");
    second.workspace = agent("a").workspace;
    let world = World::with([agent("a"), second]);
    let mut reconciler = world.reconciler();
    let report = round(&mut reconciler, &world).await;
    assert_eq!(report.decisions[1].reason, "agent a works in its workspace");
    assert_eq!(world.lock().starts, 1);
    world.end("a", EndReason::Completed);
    round(&mut reconciler, &world).await;
    assert!(world.live("b").is_some());
    world.check();
}

#[tokio::test]
async fn a_fleet_without_work_starts_nothing() {
    let idle = (0..100).map(|index| {
        let mut idle = agent(&format!("a{index}"));
        idle.prompt = None;
        idle
    });
    let world = World::with(idle);
    let mut reconciler = world.reconciler();
    for _ in 0..60 {
        let report = round(&mut reconciler, &world).await;
        assert!(report.is_settled());
        world.wait(60);
    }
    assert_eq!(world.lock().starts, 0);
    assert!(world.lock().journals.is_empty(), "and writes nothing");
}

/// A person stops every agent just before the last look of the reconciler.
struct RacingStorage {
    world: World,
}

impl ralph_agents::Storage for RacingStorage {
    type Lock = crate::world::WorldLock;

    fn lock(&self, now: jiff::Timestamp) -> Result<Self::Lock, StoreError> {
        ralph_agents::Storage::lock(&self.world, now)
    }

    fn agents(&mut self) -> Result<Vec<ralph_agents::LoadedAgent>, StoreError> {
        self.world.agents()
    }

    fn reader(&self) -> ralph_agents::ReadAgent {
        let world = self.world.clone();
        std::sync::Arc::new(move |name| {
            world.change(name.as_str(), |agent| agent.desired = Desired::Stopped);
            Ok(world.lock().agents.get(name).cloned())
        })
    }

    fn state(&self, name: &ralph_agents::AgentName) -> Result<ralph_agents::AgentState, StoreError> {
        ralph_agents::Storage::state(&self.world, name)
    }

    fn append(
        &mut self,
        name: &ralph_agents::AgentName,
        record: &ralph_agents::AgentRecord,
        durability: ralph_run::Durability,
    ) -> Result<(), StoreError> {
        self.world.append(name, record, durability)
    }
}

//! What holds for all journals and all plans.

use std::collections::{HashMap, HashSet};

use agent_api::MicroUsd;
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_oneof, proptest};
use proptest::{collection, option};
use ralph_agents::{
    Action, Agent, AgentEvent, AgentObservation, AgentRecord, AgentState, Desired, MAX_RECONCILE_FAILURES,
    Observed, Offer, RunConclusion, RunOutcome, RunPhase, StartCount, StartFailureKind, Work, plan,
};

use crate::world::agent;

fn run() -> impl Strategy<Value = String> {
    (0..4_u8).prop_map(|run| format!("run-{run}"))
}

fn task() -> impl Strategy<Value = Option<String>> {
    option::of((0..3_u8).prop_map(|task| format!("t{task}")))
}

fn outcome() -> impl Strategy<Value = RunOutcome> {
    prop_oneof![
        Just(RunOutcome::Finished),
        Just(RunOutcome::Interrupted),
        Just(RunOutcome::Failed),
        Just(RunOutcome::NeedsPerson),
        Just(RunOutcome::Paused),
        Just(RunOutcome::Stopped),
        Just(RunOutcome::UsageLimit),
        Just(RunOutcome::DailyLimit),
    ]
}

fn failure_kind() -> impl Strategy<Value = StartFailureKind> {
    prop_oneof![
        Just(StartFailureKind::Busy),
        Just(StartFailureKind::Barred),
        Just(StartFailureKind::NeedsPerson),
        Just(StartFailureKind::Other),
    ]
}

fn event() -> impl Strategy<Value = AgentEvent> {
    let counted = (run(), 0..3_u64, task()).prop_map(|(run, start_number, task)| {
        AgentEvent::StartCounted(StartCount {
            run,
            start_number,
            task,
            resumes: None,
            why: String::new(),
        })
    });
    let ended = (run(), outcome(), option::of(0..100_u32)).prop_map(|(run, outcome, limit)| {
        AgentEvent::RunEnded(RunConclusion {
            run,
            outcome,
            reason: None,
            message: None,
            cost: MicroUsd::new(10),
            session_id: limit.map(|limit| format!("session-{limit}")),
            backend: None,
            limit_until: limit.map(|limit| Timestamp::UNIX_EPOCH + SignedDuration::from_secs(limit.into())),
        })
    });
    let failed = (run(), failure_kind()).prop_map(|(run, kind)| AgentEvent::StartFailed {
        run,
        kind,
        message: "no".to_owned(),
    });
    prop_oneof![
        4 => counted,
        2 => run().prop_map(|run| AgentEvent::Started { run }),
        3 => ended,
        2 => failed,
        1 => run().prop_map(|run| AgentEvent::Adopted { run }),
        1 => run().prop_map(|run| AgentEvent::PauseRequested { run, iteration: 1 }),
        1 => run().prop_map(|run| AgentEvent::StopRequested { run }),
        1 => run().prop_map(|run| AgentEvent::Recovered { run }),
        1 => Just(AgentEvent::ReconcileFailed { message: "no".to_owned() }),
        1 => Just(AgentEvent::Unknown),
    ]
}

fn journal() -> impl Strategy<Value = Vec<AgentRecord>> {
    let record = (event(), -50..200_i64).prop_map(|(event, seconds)| AgentRecord {
        at: Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds),
        event,
    });
    collection::vec(record, 0..40)
}

fn fold(journal: &[AgentRecord]) -> AgentState {
    let mut state = AgentState::default();
    for record in journal {
        state.apply(record);
    }
    state
}

fn wishes() -> impl Strategy<Value = (Desired, u64, u8, bool)> {
    let desired =
        prop_oneof![3 => Just(Desired::Active), 1 => Just(Desired::Paused), 1 => Just(Desired::Stopped)];
    (desired, 1..4_u64, 0..4_u8, any::<bool>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_journal_is_read_back_as_it_was_written(journal in journal()) {
        let text: Vec<String> = journal.iter().map(|record| serde_json::to_string(record).unwrap()).collect();
        let read: Vec<AgentRecord> = text.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(read, journal);
        let state = fold(&journal);
        assert!(state.reconcile_failures.len() <= MAX_RECONCILE_FAILURES);
    }

    #[test]
    fn no_plan_starts_two_runs_for_an_agent_a_task_or_a_workspace(
        fleet in collection::vec((journal(), wishes()), 1..12),
        seconds in -100..400_i64,
    ) {
        let now = Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds);
        let states: Vec<AgentState> = fleet.iter().map(|(journal, _)| fold(journal)).collect();
        let mut agents: Vec<Agent> = Vec::new();
        let mut observed = Observed { agents: HashMap::new(), offers: HashMap::new() };
        for (index, (state, (_, wish))) in states.iter().zip(&fleet).enumerate() {
            let (desired, start_number, place, has_prompt) = *wish;
            let mut one = agent(&format!("a{index}"));
            one.desired = desired;
            one.start_number = start_number;
            one.workspace = format!("/w/{place}").into();
            if !has_prompt {
                one.prompt = None;
            }
            let offer = Offer { task: format!("t{place}"), title: "Do it".to_owned() };
            observed.offers.insert(one.name.clone(), offer);
            let phase = state.run.as_ref().map(|_| RunPhase::Starting);
            let seen = AgentObservation { state, phase, is_busy: false, is_adopted: false };
            observed.agents.insert(one.name.clone(), seen);
            agents.push(one);
        }
        let decisions = plan(&agents, &observed, now);
        assert_eq!(decisions.len(), agents.len());
        let (mut tasks, mut workspaces) = (HashSet::new(), HashSet::new());
        for (state, agent) in states.iter().zip(&agents) {
            if state.run.is_some() && state.current_task.is_none() {
                workspaces.insert(agent.workspace.clone());
            }
        }
        for ((decision, agent), state) in decisions.iter().zip(&agents).zip(&states) {
            assert_eq!(decision.agent, agent.name);
            assert!(!decision.reason.is_empty());
            if let Action::Start(start) = &decision.action {
                assert_eq!(agent.desired, Desired::Active);
                assert!(state.run.is_none(), "it has a run");
                match &start.work {
                    Work::Task(task) if state.current_task.as_ref() != Some(task) => {
                        assert!(tasks.insert(task.clone()), "task {task} is given to two");
                        let is_claimed = states.iter().any(|other| other.current_task.as_ref() == Some(task));
                        assert!(!is_claimed, "task {task} has an agent");
                    }
                    Work::Task(_) => {}
                    Work::Prompt => assert!(workspaces.insert(agent.workspace.clone()), "a workspace is given to two"),
                }
            }
            if let Action::Wait { until: Some(until) } = decision.action {
                assert!(until > now, "a wait that is over");
            }
        }
    }
}

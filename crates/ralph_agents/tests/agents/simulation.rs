//! A thousand agents and ten thousand faults: whatever happens, an agent has one run at most, and three rounds after the
//! last fault everything is as it is wanted.

use std::collections::HashMap;

use jiff::SignedDuration;
use ralph_agents::{
    AgentEvent, AgentState, Desired, MAX_FAILURES, ProcessStatus, Reconciler, RunOutcome, RunPhase,
    StartFailureKind,
};
use ralph_run::{EndReason, LimitKind};

use crate::world::{World, WorldReconciler, agent, round};

const AGENTS: u64 = 1_000;
const BURSTS: u64 = 100;
const FAULTS_IN_A_BURST: u64 = 100;

/// The same numbers in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) % limit
    }
}

struct Simulation {
    world: World,
    reconciler: Option<WorldReconciler>,
    random: Random,
}

impl Simulation {
    fn name(&mut self) -> String {
        format!("a{}", self.random.below(AGENTS))
    }

    fn live_run(&mut self) -> Option<String> {
        let live = self.world.lock().live_runs();
        let index = self.random.below(live.len().max(1) as u64);
        live.into_iter().nth(usize::try_from(index).unwrap())
    }

    fn end_one(&mut self, reason: EndReason) {
        if let Some(run) = self.live_run() {
            let until = match reason {
                EndReason::Limit(LimitKind::Usage) => Some(self.world.now() + SignedDuration::from_secs(200)),
                _ => None,
            };
            self.world.lock().end(&run, reason, until);
        }
    }

    fn restart_reconciler(&mut self) {
        self.reconciler = None;
        self.reconciler = Some(self.world.reconciler());
    }

    async fn fault(&mut self) {
        match self.random.below(100) {
            0..25 => self.end_one(EndReason::Lost),
            25..30 => self.end_one(EndReason::Completed),
            30..40 => self.end_one(EndReason::AgentError),
            40..45 => self.end_one(EndReason::Limit(LimitKind::Usage)),
            45 => {
                let live = self.world.lock().live_runs();
                for run in live {
                    self.world.lock().end(&run, EndReason::Lost, None);
                }
                self.restart_reconciler();
            }
            46 => self.restart_reconciler(),
            47 => {
                let jump = self.random.below(2 * 86_400).cast_signed() - 86_400;
                self.world.wait(jump);
                // The vendor's clock does not jump: its limit resets as long from now as before.
                let mut inner = self.world.lock();
                inner.limited_until = inner
                    .limited_until
                    .map(|until| until + SignedDuration::from_secs(jump));
            }
            48..50 => self.world.lock().is_disk_full = true,
            50..55 => {
                let second = Reconciler::open(
                    self.world.clone(),
                    self.world.clone(),
                    std::sync::Arc::new(ralph_agents::NoWork),
                    self.world.now(),
                );
                assert!(second.is_err(), "there is one reconciler");
            }
            55..57 => {
                let until = self.world.now() + SignedDuration::from_secs(200);
                self.world.lock().limited_until = Some(until);
            }
            57..62 => {
                let name = self.name().parse().unwrap();
                let kinds = [StartFailureKind::Busy, StartFailureKind::Other];
                let kind = kinds[usize::try_from(self.random.below(2)).unwrap()];
                self.world.lock().refused.insert(name, kind);
            }
            62..65 => {
                // The directory of a run that has ended is removed before its end is recorded.
                let mut inner = self.world.lock();
                let ended = inner
                    .runs
                    .iter()
                    .find(|(_, run)| matches!(run.phase, RunPhase::Ended(_)));
                let id = ended.map(|(id, _)| id.clone());
                id.and_then(|id| inner.runs.remove(&id));
            }
            65..75 => {
                let name = self.name();
                self.world.change(&name, |agent| agent.start());
            }
            75..90 => {
                let name = self.name();
                let wishes = [
                    Desired::Active,
                    Desired::Active,
                    Desired::Paused,
                    Desired::Stopped,
                ];
                let wish = wishes[usize::try_from(self.random.below(4)).unwrap()];
                self.world.change(&name, |agent| agent.desired = wish);
            }
            90..95 => self.cut_off_round().await,
            _ => self.round().await,
        }
    }

    async fn round(&mut self) {
        round(self.reconciler.as_mut().unwrap(), &self.world).await;
    }

    /// The reconciler is killed in the middle of a round.
    async fn cut_off_round(&mut self) {
        let steps = self.random.below(30);
        let world = self.world.clone();
        let reconciler = self.reconciler.as_mut().unwrap();
        tokio::select! {
            biased;
            _ = round(reconciler, &world) => {}
            () = yields(steps) => {}
        }
        self.restart_reconciler();
    }

    /// Nothing goes wrong any more, turns end, and three rounds follow.
    async fn settle(&mut self) {
        {
            let mut inner = self.world.lock();
            inner.is_disk_full = false;
            inner.limited_until = None;
            inner.refused.clear();
        }
        for _ in 0..3 {
            self.round().await;
            for run in self.world.lock().runs.values_mut() {
                if let RunPhase::Live(live) = &mut run.phase {
                    live.iteration += 1;
                }
            }
            // Longer than any delay between attempts, and than a limit with the staggered wake after it.
            self.world.wait(601);
        }
        self.world.check();
        // Their ends are recorded.
        self.world
            .lock()
            .runs
            .retain(|_, run| !matches!(run.phase, RunPhase::Ended(_)));
        let agents = self.world.lock().agents.clone();
        let live_runs = self.world.lock().runs.clone();
        let live_runs: HashMap<_, _> = live_runs.iter().map(|(id, run)| (&run.agent, id)).collect();
        for (name, agent) in agents {
            let state = self.world.state(name.as_str());
            let live = live_runs.get(&name).map(|id| (*id).clone());
            let is_as_wanted = match agent.desired {
                Desired::Active => {
                    live.is_some()
                        || state.closed_start == agent.start_number
                        || state.process_status == ProcessStatus::Error
                }
                Desired::Paused | Desired::Stopped => live.is_none(),
            };
            assert!(
                is_as_wanted,
                "{name} is to be {}: {live:?}, {state:?}",
                agent.desired
            );
            assert_eq!(live, state.run.map(|run| run.id), "{name}");
        }
    }
}

async fn yields(count: u64) {
    for _ in 0..count {
        tokio::task::yield_now().await;
    }
}

/// How often each outcome was recorded; a limit must leave the count of failures as it was.
fn check_journals(world: &World) -> (u32, u32) {
    let (mut limits, mut failures) = (0, 0);
    for records in world.lock().journals.values() {
        let mut state = AgentState::default();
        let mut before = 0;
        for record in records {
            if let AgentEvent::StartCounted(count) = &record.event {
                before = state.failures_for(count.start_number);
            }
            state.apply(record);
            assert!(state.failures <= MAX_FAILURES);
            if let AgentEvent::RunEnded(ended) = &record.event {
                match ended.outcome {
                    RunOutcome::UsageLimit => {
                        limits += 1;
                        assert!(
                            state.failures == before || state.failures == 0,
                            "a limit burned an attempt"
                        );
                    }
                    outcome if outcome.is_failure() => failures += 1,
                    _ => {}
                }
            }
        }
    }
    (limits, failures)
}

#[tokio::test]
async fn a_fleet_survives_ten_thousand_faults() {
    let world = World::with((0..AGENTS).map(|index| agent(&format!("a{index}"))));
    let mut simulation = Simulation {
        reconciler: Some(world.reconciler()),
        world,
        random: Random(0x9e37_79b9_7f4a_7c15),
    };
    simulation.settle().await;
    for _ in 0..BURSTS {
        for _ in 0..FAULTS_IN_A_BURST {
            simulation.fault().await;
        }
        simulation.settle().await;
        // People look at what has failed and is done.
        for agent in simulation.world.lock().agents.values_mut() {
            if simulation.random.below(10) == 0 {
                agent.start();
            }
        }
    }
    let (limits, failures) = check_journals(&simulation.world);
    assert!(
        limits > 100 && failures > 1_000,
        "{limits} limits, {failures} failures"
    );
}

//! Workers that take tasks, with a backlog in memory.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use ralph_agents::{
    Agent, AgentName, Claimed, Desired, MAX_FAILURES, Offer, Reconciler, WorkEnding, WorkError, WorkSource,
};
use ralph_run::EndReason;

use crate::world::{World, WorldReconciler, agent, round};

/// Tasks by their ids: who has them, and how they ended.
#[derive(Default)]
struct Backlog {
    tasks: Mutex<BTreeMap<String, Task>>,
}

#[derive(Default)]
struct Task {
    holder: Option<AgentName>,
    claims: u32,
    endings: Vec<WorkEnding>,
    fails_to_release: bool,
    /// Somebody else takes it between the offer and the claim.
    is_taken_late: bool,
}

impl Backlog {
    fn with(tasks: &[&str]) -> Arc<Self> {
        let tasks = tasks.iter().map(|task| ((*task).to_owned(), Task::default()));
        Arc::new(Self {
            tasks: Mutex::new(tasks.collect()),
        })
    }

    fn endings(&self, task: &str) -> Vec<WorkEnding> {
        self.tasks.lock().unwrap()[task].endings.clone()
    }
}

fn is_open(task: &Task) -> bool {
    task.holder.is_none() && !task.endings.contains(&WorkEnding::Finished)
}

#[async_trait]
impl WorkSource for Backlog {
    async fn offers(&self, idle: &[&Agent]) -> Result<Vec<(usize, Offer)>, WorkError> {
        let tasks = self.tasks.lock().unwrap();
        let open = tasks.iter().filter(|(_, task)| is_open(task));
        let offer = |(index, (id, _)): (usize, (&String, &Task))| {
            let task = id.clone();
            let title = format!("Do {id}");
            (index, Offer { task, title })
        };
        Ok(open.enumerate().map(offer).take(idle.len()).collect())
    }

    async fn claim(&self, task: &str, agent: &Agent, run: &str) -> Result<Claimed, WorkError> {
        let mut tasks = self.tasks.lock().unwrap();
        let found = tasks.get_mut(task).unwrap();
        if found.is_taken_late || found.holder.as_ref().is_some_and(|holder| *holder != agent.name) {
            let message = format!("task {task} is taken");
            return Err(WorkError { message });
        }
        found.holder = Some(agent.name.clone());
        found.claims += 1;
        Ok(Claimed {
            prompt: format!("Do {task} as {run}."),
            workspace: Some(format!("/worktrees/{task}").into()),
        })
    }

    async fn release(&self, task: &str, agent: &Agent, ending: WorkEnding) -> Result<(), WorkError> {
        let mut tasks = self.tasks.lock().unwrap();
        let found = tasks.get_mut(task).unwrap();
        if found.fails_to_release {
            let message = "the disk is full".to_owned();
            return Err(WorkError { message });
        }
        if found.holder.as_ref() == Some(&agent.name) {
            found.holder = None;
            found.endings.push(ending);
        }
        Ok(())
    }
}

/// A worker without a prompt. All share one workspace: each task has a worktree.
fn worker(name: &str) -> Agent {
    let mut worker = agent(name);
    worker.prompt = None;
    worker.workspace = "/w".into();
    worker
}

fn reconciler(world: &World, backlog: &Arc<Backlog>) -> WorldReconciler {
    Reconciler::open(world.clone(), world.clone(), backlog.clone(), world.now()).unwrap()
}

#[tokio::test]
async fn every_task_is_done_once_by_one_worker() {
    let tasks: Vec<String> = (0..30).map(|index| format!("t{index:02}")).collect();
    let backlog = Backlog::with(&tasks.iter().map(String::as_str).collect::<Vec<_>>());
    let world = World::with((0..5).map(|index| worker(&format!("w{index}"))));
    let mut reconciler = reconciler(&world, &backlog);
    for _ in 0..30 {
        round(&mut reconciler, &world).await;
        let live = world.lock().live_runs();
        for run in live {
            world.lock().end(&run, EndReason::Completed, None);
        }
        world.wait(1);
    }
    for task in &tasks {
        assert_eq!(backlog.endings(task), [WorkEnding::Finished], "{task}");
        assert_eq!(backlog.tasks.lock().unwrap()[task].claims, 1);
    }
    assert_eq!(world.lock().starts, 30);
    world.check();
}

#[tokio::test]
async fn a_worker_whose_runner_died_keeps_its_task_and_continues_it() {
    let backlog = Backlog::with(&["t"]);
    let world = World::with([worker("a"), worker("b")]);
    let mut reconciler = reconciler(&world, &backlog);
    round(&mut reconciler, &world).await;
    let first = world.live("a").unwrap();
    world.end("a", EndReason::Lost);
    round(&mut reconciler, &world).await;
    world.wait(2);
    round(&mut reconciler, &world).await;
    let second = world.live("a").unwrap();
    assert_eq!(world.lock().runs[&second].resumes.as_ref(), Some(&first));
    assert_eq!(world.live("b"), None);
    assert_eq!(world.state("a").current_task.as_deref(), Some("t"));
    world.end("a", EndReason::Completed);
    round(&mut reconciler, &world).await;
    assert_eq!(backlog.endings("t"), [WorkEnding::Finished]);
}

#[tokio::test]
async fn a_task_is_given_back_when_its_worker_is_stopped() {
    let backlog = Backlog::with(&["t"]);
    let world = World::with([worker("a")]);
    let mut reconciler = reconciler(&world, &backlog);
    round(&mut reconciler, &world).await;
    world.change("a", |agent| agent.desired = Desired::Stopped);
    for _ in 0..2 {
        round(&mut reconciler, &world).await;
    }
    assert_eq!(backlog.endings("t"), [WorkEnding::GivenUp]);
    assert_eq!(world.state("a").current_task, None);
}

#[tokio::test]
async fn a_paused_worker_keeps_its_task_until_it_is_stopped() {
    let backlog = Backlog::with(&["t"]);
    let world = World::with([worker("a")]);
    let mut reconciler = reconciler(&world, &backlog);
    round(&mut reconciler, &world).await;
    world.change("a", |agent| agent.desired = Desired::Paused);
    round(&mut reconciler, &world).await;
    world.set_live("a", |live| live.iteration = 2);
    for _ in 0..3 {
        round(&mut reconciler, &world).await;
    }
    assert_eq!(world.state("a").current_task.as_deref(), Some("t"));
    world.change("a", |agent| agent.desired = Desired::Stopped);
    round(&mut reconciler, &world).await;
    assert_eq!(backlog.endings("t"), [WorkEnding::GivenUp]);
}

#[tokio::test]
async fn a_task_that_cannot_be_given_back_keeps_its_worker_from_the_next() {
    let backlog = Backlog::with(&["t", "u"]);
    let world = World::with([worker("a")]);
    let mut reconciler = reconciler(&world, &backlog);
    round(&mut reconciler, &world).await;
    backlog
        .tasks
        .lock()
        .unwrap()
        .get_mut("t")
        .unwrap()
        .fails_to_release = true;
    world.end("a", EndReason::Completed);
    for _ in 0..10 {
        round(&mut reconciler, &world).await;
        world.wait(1);
    }
    assert_eq!(world.lock().starts, 1);
    assert_eq!(world.state("a").reconcile_failures.len(), 1, "said once a minute");
    backlog
        .tasks
        .lock()
        .unwrap()
        .get_mut("t")
        .unwrap()
        .fails_to_release = false;
    round(&mut reconciler, &world).await;
    assert_eq!(world.state("a").current_task.as_deref(), Some("u"));
}

#[tokio::test]
async fn a_task_that_another_took_first_is_asked_for_again_a_little_later() {
    let backlog = Backlog::with(&["t"]);
    let world = World::with([worker("a")]);
    backlog.tasks.lock().unwrap().get_mut("t").unwrap().is_taken_late = true;
    let mut reconciler = reconciler(&world, &backlog);
    for _ in 0..5 {
        round(&mut reconciler, &world).await;
        world.wait(1);
    }
    let state = world.state("a");
    assert_eq!((world.lock().starts, state.failures), (0, 0));
    let records = world.lock().journals["a"].len();
    assert_eq!(records, 3, "counted, failed, given back: not again and again");
    backlog.tasks.lock().unwrap().get_mut("t").unwrap().is_taken_late = false;
    world.wait(10);
    round(&mut reconciler, &world).await;
    assert_eq!(world.lock().starts, 1);
}

#[tokio::test]
async fn a_worker_that_is_cut_off_too_often_gives_its_task_back_as_failed() {
    let backlog = Backlog::with(&["t"]);
    let world = World::with([worker("a")]);
    let mut reconciler = reconciler(&world, &backlog);
    for _ in 0..MAX_FAILURES {
        round(&mut reconciler, &world).await;
        world.end("a", EndReason::Lost);
        round(&mut reconciler, &world).await;
        world.wait(301);
    }
    round(&mut reconciler, &world).await;
    assert_eq!(backlog.endings("t"), [WorkEnding::Failed]);
    assert_eq!(world.lock().starts, MAX_FAILURES);
}

//! `Actions`: starts and stops that are under way. They run in parallel and outlive the round that decided them, so that
//! a slow start never delays a stop.

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use agent_api::MicroUsd;
use tokio::sync::Semaphore;
use tokio::task::{Id, JoinSet};
use tokio::time::{Instant, timeout_at};

use crate::agent::{Agent, Desired};
use crate::name::AgentName;
use crate::plan::StartPlan;
use crate::runs::{Runs, StartFailure, StartFailureKind, StartOrder};
use crate::store::ReadAgent;
use crate::work::{Work, WorkSource};

/// Runners that are started at the same time; each looks up its agent and writes its first files.
pub const MAX_PARALLEL_STARTS: usize = 8;

/// Before the prompt of a run that continues a session.
const RESUME_NOTE: &str =
    "You were interrupted before this was done. Look at what is there already, then continue.\n\n";

/// The result of an action.
#[derive(Debug)]
pub(super) enum Finished {
    Started {
        run: String,
    },
    NotStarted {
        run: String,
        failure: StartFailure,
    },
    Asked {
        run: String,
        result: Result<(), String>,
    },
    /// The next round finds out what became of the run.
    Panicked,
}

/// What a start needs.
pub(super) struct PlannedStart {
    pub(super) agent: Agent,
    pub(super) run: String,
    pub(super) plan: StartPlan,
    pub(super) max_cost: Option<MicroUsd>,
}

pub(super) struct Actions<R> {
    runs: Arc<R>,
    work: Arc<dyn WorkSource>,
    read_agent: ReadAgent,
    permits: Arc<Semaphore>,
    under_way: JoinSet<Finished>,
    /// Whose actions they are.
    names: HashMap<Id, AgentName>,
}

impl<R: Runs> Actions<R> {
    pub(super) fn new(runs: Arc<R>, work: Arc<dyn WorkSource>, read_agent: ReadAgent) -> Self {
        Self {
            runs,
            work,
            read_agent,
            permits: Arc::new(Semaphore::new(MAX_PARALLEL_STARTS)),
            under_way: JoinSet::new(),
            names: HashMap::new(),
        }
    }

    pub(super) fn start(&mut self, start: PlannedStart) {
        let (runs, work) = (self.runs.clone(), self.work.clone());
        let (read_agent, permits) = (self.read_agent.clone(), self.permits.clone());
        self.spawn(start.agent.name.clone(), async move {
            // Never closed.
            let _permit = permits.acquire().await;
            let run = start.run.clone();
            let started = match bar(&read_agent, &start.agent) {
                None => perform(&*runs, &*work, start).await,
                Some(failure) => Err(failure),
            };
            match started {
                Ok(()) => Finished::Started { run },
                Err(failure) => Finished::NotStarted { run, failure },
            }
        });
    }

    fn spawn(&mut self, name: AgentName, action: impl Future<Output = Finished> + Send + 'static) {
        let id = self.under_way.spawn(action).id();
        self.names.insert(id, name);
    }

    pub(super) fn stop(&mut self, name: AgentName, run: String) {
        let runs = self.runs.clone();
        self.spawn(name, async move {
            let result = runs.stop(&run).await;
            Finished::Asked { run, result }
        });
    }

    pub(super) fn close_input(&mut self, name: AgentName, run: String) {
        let runs = self.runs.clone();
        self.spawn(name, async move {
            let result = runs.close_input(&run).await;
            Finished::Asked { run, result }
        });
    }

    /// The results so far, after waiting for more of them at most until the deadline.
    pub(super) async fn collect(&mut self, patience: Duration) -> Vec<(AgentName, Finished)> {
        let mut finished = Vec::new();
        let deadline = Instant::now() + patience;
        while let Ok(Some(one)) = timeout_at(deadline, self.next_or_none()).await {
            finished.push(one);
        }
        finished
    }

    /// Resolves when an action has finished; never if there is none.
    pub(super) async fn next(&mut self) -> (AgentName, Finished) {
        match self.next_or_none().await {
            Some(finished) => finished,
            None => std::future::pending().await,
        }
    }

    /// Resolves when an action has finished, with `None` if there is none.
    pub(super) async fn next_or_none(&mut self) -> Option<(AgentName, Finished)> {
        let (id, finished) = match self.under_way.join_next_with_id().await? {
            Ok((id, finished)) => (id, finished),
            Err(error) => {
                tracing::error!(%error, "an action has failed");
                (error.id(), Finished::Panicked)
            }
        };
        Some((self.names.remove(&id)?, finished))
    }
}

/// A last look before the start: whoever paused, stopped, restarted or deleted the agent meanwhile comes first.
fn bar(read_agent: &ReadAgent, planned: &Agent) -> Option<StartFailure> {
    let message = match read_agent(&planned.name) {
        Ok(Some(agent)) if agent.id != planned.id => "the agent was re-created".to_owned(),
        Ok(Some(agent)) if agent.desired != Desired::Active => {
            format!("the agent was {} before it could start", agent.desired)
        }
        Ok(Some(agent)) if agent.start_number != planned.start_number => {
            "its work was asked for again".to_owned()
        }
        Ok(Some(_)) => return None,
        Ok(None) => "the agent was deleted before it could start".to_owned(),
        Err(error) => error.to_string(),
    };
    Some(StartFailure {
        kind: StartFailureKind::Barred,
        message,
    })
}

async fn perform(runs: &impl Runs, work: &dyn WorkSource, start: PlannedStart) -> Result<(), StartFailure> {
    let PlannedStart {
        agent,
        run,
        plan,
        max_cost,
    } = start;
    let (prompt, workspace) = match &plan.work {
        Work::Prompt => (agent.prompt.clone().unwrap_or_default(), None),
        Work::Task(task) => {
            let claimed = work
                .claim(task, &agent, &run)
                .await
                .map_err(|error| StartFailure {
                    kind: StartFailureKind::Busy,
                    message: error.message,
                })?;
            (claimed.prompt, claimed.workspace)
        }
    };
    let note = plan.resumes.as_ref().map_or("", |_| RESUME_NOTE);
    let order = StartOrder {
        run,
        prompt: format!("{note}{prompt}"),
        workspace: workspace.unwrap_or_else(|| agent.workspace.clone()),
        resumes: plan.resumes,
        max_cost,
        agent,
    };
    runs.start(&order).await
}

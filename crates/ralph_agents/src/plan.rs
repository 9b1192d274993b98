//! `plan`: decides what to do with every agent, and why. A pure function: the same arguments give the same decisions.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::Duration;

use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

use crate::agent::{Agent, Desired};
use crate::backoff::{MAX_FAILURES, retry_delay, wait_until};
use crate::name::AgentName;
use crate::runs::{LiveRun, RunPhase};
use crate::state::{ActiveRun, AgentState};
use crate::usage_hold::{Account, UsageHolds};
use crate::work::{Offer, Work};

/// How long a run may take to end before it is asked again.
const STOP_PATIENCE: Duration = Duration::from_secs(30);
/// How long to wait for a workspace that a run of somebody else uses. Each look is a start that is refused, so the
/// delay doubles.
const BUSY_DELAY: Duration = Duration::from_secs(10);
const MAX_BUSY_DELAY: Duration = Duration::from_secs(300);
/// From this many failures in a row the session is not resumed any more: it may be what fails.
const FRESH_SESSION_FAILURES: u32 = 3;

/// What is known about the agents at one moment.
#[derive(Debug, Default)]
pub struct Observed<'a> {
    pub agents: HashMap<AgentName, AgentObservation<'a>>,
    /// Tasks that idle agents could take.
    pub offers: HashMap<AgentName, Offer>,
}

/// What is known about one agent.
#[derive(Debug)]
pub struct AgentObservation<'a> {
    pub state: &'a AgentState,
    /// Of the active run.
    pub phase: Option<RunPhase>,
    /// An action of an earlier round has not finished.
    pub is_busy: bool,
    /// This reconciler has started or adopted the active run.
    pub is_adopted: bool,
}

/// What to do with an agent, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    pub agent: AgentName,
    pub action: Action,
    /// In plain words, after "agent NAME: ".
    pub reason: Cow<'static, str>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Start a run.
    Start(StartPlan),
    /// End the run when the agent has ended its turn.
    PauseAtTurnEnd {
        run: String,
        iteration: u32,
    },
    /// End the run now.
    Stop {
        run: String,
    },
    /// Note that a run which an earlier reconciler started is alive.
    Adopt {
        run: String,
    },
    /// Do nothing before this moment; `None` until something changes.
    Wait {
        until: Option<Timestamp>,
    },
    Nothing,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartPlan {
    pub work: Work,
    /// The run whose session is continued.
    pub resumes: Option<String>,
}

/// Decides for all agents, in their order. At most one start is decided for a workspace and for a task.
pub fn plan(agents: &[Agent], observed: &Observed<'_>, now: Timestamp) -> Vec<Decision> {
    let mut fleet = Fleet::of(agents, observed, now);
    let mut decisions = Vec::with_capacity(agents.len());
    for agent in agents {
        let (action, reason) = match observed.agents.get(&agent.name) {
            Some(seen) => decide(agent, seen, observed.offers.get(&agent.name), &mut fleet, now),
            None => (Action::Nothing, "its journal cannot be read".into()),
        };
        decisions.push(Decision {
            agent: agent.name.clone(),
            action,
            reason,
        });
    }
    decisions
}

/// What agents have in common.
struct Fleet<'a> {
    holds: UsageHolds,
    /// Workspaces in which an agent works on its own prompt, and who.
    workspaces: HashMap<&'a Path, &'a AgentName>,
    tasks: HashSet<String>,
}

impl<'a> Fleet<'a> {
    fn of(agents: &'a [Agent], observed: &Observed<'_>, now: Timestamp) -> Self {
        let mut fleet = Self {
            holds: UsageHolds::default(),
            workspaces: HashMap::new(),
            tasks: HashSet::new(),
        };
        for agent in agents {
            let Some(seen) = observed.agents.get(&agent.name) else {
                continue;
            };
            let live = match &seen.phase {
                Some(RunPhase::Live(live)) => live.limit_until(),
                _ => None,
            };
            let until = live.max(seen.state.limit_at(now));
            let mut account = Account::of(agent, seen.state);
            if let (None, Some(RunPhase::Live(live))) = (&agent.backend, &seen.phase) {
                account.backend.clone_from(&live.backend);
            }
            fleet.holds.add(account, until);
            if seen.state.run.is_some() && seen.state.current_task.is_none() {
                fleet.workspaces.insert(&agent.workspace, &agent.name);
            }
            fleet.tasks.extend(seen.state.current_task.clone());
        }
        fleet
    }
}

type Decided = (Action, Cow<'static, str>);

const fn wait(until: Option<Timestamp>) -> Action {
    Action::Wait { until }
}

fn decide<'a>(
    agent: &'a Agent,
    seen: &AgentObservation<'_>,
    offer: Option<&Offer>,
    fleet: &mut Fleet<'a>,
    now: Timestamp,
) -> Decided {
    if seen.is_busy {
        return (wait(None), "an action of an earlier round is under way".into());
    }
    match (&seen.state.run, &seen.phase) {
        (Some(run), Some(RunPhase::Live(live))) => decide_live(agent, seen, run, live, now),
        (Some(_), Some(RunPhase::Starting)) => (wait(None), "its runner is starting".into()),
        // Its end is recorded before the next round.
        (Some(_), _) => (wait(None), "its run has ended".into()),
        (None, _) => decide_idle(agent, seen.state, offer, fleet, now),
    }
}

fn decide_live(
    agent: &Agent,
    seen: &AgentObservation<'_>,
    run: &ActiveRun,
    live: &LiveRun,
    now: Timestamp,
) -> Decided {
    let id = || run.id.clone();
    let asked = run
        .stop_requested_at
        .and_then(|at| wait_until(at, STOP_PATIENCE, now));
    if let (Some(until), true) = (
        asked,
        agent.desired != Desired::Active || run.pause_iteration.is_some(),
    ) {
        return (wait(Some(until)), "its run was asked to end".into());
    }
    let is_over_budget = agent
        .limits_per_day
        .cost
        .is_some_and(|limit| seen.state.used_on(now).cost + live.cost >= limit);
    let pause_reason = match agent.desired {
        Desired::Stopped => {
            let reason = match run.stop_requested_at {
                None => "it is to be stopped",
                Some(_) => "its run has not ended since it was asked to 30s ago",
            };
            return (Action::Stop { run: id() }, reason.into());
        }
        Desired::Paused => Some("it is to be paused"),
        Desired::Active if is_over_budget => Some("its cost limit for the day is reached"),
        Desired::Active => None,
    };
    match (run.pause_iteration, pause_reason) {
        (Some(iteration), _) => {
            let has_turn_ended = live.iteration > iteration || !is_in_turn(live);
            match has_turn_ended {
                true => (Action::Stop { run: id() }, "the agent has ended its turn".into()),
                false => (wait(None), "it is pausing: the agent ends its turn first".into()),
            }
        }
        (None, Some(reason)) => {
            let iteration = live.iteration;
            (Action::PauseAtTurnEnd { run: id(), iteration }, reason.into())
        }
        (None, None) if !seen.is_adopted => (
            Action::Adopt { run: id() },
            "its run is alive after a restart of the reconciler".into(),
        ),
        (None, None) => (
            Action::Nothing,
            format!("run {} is {}", run.id, live.state).into(),
        ),
    }
}

/// Whether the agent is working on a turn or about to.
fn is_in_turn(live: &LiveRun) -> bool {
    live.state.is_working() || live.state.needs_person() || live.state == ralph_run::model::RunState::Starting
}

fn decide_idle<'a>(
    agent: &'a Agent,
    state: &AgentState,
    offer: Option<&Offer>,
    fleet: &mut Fleet<'a>,
    now: Timestamp,
) -> Decided {
    match agent.desired {
        Desired::Stopped => return (Action::Nothing, "it is stopped".into()),
        Desired::Paused => return (Action::Nothing, "it is paused".into()),
        Desired::Active => {}
    }
    if state.owed_release.is_some() {
        return (wait(None), "its task has to be given back first".into());
    }
    let failures = state.failures_for(agent.start_number);
    let is_same_start = agent.start_number == state.start_number;
    if let (Some(message), true) = (&state.needs_person, is_same_start) {
        let reason = format!(
            "it needs you: {message}; then run `ralph agents start {}`",
            agent.name
        );
        return (Action::Nothing, reason.into());
    }
    if failures >= MAX_FAILURES {
        let last = state.last_message.as_deref().unwrap_or("its runs were cut off");
        let reason = format!(
            "{failures} attempts in a row have failed ({last}); `ralph agents start {}` tries again",
            agent.name
        );
        return (Action::Nothing, reason.into());
    }
    let (work, goal) = match next_work(agent, state, offer, fleet) {
        Some(found) => found,
        None => return (Action::Nothing, "it is idle: there is nothing to do".into()),
    };
    if let Some((until, reason)) = must_wait(agent, state, failures, &work, fleet, now) {
        return (wait(until), reason);
    }
    match &work {
        Work::Prompt => {
            fleet.workspaces.insert(&agent.workspace, &agent.name);
        }
        Work::Task(task) => {
            fleet.tasks.insert(task.clone());
        }
    }
    let resumes = state
        .resumes
        .clone()
        .filter(|_| is_same_start && failures < FRESH_SESSION_FAILURES);
    let reason = match (&resumes, failures) {
        (Some(run), _) => format!("{goal}: it continues the session of run {run}"),
        (None, 0) => goal.into_owned(),
        (None, failures) => format!("{goal}: attempt {} of {MAX_FAILURES}", failures + 1),
    };
    (Action::Start(StartPlan { work, resumes }), reason.into())
}

fn next_work(
    agent: &Agent,
    state: &AgentState,
    offer: Option<&Offer>,
    fleet: &Fleet<'_>,
) -> Option<(Work, Cow<'static, str>)> {
    if agent.prompt.is_some() {
        let is_open = state.closed_start < agent.start_number;
        return is_open.then_some((Work::Prompt, "its prompt is not finished".into()));
    }
    if let Some(task) = &state.current_task {
        return Some((Work::Task(task.clone()), format!("it has task {task}").into()));
    }
    let offer = offer.filter(|offer| agent.takes_tasks() && !fleet.tasks.contains(&offer.task))?;
    let goal = format!("task {} is ready: {}", offer.task, offer.title);
    Some((Work::Task(offer.task.clone()), goal.into()))
}

/// Why an agent with work cannot start now, and until when.
fn must_wait(
    agent: &Agent,
    state: &AgentState,
    failures: u32,
    work: &Work,
    fleet: &Fleet<'_>,
    now: Timestamp,
) -> Option<(Option<Timestamp>, Cow<'static, str>)> {
    let used = state.used_on(now);
    let limits = &agent.limits_per_day;
    if limits.cost.is_some_and(|limit| used.cost >= limit) {
        return Some((next_day(now), "its cost limit for the day is reached".into()));
    }
    if limits.runs.is_some_and(|limit| used.runs >= limit) {
        return Some((next_day(now), "its run limit for the day is reached".into()));
    }
    let account = Account::of(agent, state);
    if let Some(until) = fleet.holds.wakes_at(&agent.id, &account, now) {
        let reason = format!("the usage limit of `{}` is reached", account.backend);
        return Some((Some(until), reason.into()));
    }
    if let (Some(failed_at), true) = (state.failed_at, failures > 0)
        && let Some(until) = wait_until(failed_at, retry_delay(&agent.id, failures), now)
    {
        let reason = format!("attempt {failures} of {MAX_FAILURES} failed");
        return Some((Some(until), reason.into()));
    }
    let busy_delay = BUSY_DELAY.saturating_mul(2_u32.saturating_pow(state.busy_starts.saturating_sub(1)));
    let busy_delay = busy_delay.min(MAX_BUSY_DELAY);
    if let Some(until) = state.busy_at.and_then(|at| wait_until(at, busy_delay, now)) {
        let reason = state.last_message.clone();
        return Some((
            Some(until),
            reason.map_or("its workspace is in use".into(), Cow::Owned),
        ));
    }
    match (work, fleet.workspaces.get(agent.workspace.as_path())) {
        (Work::Prompt, Some(other)) => Some((None, format!("agent {other} works in its workspace").into())),
        _ => None,
    }
}

/// The next midnight (UTC).
fn next_day(now: Timestamp) -> Option<Timestamp> {
    let day = TimeZone::UTC.to_datetime(now).date();
    let next = day.checked_add(Span::new().days(1)).ok()?;
    TimeZone::UTC
        .to_timestamp(next.to_datetime(jiff::civil::Time::midnight()))
        .ok()
}

//! `Plan`: what a run was asked to do. Made from the settings, read by the machine and the driver.

use std::time::Duration;

use agent_api::{MicroUsd, SessionChoice};

use crate::budget::BudgetLimits;

/// What a run was asked to do.
#[derive(Debug, Clone)]
pub struct Plan {
    pub work: WorkPlan,
    /// At the beginning; they can be raised.
    pub limits: BudgetLimits,
    /// Whether the user relies on the cost limit: then an agent that reports nothing to compare with it is a warning.
    pub is_cost_limit_chosen: bool,
    /// What earlier runs of the same task have cost.
    pub spent_before: MicroUsd,
    /// The model that was asked for; used to price tokens until the agent names one.
    pub model: Option<String>,
    /// Whether the agent can be sent messages after its prompt.
    pub takes_messages: bool,
    pub limit_policy: LimitPolicy,
    /// How long the run waits for a usage limit of the agent, in one go or again and again. `None` waits without limit.
    pub max_wait: Option<Duration>,
    /// How long a request of the agent stays open; then it is denied. A limit that was reached can be raised for as long.
    /// `None` waits without limit.
    pub ask_timeout: Option<Duration>,
    /// How long an interrupted agent may take to end its turn; then it is stopped.
    pub interrupt_grace: Duration,
    /// The session of the first attempt.
    pub first_session: SessionChoice,
}

#[derive(Debug, Clone)]
pub enum WorkPlan {
    Loop(LoopPlan),
    Conversation(ConversationPlan),
}

/// The same prompt again and again, each time in a new session, until the work is done.
#[derive(Debug, Clone)]
pub struct LoopPlan {
    /// Run one iteration and accept the agent's own result.
    pub is_once: bool,
    /// The last line of a final text which says that the work is done.
    pub promise: String,
    /// Commands that verify the work, in order.
    pub verify: Vec<String>,
    /// How long each of them may take.
    pub verify_timeout: Option<Duration>,
    pub iteration_timeout: Option<Duration>,
    /// Failed iterations in a row that end the run; 0 means no limit.
    pub max_consecutive_failures: u32,
    /// The pause between iterations.
    pub cooldown: Duration,
    pub denials: DenialPolicy,
    /// Whether iterations share notes in `.ralph/scratchpad.md`.
    pub has_memory: bool,
    /// The roles that take turns, the first one first. Empty if every iteration is the same.
    pub roles: Vec<RolePlan>,
}

/// A role of a loop: one iteration of it follows another.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RolePlan {
    pub name: String,
    /// The role of the next iteration, as an index into [`LoopPlan::roles`].
    pub next: usize,
    pub session: RoleSession,
    /// The model that was asked for; used to price tokens until the agent names one.
    pub model: Option<String>,
}

/// In which session a role works when its turn comes again in the same run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RoleSession {
    /// A new one.
    #[default]
    Fresh,
    /// Its own last one.
    Keep,
}

/// A conversation: each message is a turn, and in between the run waits for the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConversationPlan {
    /// Whether it begins with the run's prompt; otherwise with the first message.
    pub has_prompt: bool,
    /// How long it waits for a message; then it ends cleanly.
    pub idle_timeout: Option<Duration>,
    /// Whether another process can resume the conversation.
    pub can_resume: bool,
}

impl Plan {
    /// The rules of the loop; `None` for a conversation.
    pub fn as_loop(&self) -> Option<&LoopPlan> {
        match &self.work {
            WorkPlan::Loop(plan) => Some(plan),
            WorkPlan::Conversation(_) => None,
        }
    }
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            work: WorkPlan::Loop(LoopPlan::default()),
            limits: BudgetLimits::default(),
            is_cost_limit_chosen: false,
            spent_before: MicroUsd::ZERO,
            model: None,
            takes_messages: true,
            limit_policy: LimitPolicy::default(),
            max_wait: Some(Duration::from_secs(6 * 60 * 60)),
            ask_timeout: Some(Duration::from_secs(15 * 60)),
            interrupt_grace: Duration::from_secs(5),
            first_session: SessionChoice::New,
        }
    }
}

impl Default for LoopPlan {
    fn default() -> Self {
        Self {
            is_once: false,
            promise: "LOOP_COMPLETE".to_owned(),
            verify: Vec::new(),
            verify_timeout: Some(Duration::from_secs(10 * 60)),
            iteration_timeout: None,
            max_consecutive_failures: 3,
            cooldown: Duration::ZERO,
            denials: DenialPolicy::default(),
            has_memory: true,
            roles: Vec::new(),
        }
    }
}

/// What follows when a limit of the run is reached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LimitPolicy {
    /// The run ends.
    #[default]
    End,
    /// The run waits for a `top_up`.
    Ask,
}

/// What follows when a tool call is denied by the agent's own rules.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DenialPolicy {
    /// The run ends: it cannot do what it was asked to.
    #[default]
    Fail,
    /// The agent finds another way.
    Continue,
}

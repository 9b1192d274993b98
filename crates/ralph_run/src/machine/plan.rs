//! `Plan`: what a run was asked to do. Made from the settings, read by the machine and the driver.

use std::time::Duration;

use agent_api::{MicroUsd, SessionChoice};

use crate::budget::BudgetLimits;

/// What a run was asked to do.
#[derive(Debug, Clone)]
pub struct Plan {
    pub work: WorkPlan,
    pub limits: BudgetLimits,
    /// What earlier runs of the same task have cost.
    pub spent_before: MicroUsd,
    /// The model that was asked for; used to price tokens until the agent names one.
    pub model: Option<String>,
    /// Whether the agent can be sent messages after its prompt.
    pub takes_messages: bool,
    pub max_runtime: Option<Duration>,
    /// How long a request of the agent stays open; then it is denied. `None` waits without limit.
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
    /// 0 means no limit.
    pub max_iterations: u32,
    pub iteration_timeout: Option<Duration>,
    /// Failed iterations in a row that end the run; 0 means no limit.
    pub max_consecutive_failures: u32,
    /// The pause between iterations.
    pub cooldown: Duration,
    pub denials: DenialPolicy,
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
            spent_before: MicroUsd::ZERO,
            model: None,
            takes_messages: true,
            max_runtime: None,
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
            max_iterations: 50,
            iteration_timeout: None,
            max_consecutive_failures: 3,
            cooldown: Duration::ZERO,
            denials: DenialPolicy::default(),
        }
    }
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

//! What the loop was asked to do.

use std::time::Duration;

use agent_api::SessionChoice;

/// What the loop was asked to do.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Whether one iteration is all, and its own verdict counts.
    pub is_once: bool,
    /// The last line of a final text that says that the work is done.
    pub promise: String,
    /// Commands that verify the work, in order.
    pub verify: Vec<String>,
    /// The limit of iterations; 0 is none.
    pub max_iterations: u32,
    /// The limit of the run's time.
    pub max_runtime: Option<Duration>,
    /// The limit of one iteration's time.
    pub iteration_timeout: Option<Duration>,
    /// After so many failures in a row the run ends.
    pub max_consecutive_failures: u32,
    /// The pause between iterations.
    pub cooldown: Duration,
    /// What follows when something is not allowed.
    pub denials: DenialPolicy,
    /// How long somebody is awaited who can answer the agent.
    pub ask_timeout: Duration,
    /// How long an interrupted agent may take to end its turn; then it is stopped.
    pub interrupt_grace: Duration,
    /// The conversation of the first iteration; all others are new.
    pub first_session: SessionChoice,
    /// A conversation instead of a loop: promise, verify commands, iterations and denials mean nothing then.
    pub session: Option<SessionPlan>,
}

/// A conversation: each message is a turn, idle in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionPlan {
    /// Whether it begins with the run's prompt; else with the first message.
    pub has_prompt: bool,
    /// How long it waits for a message; then it ends in order.
    pub idle_timeout: Option<Duration>,
    /// Whether a further process can go on with the conversation.
    pub can_resume: bool,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            is_once: false,
            promise: "LOOP_COMPLETE".to_owned(),
            verify: Vec::new(),
            max_iterations: 50,
            max_runtime: None,
            iteration_timeout: None,
            max_consecutive_failures: 3,
            cooldown: Duration::ZERO,
            denials: DenialPolicy::default(),
            ask_timeout: Duration::from_secs(15 * 60),
            interrupt_grace: Duration::from_secs(5),
            first_session: SessionChoice::New,
            session: None,
        }
    }
}

/// What follows when something is not allowed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DenialPolicy {
    /// The run ends: it cannot do what it was asked to.
    #[default]
    Fail,
    /// The agent finds another way.
    Continue,
}

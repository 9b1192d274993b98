//! `Agent`: what is wanted of an agent, as `agent.json` holds it. Commands write it, the reconciler reads it.

use std::convert::Infallible;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use agent_api::MicroUsd;
use jiff::Timestamp;
use ralph_run::control::PermissionChoice;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::name::AgentName;

/// A named, long-lived entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Agent {
    /// The version of this file's format.
    pub version: u32,
    /// Unlike the name, never used again.
    pub id: String,
    pub name: AgentName,
    #[serde(rename = "kind", default)]
    pub role: AgentRole,
    /// Where it works: an absolute path.
    pub workspace: PathBuf,
    /// Which coding agent; chosen by the workspace's settings if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend: Option<String>,
    /// Which account of the backend it uses. Agents with the same account share its usage limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Planner, coder, or a mode of the workspace's settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<PermissionChoice>,
    /// Added to the system prompt of the coding agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_tools: Vec<String>,
    /// Whether its runs are conversations that wait for messages.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub accepts_input: bool,
    /// Its work. An agent without one takes tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    pub desired: Desired,
    #[serde(default)]
    pub limits_per_day: DailyLimits,
    /// Counts the times that its work was asked for, from 1. The prompt is worked on once for each.
    #[serde(default = "first")]
    pub start_number: u64,
    pub created_at: Timestamp,
    /// What other versions of ralph keep here.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

fn first() -> u64 {
    1
}

/// What a person wants the agent to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Desired {
    /// It works whenever it has work.
    Active,
    /// It ends its turn, and continues when it is active again.
    Paused,
    /// It ends at once; its work is given up.
    Stopped,
}

/// What an agent may use in a day (UTC). An absent limit does not apply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DailyLimits {
    /// Micro-dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<MicroUsd>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<u32>,
}

/// What an agent is for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum AgentRole {
    /// Takes tasks if it has no prompt.
    #[default]
    Worker,
    Planner,
    Reviewer,
    Supervisor,
    /// A role of the user's.
    Own(String),
}

impl AgentRole {
    pub fn as_str(&self) -> &str {
        match self {
            Self::Worker => "worker",
            Self::Planner => "planner",
            Self::Reviewer => "reviewer",
            Self::Supervisor => "supervisor",
            Self::Own(name) => name,
        }
    }
}

impl From<String> for AgentRole {
    fn from(text: String) -> Self {
        match text.as_str() {
            "worker" => Self::Worker,
            "planner" => Self::Planner,
            "reviewer" => Self::Reviewer,
            "supervisor" => Self::Supervisor,
            _ => Self::Own(text),
        }
    }
}

impl From<AgentRole> for String {
    fn from(role: AgentRole) -> Self {
        role.as_str().to_owned()
    }
}

impl FromStr for AgentRole {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(text.to_owned().into())
    }
}

impl fmt::Display for AgentRole {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl fmt::Display for Desired {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Active => "active",
            Self::Paused => "paused",
            Self::Stopped => "stopped",
        })
    }
}

impl Agent {
    /// The version of this file's format.
    pub const VERSION: u32 = 1;

    /// An active worker without a prompt.
    pub fn new(name: AgentName, id: String, workspace: PathBuf, created_at: Timestamp) -> Self {
        Self {
            version: Self::VERSION,
            id,
            name,
            role: AgentRole::default(),
            workspace,
            backend: None,
            account: None,
            model: None,
            mode: None,
            permission_mode: None,
            system_prompt: None,
            allowed_tools: Vec::new(),
            accepts_input: false,
            prompt: None,
            desired: Desired::Active,
            limits_per_day: DailyLimits::default(),
            start_number: first(),
            created_at,
            other: Map::new(),
        }
    }

    /// Asks for the work. A paused agent continues; any other begins again.
    pub fn start(&mut self) {
        if self.desired != Desired::Paused {
            self.start_number += 1;
        }
        self.desired = Desired::Active;
    }

    /// Whether it takes tasks when it has nothing else to do.
    pub fn takes_tasks(&self) -> bool {
        self.role == AgentRole::Worker && self.prompt.is_none()
    }
}

//! `StartLimitArgs`: the limits on starts, for one token (`ralph token create`) or for a server (`ralph serve`).

use std::path::{Path, PathBuf};

use agent_api::MicroUsd;
use anyhow::Context as _;
use clap::Args;
use ralph_run::control::PermissionChoice;
use ralph_server::StartLimits;
use run_view::parse_money;

use crate::failure::Failure;
use crate::settings::{permission_name, permission_parser};

#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "Limits on starts")]
pub struct StartLimitArgs {
    /// Allow only runs below this directory; repeatable
    #[arg(long = "workspace", value_name = "DIR")]
    pub workspaces: Vec<PathBuf>,

    /// Allow only this permission mode; repeatable
    #[arg(long = "permission-mode", value_name = "MODE", value_parser = permission_parser())]
    pub permission_modes: Vec<PermissionChoice>,

    /// Most runs that may be live at once
    #[arg(long, value_name = "N")]
    pub max_live_runs: Option<u32>,

    /// Most that a run may cost; also the limit of runs without one
    #[arg(long, value_name = "USD", value_parser = parse_money)]
    pub max_run_cost: Option<MicroUsd>,

    /// Most that all runs together may cost each day, in UTC
    #[arg(long, value_name = "USD", value_parser = parse_money)]
    pub max_day_cost: Option<MicroUsd>,
}

impl StartLimitArgs {
    /// The limits but for the directories.
    pub fn limits(&self) -> Result<StartLimits, Failure> {
        let zero = [
            ("--max-live-runs", self.max_live_runs == Some(0)),
            ("--max-run-cost", self.max_run_cost == Some(MicroUsd::ZERO)),
            ("--max-day-cost", self.max_day_cost == Some(MicroUsd::ZERO)),
        ];
        if let Some((flag, _)) = zero.iter().find(|(_, is_zero)| *is_zero) {
            return Err(Failure::config(format!(
                "`{flag}` must be more than 0; leave it out for no limit"
            )));
        }
        let mut permission_modes = Vec::new();
        for mode in &self.permission_modes {
            if !permission_modes.contains(mode) {
                permission_modes.push(*mode);
            }
        }
        Ok(StartLimits {
            permission_modes,
            max_live_runs: self.max_live_runs,
            max_run_cost_micro_usd: self.max_run_cost.map(MicroUsd::as_micro_usd),
            max_day_cost_micro_usd: self.max_day_cost.map(MicroUsd::as_micro_usd),
        })
    }

    /// The directories without links, so that a link that is changed later does not widen what they allow.
    pub fn resolved_workspaces(&self, cwd: &Path) -> Result<Vec<PathBuf>, Failure> {
        let resolve = |directory: &PathBuf| {
            let resolved = std::fs::canonicalize(cwd.join(directory));
            resolved.with_context(|| format!("cannot use the workspace `{}`", directory.display()))
        };
        let resolved: anyhow::Result<Vec<PathBuf>> = self.workspaces.iter().map(resolve).collect();
        resolved.map_err(|error| Failure::config(format!("{error:#}")))
    }
}

/// In a few words, for lists: `ask or plan, 3 live, $5.00 a run, $20.00 a day`.
pub fn describe(limits: &StartLimits) -> String {
    let money = |amount: u64| MicroUsd::new(amount).to_string();
    let modes: Vec<&str> = limits
        .permission_modes
        .iter()
        .copied()
        .map(permission_name)
        .collect();
    let parts = [
        (!modes.is_empty()).then(|| modes.join(" or ")),
        limits.max_live_runs.map(|runs| format!("{runs} live")),
        limits
            .max_run_cost_micro_usd
            .map(|cost| format!("{} a run", money(cost))),
        limits
            .max_day_cost_micro_usd
            .map(|cost| format!("{} a day", money(cost))),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    match parts.is_empty() {
        true => "none".to_owned(),
        false => parts.join(", "),
    }
}

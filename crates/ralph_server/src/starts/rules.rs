//! The rules of a `StartBound`: what a request may ask for, as a pure function of the bound and the figures.

use std::path::Path;

use agent_api::MicroUsd;
use ralph_run::control::{ControlCommand, PermissionChoice};

use super::usage::StartUsage;
use crate::auth::{Holder, StartBound, grants_more};
use crate::launch::{StartRun, TrustChoice};
use crate::problem::{Problem, ProblemCode, ReachedLimit};

impl StartBound<'_> {
    /// Whether a command keeps a run within the limits. Otherwise a start within them could leave them a moment later.
    pub(crate) fn check_command(&self, command: &ControlCommand, is_owner: bool) -> Result<(), Problem> {
        match command {
            ControlCommand::SetPermissionMode { mode } => self.check_mode(*mode),
            // What is granted can be a mode, or every use of a tool. The owner of a server is
            // shown what each grant is.
            ControlCommand::Answer { answer, .. }
                if !(is_owner && self.is_of_server())
                    && grants_more(answer)
                    && !self.limits.allows_mode(PermissionChoice::Bypass) =>
            {
                let detail = format!(
                    "{} does not allow the permission mode bypass, so permissions that last cannot be given with it: \
                     allow the call once",
                    self.holder
                );
                Err(Problem::new(ProblemCode::PermissionModeNotAllowed, detail).in_field("/grants"))
            }
            ControlCommand::TopUp(amounts) if amounts.cost.is_some() && self.limits.has_cost_ceiling() => {
                let detail = match self.holder {
                    Holder::Token(name) => format!(
                        "{name} has a cost ceiling, so it cannot raise the cost limit of a run: use a token without a \
                         ceiling, or `ralph top-up`"
                    ),
                    Holder::Server => {
                        "this server has a cost ceiling, so it does not raise the cost limit of a run: \
                                       use `ralph top-up`"
                            .to_owned()
                    }
                };
                Err(Problem::new(ProblemCode::CostCeiling, detail).in_field("/cost_micro_usd"))
            }
            _ => Ok(()),
        }
    }

    /// `workspace` has no links; `asked` is how the client called it, if it gave it.
    pub(super) fn check_workspace(&self, workspace: Option<&Path>, asked: &Path) -> Result<(), Problem> {
        if self.workspaces.is_empty() || workspace.is_some_and(|workspace| self.covers(workspace)) {
            return Ok(());
        }
        let roots = self.workspaces.iter().map(|root| format!("`{}`", root.display()));
        let detail = format!(
            "{} may start runs below {} only, and `{}` is not there: choose a directory that is",
            self.holder,
            join(roots, "or"),
            asked.display()
        );
        Err(Problem::new(ProblemCode::WorkspaceNotAllowed, detail).in_field("/workspace"))
    }

    fn check_mode(&self, mode: PermissionChoice) -> Result<(), Problem> {
        if self.limits.allows_mode(mode) {
            return Ok(());
        }
        let modes = self.limits.permission_modes.iter().map(|mode| word(*mode));
        let detail = format!(
            "{} does not allow the permission mode {}: choose {}",
            self.holder,
            word(mode),
            join(modes, "or")
        );
        Err(Problem::new(ProblemCode::PermissionModeNotAllowed, detail).in_field("/permission_mode"))
    }

    /// A tool list, a mode and the workspace's own settings can permit tools without asking, so they are for those who
    /// may turn permission checks off.
    pub(super) fn check_permissions(&self, request: &StartRun, is_new: bool) -> Result<(), Problem> {
        if let Some(mode) = request.permission_mode {
            self.check_mode(mode)?;
        }
        if self.limits.allows_mode(PermissionChoice::Bypass) {
            return Ok(());
        }
        let given = [
            ("/allowed_tools", request.allowed_tools.is_some()),
            // A run that goes on with another one has its mode.
            ("/mode", is_new && request.mode.is_some()),
            ("/trust", matches!(request.trust, Some(TrustChoice::Trust { .. }))),
        ];
        let Some((pointer, _)) = given.iter().find(|(_, is_given)| *is_given) else {
            return Ok(());
        };
        let detail = format!(
            "`{}` can permit tools without asking, and {} does not allow the permission mode bypass: leave it out",
            pointer.trim_start_matches('/'),
            self.holder
        );
        Err(Problem::new(ProblemCode::PermissionModeNotAllowed, detail).in_field(*pointer))
    }

    pub(super) fn check_live_runs(&self, usage: &StartUsage) -> Result<(), Problem> {
        let Some(limit) = self
            .limits
            .max_live_runs
            .filter(|limit| usage.live_runs >= *limit)
        else {
            return Ok(());
        };
        let runs = if limit == 1 { "run" } else { "runs" };
        let detail = format!(
            "{} may have {limit} live {runs} at once, and has {}: stop one, or wait until one ends",
            self.holder, usage.live_runs
        );
        let reached = self.reached("max_live_runs", limit.into(), usage.live_runs.into());
        Err(Problem::new(ProblemCode::LiveRunLimit, detail).reached(reached))
    }

    /// What a run may cost at most; none for no limit.
    pub(super) fn cost_ceiling(
        &self,
        asked: Option<u64>,
        usage: &StartUsage,
    ) -> Result<Option<u64>, Problem> {
        if let Some(ceiling) = self.limits.max_run_cost_micro_usd
            && let Some(wanted) = above(asked, ceiling)
        {
            let detail = format!(
                "{} may start runs that cost at most {}, and this one asks for {wanted}: lower its cost limit, or leave \
                 it out",
                self.holder,
                money(ceiling)
            );
            return Err(self.too_expensive("max_run_cost_micro_usd", ceiling, asked.unwrap_or(0), detail));
        }
        let Some(day) = self.limits.max_day_cost_micro_usd else {
            return Ok(self.limits.max_run_cost_micro_usd);
        };
        let left = day.saturating_sub(usage.committed());
        let asks_for_too_much = above(asked, left);
        if left == 0 || asks_for_too_much.is_some() {
            let wanted = asks_for_too_much.map_or_else(String::new, |wanted| {
                format!("; {} is left, and this one asks for {wanted}", money(left))
            });
            let detail = format!(
                "the runs of {} may cost {} a day: they have cost {} today, and live ones may still cost {}{wanted}. Ask \
                 for less, wait for a run to end, or try again after midnight UTC",
                self.holder,
                money(day),
                money(usage.spent_micro_usd),
                money(usage.reserved_micro_usd)
            );
            return Err(self.too_expensive("max_day_cost_micro_usd", day, usage.committed(), detail));
        }
        Ok(Some(
            self.limits
                .max_run_cost_micro_usd
                .map_or(left, |run| run.min(left)),
        ))
    }

    fn too_expensive(&self, name: &'static str, limit: u64, current: u64, detail: String) -> Problem {
        Problem::new(ProblemCode::CostCeiling, detail)
            .in_field("/limits/cost_micro_usd")
            .reached(self.reached(name, limit, current))
    }

    fn reached(&self, name: &'static str, limit: u64, current: u64) -> ReachedLimit {
        ReachedLimit {
            name,
            of: self.holder.to_string(),
            limit,
            current,
        }
    }

    pub(super) fn is_of_server(&self) -> bool {
        self.holder == Holder::Server
    }
}

/// What is asked for, if it is more than allowed. 0 asks for no limit.
fn above(asked: Option<u64>, allowed: u64) -> Option<String> {
    match asked? {
        0 => Some("no limit".to_owned()),
        asked if asked > allowed => Some(money(asked)),
        _ => None,
    }
}

fn money(micro_usd: u64) -> String {
    MicroUsd::new(micro_usd).to_string()
}

/// As in JSON.
fn word(mode: PermissionChoice) -> String {
    match serde_json::to_value(mode) {
        Ok(serde_json::Value::String(word)) => word,
        Ok(_) | Err(_) => String::new(),
    }
}

/// `a, b or c`.
fn join(words: impl Iterator<Item = String>, last: &str) -> String {
    let words: Vec<String> = words.collect();
    match words.split_last() {
        Some((end, rest)) if !rest.is_empty() => format!("{} {last} {end}", rest.join(", ")),
        _ => words.concat(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use agent_api::{GrantId, RequestId};
    use ralph_run::control::{AnswerChoice, ControlCommand, PermissionChoice};

    use super::super::usage::StartUsage;
    use crate::auth::{Holder, StartBound, StartLimits};

    fn bound(limits: &StartLimits) -> StartBound<'_> {
        StartBound {
            holder: Holder::Token("token ci"),
            workspaces: &[],
            limits,
        }
    }

    fn used(spent: u64, reserved: u64) -> StartUsage {
        StartUsage {
            live_runs: 2,
            spent_micro_usd: spent,
            reserved_micro_usd: reserved,
        }
    }

    #[test]
    fn a_token_without_bypass_gives_no_permissions_that_last() {
        let limits = StartLimits {
            permission_modes: vec![PermissionChoice::Ask],
            ..StartLimits::default()
        };
        let answer = |answer| ControlCommand::Answer {
            request: RequestId::new("r"),
            answer,
        };
        let granted = answer(AnswerChoice::Allow {
            grants: vec![GrantId::new("g")],
        });
        assert!(bound(&limits).check_command(&granted, true).is_err());
        let once = answer(AnswerChoice::allow_once());
        assert!(bound(&limits).check_command(&once, false).is_ok());
        let unlimited = StartLimits::default();
        assert!(bound(&unlimited).check_command(&granted, false).is_ok());
    }

    #[test]
    fn only_the_owner_gives_permissions_that_last_under_the_limits_of_a_server() {
        let limits = StartLimits {
            permission_modes: vec![PermissionChoice::Ask],
            ..StartLimits::default()
        };
        let of_server = StartBound {
            holder: Holder::Server,
            ..bound(&limits)
        };
        let granted = ControlCommand::Answer {
            request: RequestId::new("r"),
            answer: AnswerChoice::AllowAlways,
        };
        assert!(of_server.check_command(&granted, true).is_ok());
        assert!(of_server.check_command(&granted, false).is_err());
    }

    #[test]
    fn a_run_without_a_limit_gets_what_is_left_of_the_day_or_the_ceiling_of_a_run() {
        let limits = StartLimits {
            max_run_cost_micro_usd: Some(5_000_000),
            max_day_cost_micro_usd: Some(20_000_000),
            ..StartLimits::default()
        };
        let ceiling = |spent, reserved, asked| {
            let checked = bound(&limits).cost_ceiling(asked, &used(spent, reserved));
            checked.map_err(|problem| problem.detail().to_owned())
        };
        assert_eq!(ceiling(0, 0, None), Ok(Some(5_000_000)));
        assert_eq!(ceiling(10_000_000, 8_000_000, None), Ok(Some(2_000_000)));
        assert_eq!(ceiling(10_000_000, 0, Some(5_000_000)), Ok(Some(5_000_000)));
        assert_eq!(
            ceiling(0, 0, Some(5_000_001)).unwrap_err(),
            "token ci may start runs that cost at most $5.00, and this one asks for $5.000001: lower its cost limit, or \
             leave it out"
        );
        assert!(ceiling(0, 0, Some(0)).unwrap_err().contains("asks for no limit"));
        assert_eq!(
            ceiling(18_000_000, 1_500_000, Some(1_000_000)).unwrap_err(),
            "the runs of token ci may cost $20.00 a day: they have cost $18.00 today, and live ones may still cost $1.50; \
             $0.50 is left, and this one asks for $1.00. Ask for less, wait for a run to end, or try again after \
             midnight UTC"
        );
        assert!(
            ceiling(30_000_000, 0, None)
                .unwrap_err()
                .contains("have cost $30.00 today")
        );
    }

    #[test]
    fn live_runs_are_limited_by_their_number() {
        let limits = |max| StartLimits {
            max_live_runs: Some(max),
            ..StartLimits::default()
        };
        assert!(bound(&limits(3)).check_live_runs(&used(0, 0)).is_ok());
        let problem = bound(&limits(2)).check_live_runs(&used(0, 0)).unwrap_err();
        assert_eq!(
            problem.detail(),
            "token ci may have 2 live runs at once, and has 2: stop one, or wait until one ends"
        );
        assert!(bound(&limits(0)).check_live_runs(&StartUsage::default()).is_err());
    }

    #[test]
    fn a_directory_beside_a_root_is_not_below_it() {
        let (limits, roots) = (StartLimits::default(), [PathBuf::from("/a/b"), "/c".into()]);
        let bound = StartBound {
            workspaces: &roots,
            ..bound(&limits)
        };
        let check = |path: &str| bound.check_workspace(Some(Path::new(path)), Path::new(path));
        assert!(check("/a/b").is_ok() && check("/c/d").is_ok());
        assert_eq!(
            check("/a/bc").unwrap_err().detail(),
            "token ci may start runs below `/a/b` or `/c` only, and `/a/bc` is not there: choose a directory that is"
        );
        assert!(bound.check_workspace(None, Path::new("/c/absent")).is_err());
    }
}

//! `admit`: checks a start against the limits of its token and of the server, one start at a time.

use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use ralph_run::control::PermissionChoice;
use ralph_store::RunQuery;

use super::ledger::Starting;
use super::usage::Figures;
use crate::app::App;
use crate::auth::{Principal, StartBound};
use crate::launch::{SessionStart, StartRun};
use crate::problem::{Problem, ProblemCode};

/// A run that may be started. It counts as live until the start is over, and for its token ever after, unless the start
/// has failed: one that is cut off may have left a run.
pub(crate) struct StartPermit {
    app: Arc<App>,
    /// What the run must be called, so that it is known before it is there.
    run: Option<String>,
    has_failed: bool,
}

impl StartPermit {
    pub(crate) fn run_id(&self) -> Option<&str> {
        self.run.as_deref()
    }

    /// There is no run.
    pub(crate) fn failed(mut self) {
        self.has_failed = true;
    }
}

impl Drop for StartPermit {
    fn drop(&mut self) {
        if let Some(run) = &self.run {
            self.app.starts.finish(run, self.has_failed);
        }
    }
}

/// Checks a start and fills in what its limits decide: the workspace without links, the permission mode, the cost
/// ceiling. `run` is what the run is called, if that is settled.
///
/// # Errors
/// If the token or the server does not allow it, or nobody can tell.
pub(crate) async fn admit(
    app: &Arc<App>,
    principal: &Principal,
    run: Option<&str>,
    request: &mut StartRun,
) -> Result<StartPermit, Problem> {
    let actor = principal.actor();
    request.by = Some(actor.clone());
    let bounds = principal.start_bounds(&actor);
    confine(app, &bounds, request).await?;
    let is_new = matches!(
        request.session,
        SessionStart::New | SessionStart::ResumeSession { .. } | SessionStart::ForkSession { .. }
    );
    for bound in &bounds {
        bound.check_permissions(request, is_new)?;
    }
    request.permission_mode = request.permission_mode.or(default_mode(&bounds)?);
    let run = if bounds.iter().any(|bound| bound.limits.counts_runs()) {
        let _turn = app.starts.turn.lock().await;
        let counted = count(app, principal, &bounds, run, request).await?;
        request.cost_ceiling_micro_usd = counted.cost;
        Some(counted.run)
    } else {
        None
    };
    Ok(StartPermit {
        app: Arc::clone(app),
        run,
        has_failed: false,
    })
}

struct Counted {
    run: String,
    cost: Option<u64>,
}

/// Counts the runs and adds up their costs, and notes the new one.
async fn count(
    app: &Arc<App>,
    principal: &Principal,
    bounds: &[StartBound<'_>],
    run: Option<&str>,
    request: &StartRun,
) -> Result<Counted, Problem> {
    let unreadable = |error| Problem::internal("cannot tell which runs a token has started", &error);
    let needs_costs = |bound: &StartBound<'_>| bound.limits.max_day_cost_micro_usd.is_some();
    let figures = Figures::read(app, bounds.iter().any(needs_costs)).await?;
    let token = principal.issuer_hex();
    let mut cost: Option<u64> = None;
    let mut is_counted = false;
    for bound in bounds.iter().filter(|bound| bound.limits.counts_runs()) {
        let usage = if bound.is_of_server() {
            figures.usage_of(None)
        } else {
            is_counted = true;
            let own = app.starts.runs_of(&token).map_err(unreadable)?;
            figures.usage_of(Some(&own))
        };
        bound.check_live_runs(&usage)?;
        let ceiling = bound.cost_ceiling(request.max_cost_micro_usd, &usage)?;
        cost = match (cost, ceiling) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
    }
    let run = match run {
        Some(run) => run.to_owned(),
        None => app.journals.new_run_id(Timestamp::now()).await,
    };
    let starting = Starting {
        run: run.clone(),
        cost_ceiling_micro_usd: request.max_cost_micro_usd.or(cost),
    };
    let token = is_counted.then_some(token.as_str());
    app.starts
        .begin(starting, token, |run| figures.is_live(run))
        .map_err(unreadable)?;
    Ok(Counted { run, cost })
}

/// Replaces the workspace by what its links lead to and compares that, so that a link leads nowhere else.
async fn confine(app: &App, bounds: &[StartBound<'_>], request: &mut StartRun) -> Result<(), Problem> {
    if bounds.iter().all(|bound| bound.workspaces.is_empty()) {
        return Ok(());
    }
    let asked = request.workspace.clone();
    let resolved = tokio::task::spawn_blocking(move || resolve(asked)).await;
    let resolved = resolved.map_err(|error| Problem::internal("cannot look at a workspace", &error))?;
    for bound in bounds {
        bound.check_workspace(resolved.as_deref(), &request.workspace)?;
    }
    if let Some(resolved) = resolved {
        request.workspace = resolved;
    }
    let (SessionStart::ResumeSession { session } | SessionStart::ForkSession { session }) = &request.session
    else {
        return Ok(());
    };
    // Some agents find a conversation wherever it was held.
    let query = RunQuery {
        session: Some(session.clone()),
        ..RunQuery::default()
    };
    let runs = app.store.runs(&query).await?.items;
    let is_covered = |bound: &StartBound<'_>| runs.iter().all(|run| bound.covers(run.workspace.as_ref()));
    if runs.is_empty() || !bounds.iter().all(is_covered) {
        let detail = "a token or server that is confined to workspaces continues only conversations of runs in them, \
                      and this is not one";
        return Err(Problem::new(ProblemCode::WorkspaceNotAllowed, detail).in_field("/resume/session_id"));
    }
    Ok(())
}

/// None if there is no such directory. Those who may not look there are told the same.
fn resolve(workspace: PathBuf) -> Option<PathBuf> {
    workspace.canonicalize().ok().filter(|path| path.is_dir())
}

/// The mode of a start that names none: `ask`, or else the first one that all allow. None leaves it to the launcher,
/// which then also takes agents that have no modes.
fn default_mode(bounds: &[StartBound<'_>]) -> Result<Option<PermissionChoice>, Problem> {
    use PermissionChoice::{AcceptEdits, Ask, Bypass, Plan, Refuse};
    if bounds
        .iter()
        .all(|bound| bound.limits.permission_modes.is_empty())
    {
        return Ok(None);
    }
    let mut modes = [Ask, Plan, Refuse, AcceptEdits, Bypass].into_iter();
    let common = modes.find(|mode| bounds.iter().all(|bound| bound.limits.allows_mode(*mode)));
    match common {
        Some(mode) => Ok(Some(mode)),
        None => {
            let detail = "the token and the server have no permission mode in common: create a token with one of the modes that the \
                 server allows";
            Err(Problem::new(ProblemCode::PermissionModeNotAllowed, detail))
        }
    }
}

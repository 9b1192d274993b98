//! `reconcile`: ends runs whose runner died. Commands and the server call it before they list runs.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;

use super::account;
use crate::home::{Home, HomeError, RunDirectory};
use crate::journal::{Damage, JournalError, JournalWriter, Resumed};
use crate::model::{RunModel, RunState};
use crate::reason::EndReason;
use crate::record::{Record, RunBody, RunEnded, RunEvent};
use crate::state::{Durability, Liveness, RunFile, RunStatus, Runner, StateError};

/// How long a runner may take from creating the directory to its first record.
const START_TIMEOUT: Duration = Duration::from_secs(600);

/// What a look at all runs that may not have ended found.
#[derive(Debug, Default)]
pub struct Reconciliation {
    /// Runs whose runner died. They have ended now.
    pub lost: Vec<LostRun>,
    /// Runs that could not be looked at or written to, and why. They are tried again next time.
    pub failed: Vec<(String, ReconcileError)>,
}

#[derive(Debug)]
pub struct LostRun {
    pub id: String,
    /// How it is known, for people.
    pub evidence: String,
    /// How many processes it left behind, which were killed.
    pub killed: u32,
    /// Where the piece of a line was put that its journal ended with.
    pub torn: Option<PathBuf>,
    /// What else is wrong with its journal.
    pub damage: Vec<Damage>,
}

/// A run could not be looked at or written to.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub enum ReconcileError {
    Journal(#[from] JournalError),
    State(#[from] StateError),
}

/// Ends runs whose runner is gone: kills what they left behind, closes their journals and files with the reason
/// `lost` and the evidence, and adds what they spent to their tasks' accounts. A run with a live runner is never touched:
/// its process and its lock on the journal are the evidence.
pub fn reconcile(home: &Home, at: Timestamp) -> Result<Reconciliation, HomeError> {
    let mut found = Reconciliation::default();
    for run in home.list_active()? {
        match reconcile_run(home, &run, at) {
            Ok(Verdict::Alive) => {}
            Ok(Verdict::Over(lost)) => {
                found.lost.extend(lost);
                // If this fails, the next look finds a run that has ended.
                let _ = fs::remove_file(home.active_directory().join(run.id()));
            }
            Ok(Verdict::Gone) => home.unmark_gone(&run),
            Err(error) => found.failed.push((run.id().to_owned(), error)),
        }
    }
    Ok(found)
}

enum Verdict {
    /// Or about to be.
    Alive,
    Over(Option<LostRun>),
    Gone,
}

fn reconcile_run(home: &Home, run: &RunDirectory, at: Timestamp) -> Result<Verdict, ReconcileError> {
    let file = match RunFile::load(&run.run_file()) {
        Ok(mut file) if file.is_ended() => {
            // Its runner may have given up waiting for the account's lock.
            let accounted = file.status.accounted_cost;
            let cost = file.status.totals.cost;
            account::settle(home, &mut file, cost, at);
            if file.status.accounted_cost != accounted {
                file.save(&run.run_file(), Durability::Synced)?;
            }
            return Ok(Verdict::Over(None));
        }
        Ok(file) => Some(file),
        Err(StateError::Corrupt { .. }) => None,
        Err(StateError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            if !run.path().is_dir() {
                return Ok(Verdict::Gone);
            }
            None
        }
        Err(error) => return Err(error.into()),
    };
    let liveness = file
        .as_ref()
        .map_or(Liveness::Unknown, |file| file.runner.liveness());
    if liveness == Liveness::Alive {
        return Ok(Verdict::Alive);
    }
    let mut model = RunModel::new();
    let resumed = match JournalWriter::resume(&run.journal(), at, |record| {
        model.apply(record);
    }) {
        Ok(resumed) => Some(resumed),
        Err(JournalError::Held(_)) => return Ok(Verdict::Alive),
        Err(JournalError::Unusable { source, .. }) if source.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error.into()),
    };
    // With the journal's lock the runner is gone for good: what it saved last counts, not what was read above.
    let file = RunFile::load(&run.run_file()).ok().or(file);
    let Some(mut file) = file.or_else(|| rebuild(run, &model)) else {
        // Nothing but a directory: the run is being started, or its runner was killed at once.
        let modified = fs::metadata(run.path()).and_then(|directory| directory.modified());
        let is_old = modified.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > START_TIMEOUT));
        return Ok(if is_old {
            Verdict::Over(None)
        } else {
            Verdict::Alive
        });
    };
    if let (Some(ended_at), Some(ending)) = (model.ended_at(), model.ended()) {
        // The runner, or another process that reconciled the run, died before it could save `run.json`.
        account::settle(home, &mut file, ending.totals.cost, at);
        end(&mut file, ending, ended_at);
        file.save(&run.run_file(), Durability::Synced)?;
        return Ok(Verdict::Over(None));
    }
    let killed = agent_process::sweep(&run.marker());
    // The runner could not even write its end.
    let reason = match run.storage_failure().exists() {
        true => EndReason::StorageFailed,
        false => EndReason::Lost,
    };
    let evidence = match reason {
        EndReason::StorageFailed => format!("{}, not even its end", reason.describe()),
        _ => describe(&file.runner, liveness, &model, killed),
    };
    let mut totals = model.totals();
    // What the open process used after its last report is unknown.
    let open = model.account().attempt();
    totals.is_estimate |= open.is_some_and(|open| open.tokens.total() > 0);
    // The runner also estimates what the agent does not tell.
    if file.status.totals.cost > totals.cost {
        totals.cost = file.status.totals.cost;
        totals.is_estimate = true;
    }
    let ending = RunEnded {
        reason: reason.into(),
        exit_code: reason.exit_code(),
        message: Some(evidence.clone()),
        iterations: model.iteration(),
        totals,
    };
    let (torn, damage) = match resumed {
        Some(resumed) => close(resumed, &model, ending.clone(), at)?,
        None => (None, Vec::new()),
    };
    account::settle(home, &mut file, ending.totals.cost, at);
    end(&mut file, &ending, at);
    file.save(&run.run_file(), Durability::Synced)?;
    // A socket without a runner makes clients wait.
    let _ = fs::remove_file(run.socket());
    Ok(Verdict::Over(Some(LostRun {
        id: run.id().to_owned(),
        evidence,
        killed,
        torn,
        damage,
    })))
}

fn close(
    resumed: Resumed,
    model: &RunModel,
    ending: RunEnded,
    at: Timestamp,
) -> Result<(Option<PathBuf>, Vec<Damage>), JournalError> {
    let Resumed {
        mut writer,
        last_seq,
        torn,
        damage,
    } = resumed;
    // Record 1 names the format: in a journal without it there is nothing to end.
    if model.seq() > 0 {
        writer.append(&Record {
            seq: last_seq + 1,
            at,
            iteration: model.iteration(),
            attempt: model.attempt(),
            event: RunEvent::Run(RunBody::RunEnded(ending)),
        })?;
        writer.sync()?;
    }
    Ok((torn, damage))
}

fn end(file: &mut RunFile, ending: &RunEnded, at: Timestamp) {
    file.status.state = RunState::Ended {
        reason: ending.reason.clone(),
    };
    file.status.state_since = Some(at);
    file.status.totals = ending.totals;
    file.ended_at = Some(at);
    file.reason = Some(ending.reason.clone());
    file.exit_code = Some(ending.exit_code);
}

fn describe(runner: &Runner, liveness: Liveness, model: &RunModel, killed: u32) -> String {
    let pid = runner.pid;
    let mut evidence = match liveness {
        Liveness::Alive | Liveness::Gone => format!("the runner died (process {pid} is gone)"),
        Liveness::Replaced => format!("the runner died (process {pid} is another program now)"),
        Liveness::OtherBoot => "the machine was restarted while the run was active".to_owned(),
        Liveness::Unknown => "the runner died (it no longer locks its journal)".to_owned(),
    };
    match model.last_at() {
        Some(at) => evidence.push_str(&format!("; its last record is from {at}")),
        None => evidence.push_str("; it wrote no records"),
    }
    match killed {
        0 => {}
        1 => evidence.push_str("; 1 process that it left behind was killed"),
        _ => evidence.push_str(&format!("; {killed} processes that it left behind were killed")),
    }
    evidence
}

/// The file of a run that lost it, from its first record.
fn rebuild(run: &RunDirectory, model: &RunModel) -> Option<RunFile> {
    let (started_at, started) = (model.started_at()?, model.started()?);
    Some(RunFile {
        version: RunFile::VERSION,
        run_id: run.id().to_owned(),
        workspace: started.workspace.clone(),
        backend: started.backend.clone(),
        display_name: started.display_name.clone(),
        model: model.model().map(str::to_owned),
        agent_version: model.agent_version().map(str::to_owned),
        permission_mode: model.permission_mode().map(str::to_owned),
        cwd: None,
        tools: Vec::new(),
        mcp_servers: Vec::new(),
        session_ids: model.session_ids().to_vec(),
        mode: started.mode.clone(),
        task: started.task.clone(),
        kind: started.kind.clone(),
        by: started.by.clone(),
        resumed_from: started.resumed_from.clone(),
        is_ephemeral: started.is_ephemeral,
        prompt: String::new(),
        started_at,
        ended_at: None,
        status: RunStatus {
            iteration: model.iteration(),
            attempt: model.attempt(),
            spent_before: started.spent_before,
            max_cost: started.max_cost,
            max_iterations: (started.max_iterations > 0).then_some(started.max_iterations),
            warnings: model.counts().warnings,
            ..RunStatus::default()
        },
        reason: None,
        exit_code: None,
        runner: Runner {
            pid: 0,
            start_time: 0,
            boot_id: String::new(),
        },
        ralph_version: started.ralph_version.clone(),
        other: serde_json::Map::new(),
    })
}

//! Runs whose runner died.

use std::fs;
use std::io;
use std::path::PathBuf;

use jiff::Timestamp;

use super::account;
use super::tally::Tally;
use crate::home::{Home, HomeError, RunDirectory};
use crate::journal::{Damage, JournalError, JournalWriter, Resumed};
use crate::reason::EndReason;
use crate::record::{Record, RunBody, RunEnded, RunEvent};
use crate::state::{Durability, Liveness, RunFile, RunState, RunStatus, Runner, StateError};

/// What a look at all runs that may not have ended found.
#[derive(Debug, Default)]
pub struct Reconciliation {
    /// Runs whose runner died. They have ended now.
    pub lost: Vec<LostRun>,
    /// Runs that could not be looked at or written to, and why. They are tried again next time.
    pub failed: Vec<(String, ReconcileError)>,
}

/// A run whose runner died.
#[derive(Debug)]
pub struct LostRun {
    /// The run.
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
    /// Its journal.
    Journal(#[from] JournalError),
    /// Its file.
    State(#[from] StateError),
}

/// Ends runs whose runner is gone: kills what they left behind, closes their journals and files with the reason
/// `lost` and the evidence, and adds what they spent to their tasks' accounts. A run whose runner is there is never touched: its process is looked at, and the lock
/// that it holds on its journal.
///
/// # Errors
/// When the runs cannot be listed.
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
    /// It has no directory.
    Gone,
}

fn reconcile_run(home: &Home, run: &RunDirectory, at: Timestamp) -> Result<Verdict, ReconcileError> {
    let file = match RunFile::load(&run.run_file()) {
        Ok(file) if file.is_ended() => return Ok(Verdict::Over(None)),
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
    let mut tally = Tally::default();
    let resumed = match JournalWriter::resume(&run.journal(), at, |record| tally.add(record)) {
        Ok(resumed) => Some(resumed),
        Err(JournalError::Held(_)) => return Ok(Verdict::Alive),
        Err(JournalError::Unusable { source, .. }) if source.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error.into()),
    };
    let Some(mut file) = file.or_else(|| rebuild(run, &tally)) else {
        // Nothing but a directory: it is being made, or was never more than that.
        return Ok(Verdict::Alive);
    };
    let ending = tally.ended.take();
    if let Some((ended_at, ending)) = ending {
        // The runner died between its last record and its last note of it; or whoever found it lost did.
        if ending.reason == EndReason::Lost {
            account::settle(home, &mut file, ending.totals.cost, at);
        }
        end(&mut file, &ending, ended_at);
        file.save(&run.run_file(), Durability::Synced)?;
        return Ok(Verdict::Over(None));
    }
    let killed = agent_process::sweep(run.id());
    let evidence = describe(&file.runner, liveness, &tally, killed);
    let mut totals = tally.totals();
    // The runner also estimates what the agent does not tell.
    if file.status.totals.cost > totals.cost {
        totals.cost = file.status.totals.cost;
        totals.is_estimate = true;
    }
    let ending = RunEnded {
        reason: EndReason::Lost,
        exit_code: EndReason::Lost.exit_code(),
        message: Some(evidence.clone()),
        iterations: tally.last.map_or(0, |(_, _, iteration, _)| iteration),
        totals,
    };
    let (torn, damage) = match resumed {
        Some(resumed) => close(resumed, &tally, ending.clone(), at)?,
        None => (None, Vec::new()),
    };
    account::settle(home, &mut file, ending.totals.cost, at);
    end(&mut file, &ending, at);
    file.save(&run.run_file(), Durability::Synced)?;
    // A socket that nobody answers only makes clients wait.
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
    tally: &Tally,
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
    if let Some((_, _, iteration, attempt)) = tally.last {
        writer.append(&Record {
            seq: last_seq + 1,
            at,
            iteration,
            attempt,
            event: RunEvent::Run(RunBody::RunEnded(ending)),
        })?;
        writer.sync()?;
    }
    Ok((torn, damage))
}

fn end(file: &mut RunFile, ending: &RunEnded, at: Timestamp) {
    file.status.state = RunState::Ended;
    file.status.activity = None;
    file.status.totals = ending.totals;
    file.ended_at = Some(at);
    file.reason = Some(ending.reason);
    file.exit_code = Some(ending.exit_code);
}

fn describe(runner: &Runner, liveness: Liveness, tally: &Tally, killed: u32) -> String {
    let Runner {
        pid,
        start_time,
        boot_id,
    } = runner;
    let what = match liveness {
        Liveness::Alive | Liveness::Gone => "is gone",
        Liveness::Replaced => "is gone: its pid is another process's",
        Liveness::OtherBoot => "is gone: the machine was restarted",
        Liveness::Unknown => "holds its journal no more",
    };
    let mut evidence = format!("the runner (pid {pid}, started at tick {start_time}, boot {boot_id}) {what}");
    match tally.last {
        Some((seq, at, ..)) => evidence.push_str(&format!("; its last record is {seq}, of {at}")),
        None => evidence.push_str("; it has no records"),
    }
    match killed {
        0 => {}
        1 => evidence.push_str("; a process that it left behind was killed"),
        _ => evidence.push_str(&format!("; {killed} processes that it left behind were killed")),
    }
    evidence
}

/// The file of a run that lost it, from its first record.
fn rebuild(run: &RunDirectory, tally: &Tally) -> Option<RunFile> {
    let (started_at, started) = tally.started.as_ref()?;
    let (_, _, iteration, attempt) = tally.last?;
    Some(RunFile {
        version: RunFile::VERSION,
        run_id: run.id().to_owned(),
        workspace: started.workspace.clone(),
        backend: started.backend.clone(),
        display_name: started.display_name.clone(),
        model: started.model.clone(),
        agent_version: None,
        permission_mode: started.permission_mode.clone(),
        cwd: None,
        tools: Vec::new(),
        mcp_servers: Vec::new(),
        session_ids: Vec::new(),
        mode: started.mode.clone(),
        task: started.task.clone(),
        kind: started.kind,
        resumed_from: started.resumed_from.clone(),
        is_ephemeral: started.is_ephemeral,
        prompt: String::new(),
        started_at: *started_at,
        ended_at: None,
        status: RunStatus {
            iteration,
            attempt,
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

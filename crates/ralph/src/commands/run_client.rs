//! Finds the run that a command names, and talks to its runner.

use anyhow::{Context as _, anyhow};
use ralph_run::control::{ControlClient, ControlCommand, ControlError, Receipt};
use ralph_run::{Home, Record, RunDirectory, RunFile, read_journal};

use crate::console::write_stderr;
use crate::settings::find_workspace;
use run_view::one_line;

/// Messages of a runner may quote what an agent wrote.
const MESSAGE_COLUMNS: usize = 500;

/// The newest run: of this workspace if it has one.
const LATEST: &str = "latest";

/// The run with this id, short id, unique beginning of either, or `latest`.
pub(super) fn find(home: &Home, typed: &str) -> anyhow::Result<RunDirectory> {
    match typed {
        LATEST | "last" => latest(home, Wanted::Any),
        _ => Ok(home.find(typed)?),
    }
}

/// As [`find`], but `latest` prefers an active run.
pub(super) fn find_live(home: &Home, typed: &str) -> anyhow::Result<RunDirectory> {
    match typed {
        LATEST | "last" => latest(home, Wanted::Live),
        _ => Ok(home.find(typed)?),
    }
}

/// As [`find_live`], for a command that acts on the agent: `latest` is a run of this workspace.
pub(super) fn find_to_control(home: &Home, typed: &str) -> anyhow::Result<RunDirectory> {
    match typed {
        LATEST | "last" => latest(home, Wanted::ToControl),
        _ => Ok(home.find(typed)?),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Any,
    Live,
    ToControl,
}

/// The newest run of this workspace. Without one, a view takes the newest of all and names it on stderr; a command never
/// acts on the agent of another workspace.
fn latest(home: &Home, wanted: Wanted) -> anyhow::Result<RunDirectory> {
    let cwd = std::env::current_dir().context("the current directory is gone")?;
    let workspace = find_workspace(None, &cwd)?;
    let workspace = workspace.to_string_lossy();
    let mut elsewhere = None;
    if wanted != Wanted::Any {
        let mut active = home.list_active()?;
        active.sort_unstable_by(|first, second| second.id().cmp(first.id()));
        for run in active {
            let Some(file) = load(&run).ok().filter(RunFile::is_live) else {
                continue;
            };
            if file.workspace == workspace {
                return Ok(run);
            }
            elsewhere.get_or_insert((run, Some(file.workspace)));
        }
    }
    // Without an active run, the error of the command is about the newest one.
    for run in home.list()? {
        let file = load(&run).ok();
        if file.as_ref().is_some_and(|file| file.workspace == workspace) {
            return Ok(run);
        }
        elsewhere.get_or_insert((run, file.map(|file| file.workspace)));
    }
    let (run, other) =
        elsewhere.ok_or_else(|| anyhow!("there are no runs yet; start one with `ralph run`"))?;
    let id = run.short_id();
    let other = other.map_or_else(
        || "another workspace".to_owned(),
        |other| format!("`{}`", one_line(&other, MESSAGE_COLUMNS)),
    );
    match wanted {
        Wanted::ToControl => Err(anyhow!(
            "no active run in this workspace; to use the one in {other}, name it: {id}"
        )),
        Wanted::Any | Wanted::Live => {
            write_stderr(&format!(
                "ralph: no run in this workspace; using run {id} of {other}\n"
            ));
            Ok(run)
        }
    }
}

/// Sends a command to a run.
pub(super) async fn ask(run: &RunDirectory, command: ControlCommand) -> anyhow::Result<Receipt> {
    let mut client = connect(run).await?;
    request(&mut client, run, command).await
}

pub(super) async fn connect(run: &RunDirectory) -> anyhow::Result<ControlClient> {
    ControlClient::connect(run.socket())
        .await
        .map_err(|error| explain(run, error))
}

pub(super) async fn request(
    client: &mut ControlClient,
    run: &RunDirectory,
    command: ControlCommand,
) -> anyhow::Result<Receipt> {
    client.request(command).await.map_err(|error| explain(run, error))
}

/// The reason why a runner does not answer, as an error.
pub(super) fn explain(run: &RunDirectory, error: ControlError) -> anyhow::Error {
    anyhow!(describe_refusal(run, error))
}

/// The same in one line, for a view that continues.
pub(crate) fn describe_refusal(run: &RunDirectory, error: ControlError) -> String {
    one_line(
        &ralph_run::control::describe_refusal(run, &error),
        MESSAGE_COLUMNS,
    )
}

/// The records of a run's journal. `ralph logs` reports damaged ones.
pub(super) fn records(run: &RunDirectory) -> anyhow::Result<impl Iterator<Item = Record>> {
    let journal =
        read_journal(&run.journal()).with_context(|| format!("run {} has no journal yet", run.id()))?;
    Ok(journal.flatten())
}

pub(super) fn load(run: &RunDirectory) -> anyhow::Result<RunFile> {
    RunFile::load(&run.run_file()).with_context(|| format!("cannot read the state of run {}", run.id()))
}

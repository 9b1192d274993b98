//! Finding a run and getting through to it.

use anyhow::{Context as _, anyhow};
use jiff::Timestamp;
use ralph_run::control::{ControlClient, ControlCommand, ControlError, Receipt, RefusalCode};
use ralph_run::{Home, Liveness, RunDirectory, RunFile};

use crate::console::one_line;

/// Messages of a runner may quote what an agent wrote.
const MESSAGE_COLUMNS: usize = 500;

/// The run that is meant: its name, the start of it, or `latest`.
pub(super) fn find(home: &Home, asked: &str) -> anyhow::Result<RunDirectory> {
    let asked = if asked == "latest" { "last" } else { asked };
    Ok(home.find(asked)?)
}

/// Asks a run for something.
pub(super) async fn ask(run: &RunDirectory, command: ControlCommand) -> anyhow::Result<Receipt> {
    let mut client = connect(run).await?;
    request(&mut client, run, command).await
}

/// Gets through to the runner of a run.
pub(super) async fn connect(run: &RunDirectory) -> anyhow::Result<ControlClient> {
    ControlClient::connect(run.socket())
        .await
        .map_err(|error| explain(run, error))
}

/// Asks for something on a connection.
pub(super) async fn request(
    client: &mut ControlClient,
    run: &RunDirectory,
    command: ControlCommand,
) -> anyhow::Result<Receipt> {
    client.request(command).await.map_err(|error| explain(run, error))
}

/// Says what is the matter with a run whose runner does not answer.
pub(super) fn explain(run: &RunDirectory, error: ControlError) -> anyhow::Error {
    match &error {
        ControlError::Refused(refusal) if refusal.code != RefusalCode::RunEnded => {
            anyhow!("{}", one_line(&refusal.message, MESSAGE_COLUMNS))
        }
        ControlError::NotRunning { .. } | ControlError::Closed | ControlError::Refused(_) => {
            match load(run) {
                Ok(file) => match describe_absence(&file, file.runner.liveness(), Timestamp::now()) {
                    Some(why) => anyhow!(why),
                    None => anyhow::Error::new(error),
                },
                Err(unreadable) => unreadable.context(error.to_string()),
            }
        }
        _ => anyhow::Error::new(error),
    }
}

/// What a run's file tells.
pub(super) fn load(run: &RunDirectory) -> anyhow::Result<RunFile> {
    RunFile::load(&run.run_file()).with_context(|| format!("nothing is known about run {}", run.id()))
}

/// Why nobody answers for a run; none when somebody should.
pub(super) fn describe_absence(file: &RunFile, liveness: Liveness, now: Timestamp) -> Option<String> {
    let id = &file.run_id;
    if file.is_ended() {
        let reason = file.reason.map_or("nobody knows why", |reason| reason.describe());
        let when = file
            .ended_at
            .map(|at| format!(" {}", ago(at, now)))
            .unwrap_or_default();
        return Some(format!("run {id} has ended ({reason}){when}"));
    }
    let pid = file.runner.pid;
    match liveness {
        Liveness::Gone | Liveness::Replaced => Some(format!(
            "no runner answers: process {pid} of run {id} is gone, and the run with it; `ralph runs` will note it"
        )),
        Liveness::OtherBoot => Some(format!(
            "no runner answers: the machine was started anew since run {id}; `ralph runs` will note it"
        )),
        Liveness::Alive | Liveness::Unknown => None,
    }
}

/// Whether nobody runs a run any more.
pub(super) fn is_lost(file: &RunFile) -> bool {
    match file.runner.liveness() {
        Liveness::Gone | Liveness::Replaced | Liveness::OtherBoot => !file.is_ended(),
        Liveness::Alive | Liveness::Unknown => false,
    }
}

/// `3 minutes ago`.
fn ago(then: Timestamp, now: Timestamp) -> String {
    let seconds = now.as_second() - then.as_second();
    let (number, unit) = match seconds {
        ..=0 => return "just now".to_owned(),
        1..60 => (seconds, "second"),
        60..3_600 => (seconds / 60, "minute"),
        3_600..86_400 => (seconds / 3_600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {unit}{plural} ago")
}

#[cfg(test)]
mod tests {
    use super::ago;
    use jiff::Timestamp;

    #[test]
    fn times_are_told_as_people_do() {
        let at = |second| Timestamp::from_second(second).unwrap();
        for (seconds, told) in [
            (-5, "just now"),
            (0, "just now"),
            (1, "1 second ago"),
            (59, "59 seconds ago"),
            (60, "1 minute ago"),
            (199, "3 minutes ago"),
            (7_300, "2 hours ago"),
            (200_000, "2 days ago"),
        ] {
            assert_eq!(ago(at(1_000_000), at(1_000_000 + seconds)), told);
        }
    }
}

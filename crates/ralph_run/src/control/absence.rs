//! Why a runner does not answer or does not do what it is asked, in words. Commands and views show them.

use jiff::Timestamp;

use super::error::ControlError;
use super::refusal::RefusalCode;
use crate::home::RunDirectory;
use crate::state::{Liveness, RunFile};

/// Why a runner did not do a command. May quote what an agent wrote.
pub fn describe_refusal(run: &RunDirectory, error: &ControlError) -> String {
    match error {
        ControlError::Refused(refusal) if refusal.code != RefusalCode::RunEnded => refusal.message.clone(),
        ControlError::NotRunning { .. }
        | ControlError::Closed
        | ControlError::Silent { .. }
        | ControlError::Refused(_) => match RunFile::load(&run.run_file()) {
            Ok(file) => describe_absence(&file, file.runner.liveness(), Timestamp::now())
                .unwrap_or_else(|| error.to_string()),
            Err(unreadable) => format!("{error}: cannot read the state of run {}: {unreadable}", run.id()),
        },
        ControlError::NotARunner { .. }
        | ControlError::Incompatible { .. }
        | ControlError::TooLong { .. }
        | ControlError::Io(_) => error.to_string(),
    }
}

/// Why a runner does not answer; `None` if it should.
pub fn describe_absence(file: &RunFile, liveness: Liveness, now: Timestamp) -> Option<String> {
    let id = &file.run_id;
    if file.is_ended() {
        let reason = file.ended_why();
        let when = file
            .ended_at
            .map(|at| format!(" {}", ago(at, now)))
            .unwrap_or_default();
        return Some(format!("run {id} ended{when} ({reason})"));
    }
    let pid = file.runner.pid;
    match liveness {
        Liveness::Gone | Liveness::Replaced => Some(format!(
            "run {id} is no longer running (process {pid} is gone); run `ralph runs` to record its end"
        )),
        Liveness::OtherBoot => Some(format!(
            "run {id} is no longer running (the machine was rebooted after it started); run `ralph runs` to record its end"
        )),
        Liveness::Alive | Liveness::Unknown if file.runner.is_stopped() => Some(format!(
            "run {id} is suspended; continue it with `fg` in its terminal or `kill -CONT {pid}`"
        )),
        Liveness::Alive | Liveness::Unknown => None,
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
    fn times_are_written_as_people_say_them() {
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

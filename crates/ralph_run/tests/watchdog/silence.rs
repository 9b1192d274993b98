//! An agent that says nothing.

use agent_api::{
    Body, ErrorClass, ErrorInfo, Outcome, PermissionRequested, RequestId, Retry, ToolKind, ToolStatus,
    TurnFinished,
};
use ralph_run::watchdog::WatchRules;
use ralph_run::{Continued, IterationOutcome, RunBody, Suspended, Warned, WarningKind};
use serde_json::json;

use crate::stage::Stage;

const SIX_MINUTES: i64 = 6 * 60;

fn stage() -> Stage {
    Stage::new(WatchRules::default())
}

#[test]
fn six_minutes_of_silence_in_a_turn_are_found_once() {
    let mut stage = stage();
    stage.wait(SIX_MINUTES - 1);
    assert_eq!(stage.take(), []);
    let last = stage.seq();
    stage.wait(1);
    let [finding] = stage.take().try_into().unwrap();
    assert_eq!(finding.kind, WarningKind::Silence);
    assert_eq!(finding.message, "the agent has been silent for 6m");
    assert_eq!(finding.evidence[0].seq, last);
    // The warning itself is not a sign of life.
    stage.run(RunBody::Warned(Warned::new(WarningKind::Silence, "silent")));
    stage.wait(3 * SIX_MINUTES);
    assert_eq!(stage.kinds(), []);
    // A word of the agent is, and the next silence is another one.
    stage.read("a", "");
    stage.wait(SIX_MINUTES);
    assert_eq!(stage.kinds(), [WarningKind::Silence]);
}

#[test]
fn a_running_call_may_be_silent_for_longer() {
    let mut stage = stage();
    let item = stage.start_call("Bash", ToolKind::Execute, &json!({"command": "cargo build"}));
    stage.wait(5 * SIX_MINUTES - 1);
    assert_eq!(stage.take(), []);
    stage.wait(1);
    let [finding] = stage.take().try_into().unwrap();
    assert_eq!(
        finding.message,
        "the agent has been silent for 30m while a tool call is running"
    );
    stage.end_call(item, ToolStatus::Completed, "", Vec::new());
    stage.wait(SIX_MINUTES);
    assert_eq!(stage.kinds(), [WarningKind::Silence]);
}

#[test]
fn an_agent_that_waits_for_an_answer_or_has_no_turn_may_be_silent() {
    let mut asking = stage();
    let request = PermissionRequested::new(RequestId::new("r"), "Bash", ToolKind::Execute);
    asking.event(Body::PermissionRequested(Box::new(request)));
    asking.wait(10 * SIX_MINUTES);
    assert_eq!(asking.kinds(), []);
    let mut done = stage();
    let turn = TurnFinished::new(1, Outcome::Succeeded);
    done.event(Body::TurnFinished(Box::new(turn)));
    done.wait(10 * SIX_MINUTES);
    done.end_iteration("Done.", IterationOutcome::Continues);
    // A check runs, or the run pauses.
    done.wait(10 * SIX_MINUTES);
    assert_eq!(done.kinds(), []);
}

#[test]
fn a_retry_that_the_agent_has_announced_is_waited_for() {
    let mut stage = stage();
    let mut retry = Retry::new(ErrorInfo::new(ErrorClass::RateLimit, "429", "too many requests"));
    retry.delay_ms = Some(10 * 60 * 1_000);
    stage.event(Body::RetryScheduled(Box::new(retry)));
    stage.wait(600 + SIX_MINUTES - 1);
    assert_eq!(stage.kinds(), []);
    stage.wait(1);
    assert_eq!(stage.kinds(), [WarningKind::Silence]);
}

#[test]
fn a_machine_that_was_suspended_is_not_a_silent_agent() {
    let mut stage = stage();
    stage.wait(60);
    stage.sleep(8 * 60 * 60);
    stage.wait(SIX_MINUTES - 61);
    assert_eq!(stage.kinds(), []);
    stage.wait(1);
    assert_eq!(stage.kinds(), [WarningKind::Silence]);
}

#[test]
fn silence_after_ctrl_z_is_found_after_the_usual_time() {
    let mut stage = stage();
    stage.wait(60);
    stage.run(RunBody::Suspended(Suspended { pid: 1 }));
    // The driver first records that it continues, and then looks at the clock.
    stage.pass(8 * 60 * 60);
    stage.run(RunBody::Continued(Continued {
        suspended_ms: 8 * 3_600_000,
    }));
    stage.wait(SIX_MINUTES);
    assert_eq!(stage.kinds(), []);
    stage.wait(1);
    assert_eq!(stage.kinds(), [WarningKind::Silence]);
}

#[test]
fn a_word_of_the_agent_right_before_or_after_a_suspension_starts_the_silence_again() {
    let mut before = stage();
    before.wait(60);
    before.pass(1);
    before.read("a", "");
    before.sleep(8 * 60 * 60);
    let mut after = stage();
    after.wait(60);
    after.pass(8 * 60 * 60);
    after.read("a", "");
    after.wait(1);
    for mut stage in [before, after] {
        stage.wait(SIX_MINUTES - 1);
        assert_eq!(stage.kinds(), []);
        stage.wait(1);
        assert_eq!(stage.kinds(), [WarningKind::Silence]);
    }
}

#[test]
fn an_announced_retry_is_still_waited_for_after_a_suspension() {
    let mut stage = stage();
    stage.wait(60);
    let mut retry = Retry::new(ErrorInfo::new(ErrorClass::RateLimit, "429", "too many requests"));
    retry.delay_ms = Some(10 * 60 * 1_000);
    stage.event(Body::RetryScheduled(Box::new(retry)));
    stage.sleep(8 * 60 * 60);
    stage.wait(600 + SIX_MINUTES - 1);
    assert_eq!(stage.kinds(), []);
    stage.wait(1);
    assert_eq!(stage.kinds(), [WarningKind::Silence]);
}

#[test]
fn an_old_journal_shows_silence_between_its_records() {
    let mut stage = stage();
    stage.pass(SIX_MINUTES - 1);
    stage.read("a", "");
    assert_eq!(stage.kinds(), []);
    stage.pass(SIX_MINUTES);
    stage.read("b", "");
    assert_eq!(stage.kinds(), [WarningKind::Silence]);
}

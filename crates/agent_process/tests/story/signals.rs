//! Signals and the stop ladder, on systems that have signals.

use std::time::Duration;

use agent_process::{Exit, StopStep, WaitStatus};
use libtest_mimic::Trial;
use test_support::script::{Script, Signal};

use super::{collect, run, spawn_ready, trial, wait_until, waiting};

/// Short enough for a test, long enough to tell the steps apart.
const GRACE: Duration = Duration::from_millis(300);

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    // Otherwise a program that opens the terminal is stopped by SIGTTIN, and nobody notices.
    #[cfg(target_os = "linux")]
    trials.push(trial(
        "the_child_leads_a_session_of_its_own",
        |scene| async move {
            let (bytes, _) = run(scene.spec(&Script::new().report())).await;
            let report: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
            assert!(report["pid"].is_u64(), "{report}");
            assert_eq!(report["pid"], report["process_group"], "{report}");
            assert_eq!(report["pid"], report["session"], "{report}");
        },
    ));
    trials.push(trial("a_signal_is_reported", |scene| async move {
        let (_, report) = run(scene.spec(&Script::new().die(Signal::SegmentationFault))).await;
        assert_eq!(report.exit, Exit::Signal(11));
    }));
    trials.push(trial(
        "a_kill_from_outside_is_reported_with_a_hint",
        |scene| async move {
            let (_, report) = run(scene.spec(&Script::new().die(Signal::Kill))).await;
            assert_eq!(report.exit, Exit::Signal(9));
            assert_eq!(report.exit.to_string(), "killed by signal 9 (out of memory?)");
        },
    ));
    trials.push(trial(
        "interrupt_lets_the_child_finish_its_way",
        |scene| async move {
            let script = Script::new()
                .on_signal(Signal::Interrupt, Script::new().emit("result").exit(0))
                .then(waiting());
            let process = spawn_ready(scene.spec(&script)).await;
            process.control.interrupt();
            let (bytes, report) = collect(process).await;
            assert_eq!(bytes, b"result\n");
            assert_eq!((report.exit, report.stopped_by), (Exit::Code(0), None));
        },
    ));
    trials.push(trial(
        "stop_is_answered_by_the_interrupt_and_reported_as_ours",
        |scene| async move {
            let script = Script::new()
                .on_signal(Signal::Interrupt, Script::new().emit("result").exit(0))
                .then(waiting());
            let process = spawn_ready(scene.spec(&script)).await;
            process.control.stop();
            let (bytes, report) = collect(process).await;
            assert_eq!(bytes, b"result\n");
            assert_eq!(
                (report.exit, report.status),
                (Exit::Cancelled, Some(WaitStatus::Code(0)))
            );
            assert_eq!(report.stopped_by, Some(StopStep::Interrupt));
        },
    ));
    trials.push(trial(
        "a_child_that_ignores_interrupts_is_terminated",
        |scene| async move {
            let script = Script::new().ignore_signals([Signal::Interrupt]).then(waiting());
            let mut spec = scene.spec(&script);
            spec.limits.interrupt_grace = GRACE;
            let process = spawn_ready(spec).await;
            process.control.stop();
            let (_, report) = collect(process).await;
            assert_eq!(
                (report.exit, report.status),
                (Exit::Cancelled, Some(WaitStatus::Signal(15)))
            );
            assert_eq!(report.stopped_by, Some(StopStep::Terminate));
        },
    ));
    trials.push(trial(
        "a_child_that_ignores_everything_is_killed_while_its_output_is_read",
        |scene| async move {
            let dying = scene.path("dying");
            let script = Script::new()
                .ignore_signals([Signal::Interrupt])
                .on_signal(Signal::Terminate, Script::new().emit("no").create_file(&dying))
                .then(waiting());
            let mut spec = scene.spec(&script);
            spec.limits.interrupt_grace = GRACE;
            spec.limits.terminate_grace = 5 * GRACE;
            let process = spawn_ready(spec).await;
            process.control.stop();
            let (bytes, report) = collect(process).await;
            assert!(dying.exists());
            assert_eq!(bytes, b"no\n");
            assert_eq!(
                (report.exit, report.status),
                (Exit::Cancelled, Some(WaitStatus::Signal(9)))
            );
            assert_eq!(report.stopped_by, Some(StopStep::Kill));
        },
    ));
    trials.push(trial("a_second_stop_kills_at_once", |scene| async move {
        let script = Script::new()
            .ignore_signals([Signal::Interrupt, Signal::Terminate])
            .then(waiting());
        let mut spec = scene.spec(&script);
        // Only the second stop can end it.
        spec.limits.interrupt_grace = Duration::MAX;
        spec.limits.terminate_grace = Duration::MAX;
        let process = spawn_ready(spec).await;
        process.control.stop();
        process.control.stop();
        let (_, report) = collect(process).await;
        assert_eq!(report.stopped_by, Some(StopStep::Kill));
    }));
    trials.push(trial("a_stopped_child_can_be_killed", |scene| async move {
        let script = Script::new().emit("ready").stop_self();
        let process = spawn_ready(scene.spec(&script)).await;
        process.control.kill();
        let (_, report) = collect(process).await;
        assert_eq!(
            (report.exit, report.status),
            (Exit::Cancelled, Some(WaitStatus::Signal(9)))
        );
    }));
    trials.push(trial(
        "a_child_that_closes_its_output_and_stays_is_stopped",
        |scene| async move {
            let mut spec = scene.spec(&Script::new().emit("bye").close_stdout().sleep_forever());
            spec.limits.exit_after_end_of_output = GRACE;
            let (bytes, report) = run(spec).await;
            assert_eq!(bytes, b"bye\n");
            assert_eq!(report.exit, Exit::TimedOut);
        },
    ));
    trials.push(trial(
        "a_stop_after_a_deadline_still_climbs_the_ladder",
        |scene| async move {
            let (interrupted, ended) = (scene.path("interrupted"), scene.path("ended"));
            let script = Script::new()
                .on_signal(Signal::Interrupt, Script::new().create_file(&interrupted))
                .on_signal(Signal::Terminate, Script::new().create_file(&ended).exit(0))
                .emit("ready")
                .close_stdout()
                .sleep_forever();
            let mut spec = scene.spec(&script);
            // Starts when the child closes its output, so the signal handlers are in place.
            spec.limits.exit_after_end_of_output = GRACE;
            spec.limits.interrupt_grace = GRACE;
            let process = spawn_ready(spec).await;
            wait_until(|| interrupted.exists()).await;
            process.control.stop();
            let (_, report) = collect(process).await;
            assert!(ended.exists());
            assert_eq!(report.exit, Exit::TimedOut);
            assert_eq!(report.stopped_by, Some(StopStep::Terminate));
        },
    ));
    trials.push(trial(
        "a_child_that_stopped_itself_can_still_end_its_way",
        |scene| async move {
            let script = Script::new()
                .ignore_signals([Signal::Interrupt])
                .on_signal(Signal::Terminate, Script::new().emit("ended").exit(0))
                .emit("ready")
                .stop_self();
            let mut spec = scene.spec(&script.sleep_forever());
            spec.limits.interrupt_grace = GRACE;
            let process = spawn_ready(spec).await;
            process.control.stop();
            let (bytes, report) = collect(process).await;
            assert_eq!(
                (bytes.as_slice(), report.exit),
                (&b"ended\n"[..], Exit::Cancelled)
            );
        },
    ));
    trials
}

//! Every child ends, and it is known how.

use std::time::Duration;

use agent_process::{Exit, StdinMode, StopStep, WaitStatus, spawn};
use libtest_mimic::Trial;
use test_support::script::{Script, Signal};
use tokio::io::AsyncWriteExt;

use super::{assert_success, collect, for_each_transport, run, spawn_ready, trial, waiting, with_transport};

/// Short enough for a test, long enough to tell the steps apart.
const GRACE: Duration = Duration::from_millis(300);

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    trials.extend(for_each_transport(
        "the_exit_code_is_reported",
        |scene, mode| async move {
            let (bytes, report) = run(with_transport(
                scene.spec(&Script::new().emit("bye").exit(42)),
                mode,
            ))
            .await;
            assert_eq!(
                (report.exit, report.status),
                (Exit::Code(42), Some(WaitStatus::Code(42)))
            );
            assert_eq!(bytes, b"bye\n");
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
        "a_child_deaf_to_interrupts_is_terminated",
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
        "a_child_deaf_to_everything_is_killed_while_its_output_is_read",
        |scene| async move {
            let dying = scene.path("dying");
            let script = Script::new()
                .ignore_signals([Signal::Interrupt])
                .on_signal(Signal::Terminate, Script::new().emit("no").create_file(&dying))
                .then(waiting());
            let mut spec = scene.spec(&script);
            spec.limits.interrupt_grace = GRACE;
            spec.limits.terminate_grace = GRACE;
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
        let process = spawn_ready(scene.spec(&script)).await;
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
    trials.push(trial("the_timeout_runs_from_spawn_to_exit", |scene| async move {
        let mut spec = scene.spec(&waiting());
        spec.limits.timeout = Some(GRACE);
        let (bytes, report) = run(spec).await;
        assert_eq!(bytes, b"ready\n");
        assert_eq!(report.exit, Exit::TimedOut);
    }));
    trials.push(trial(
        "the_timeout_holds_also_when_nobody_reads",
        |scene| async move {
            let mut spec = scene.spec(&Script::new().flood(1_000_000, 1_000));
            spec.limits.timeout = Some(GRACE);
            let process = spawn(spec).await.unwrap();
            assert_eq!(process.exit.await.exit, Exit::TimedOut);
            drop(process.output);
        },
    ));
    trials.push(trial("dropping_the_output_stops_the_child", |scene| async move {
        let process = spawn_ready(scene.spec(&waiting())).await;
        drop(process.output);
        let report = process.exit.await;
        assert_eq!(report.exit, Exit::Cancelled);
    }));
    trials.push(trial(
        "dropping_the_exit_and_the_controls_changes_nothing",
        |scene| async move {
            let gate = scene.path("gate");
            let script = Script::new().emit("ready").wait_for_file(&gate).emit("done");
            let mut process = spawn_ready(scene.spec(&script)).await;
            drop((process.exit, process.control));
            std::fs::write(&gate, "").unwrap();
            assert_eq!(process.output.next_chunk().await.unwrap().unwrap(), "done\n");
            assert!(process.output.next_chunk().await.is_none());
        },
    ));
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
        "a_piped_stdin_is_written_and_its_drop_is_the_end",
        |scene| async move {
            let mut spec = scene.spec(&Script::new().echo());
            spec.stdin = StdinMode::Piped;
            let mut process = spawn(spec).await.unwrap();
            let mut stdin = process.stdin.take().unwrap();
            stdin.write_all(b"hello\n").await.unwrap();
            assert_eq!(process.output.next_chunk().await.unwrap().unwrap(), "hello\n");
            drop(stdin);
            let (rest, report) = collect(process).await;
            assert_success(&report);
            assert_eq!(rest, b"");
        },
    ));
    trials.push(trial(
        "a_child_that_does_not_read_its_stdin_ends_normally",
        |scene| async move {
            let mut spec = scene.spec(&Script::new().exit(0));
            spec.stdin = StdinMode::Bytes(vec![b'x'; 4 * 1024 * 1024].into());
            let (_, report) = run(spec).await;
            assert_success(&report);
            assert!(report.stdin_cut);
        },
    ));
    trials.push(trial(
        "a_stop_after_the_timeout_still_climbs_the_ladder",
        |scene| async move {
            let interrupted = scene.path("interrupted");
            let script = Script::new()
                .on_signal(Signal::Interrupt, Script::new().create_file(&interrupted))
                .on_signal(Signal::Terminate, Script::new().emit("ended").exit(0))
                .then(waiting());
            let mut spec = scene.spec(&script);
            spec.limits.timeout = Some(GRACE);
            spec.limits.interrupt_grace = GRACE;
            let process = spawn_ready(spec).await;
            while !interrupted.exists() {
                tokio::task::yield_now().await;
            }
            process.control.stop();
            let (bytes, report) = collect(process).await;
            assert_eq!((bytes.as_slice(), report.exit), (&b"ended\n"[..], Exit::TimedOut));
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
    trials.push(trial("graces_without_end_are_no_error", |scene| async move {
        let mut spec = scene.spec(&Script::new().emit("bye").exit(3));
        spec.limits.timeout = Some(Duration::MAX);
        spec.limits.drain = Duration::MAX;
        spec.limits.exit_after_end_of_output = Duration::MAX;
        let (bytes, report) = run(spec).await;
        assert_eq!((bytes.as_slice(), report.exit), (&b"bye\n"[..], Exit::Code(3)));
    }));
    trials.push(trial("nothing_is_signalled_after_its_end", |scene| async move {
        let process = spawn(scene.spec(&Script::new().exit(0))).await.unwrap();
        let control = process.control.clone();
        let (_, report) = collect(process).await;
        control.interrupt();
        control.stop();
        control.kill();
        assert_success(&report);
    }));
    trials
}

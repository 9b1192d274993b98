//! How children end, without signals.

use std::time::Duration;

use agent_process::{Exit, StdinMode, WaitStatus, spawn};
use libtest_mimic::Trial;
use test_support::script::Script;
use tokio::io::AsyncWriteExt;

use super::{assert_success, collect, for_each_transport, run, spawn_ready, trial, waiting, with_transport};

/// Short enough for a test.
const TIMEOUT: Duration = Duration::from_millis(300);

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
    trials.push(trial("the_timeout_runs_from_spawn_to_exit", |scene| async move {
        let mut spec = scene.spec(&waiting());
        spec.limits.timeout = Some(TIMEOUT);
        // Whether the child has written anything by then depends on the machine.
        let (_, report) = run(spec).await;
        assert_eq!(report.exit, Exit::TimedOut);
    }));
    trials.push(trial(
        "the_timeout_holds_also_when_nobody_reads",
        |scene| async move {
            let mut spec = scene.spec(&Script::new().flood(1_000_000, 1_000));
            spec.limits.timeout = Some(TIMEOUT);
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
    #[cfg(unix)]
    trials.push(Trial::test(
        "children_of_many_threads_keep_their_own_exit_codes",
        || {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(8)
                .enable_all()
                .build()?;
            runtime.block_on(async {
                let workers = (0..8_i32).map(|worker| {
                    tokio::spawn(async move {
                        for code in (worker..200).step_by(8) {
                            let mut spec = agent_process::SpawnSpec::new("/bin/sh");
                            spec.args = vec!["-c".into(), format!("echo {code}; exit {code}").into()];
                            let (bytes, report) = run(spec).await;
                            assert_eq!(report.exit, Exit::Code(code));
                            assert_eq!(bytes, format!("{code}\n").into_bytes());
                        }
                    })
                });
                for worker in workers.collect::<Vec<_>>() {
                    worker.await?;
                }
                Ok(())
            })
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
    trials
}

//! With a guard: all descendants end with the child, and the child does not notice the guard.

use std::time::Duration;

use agent_process::{Exit, Marker, SpawnSpec, StopStep, Suspension, WaitStatus, spawn};
use libtest_mimic::Trial;
use serde_json::Value;
use test_support::recorded;
use test_support::script::{ChildKind, Script, Signal};

use super::{END_FIRST_THREAD, Scene, collect, isolated, run, spawn_ready, trial, wait_until, waiting};

/// The name of the marker variable is the caller's choice.
const VARIABLE: &str = "AGENT_PROCESS_TEST";

/// A script that starts a tree of six processes and whose main process ignores SIGTERM.
fn tree(scene: &Scene) -> Script {
    let pids = scene.path("pids");
    std::fs::create_dir(&pids).unwrap();
    Script::new()
        .ignore_signals([Signal::Terminate])
        .spawn_tree(pids)
        .then(waiting())
}

/// A second child of a scene, in a folder of its own.
fn scene_spec_of(scene: &Scene, name: &str, script: &Script) -> SpawnSpec {
    let folder = scene.path(name);
    std::fs::create_dir(&folder).unwrap();
    let agent = script.install_in(&folder).unwrap();
    let mut spec = SpawnSpec::new(agent.program);
    spec.args = agent.arguments;
    spec
}

fn assert_all_gone(scene: &Scene) {
    let pids = scene.path("pids");
    assert!(recorded::all(&pids).unwrap().len() >= 6);
    assert_eq!(recorded::alive(&pids).unwrap(), vec![]);
}

async fn report_of(scene: &Scene, isolate: bool) -> Value {
    let mut spec = scene.spec(&Script::new().report());
    if isolate {
        spec = isolated(spec);
    }
    let (bytes, _) = run(spec).await;
    serde_json::from_slice(&bytes).unwrap()
}

/// The states of all processes of the tree, as letters of `/proc`.
fn states(scene: &Scene) -> Vec<char> {
    let all = recorded::all(&scene.path("pids")).unwrap();
    let state = |process: &recorded::Recorded| {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.pid)).unwrap();
        stat.rsplit_once(") ").unwrap().1.chars().next().unwrap()
    };
    all.iter().map(state).collect()
}

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = vec![trial(
        "a_suspension_stops_every_descendant_and_its_end_continues_them",
        |scene| async move {
            let process = spawn_ready(scene.spec(&tree(&scene))).await;
            let suspension = Suspension::begin().await;
            let stopped = states(&scene);
            assert!(stopped.len() >= 6, "{stopped:?}");
            assert!(stopped.iter().all(|state| *state == 'T'), "{stopped:?}");
            // Started while everything is suspended: it is stopped as well.
            let late = spawn(scene_spec_of(&scene, "late", &waiting())).await.unwrap();
            let late_pid = late.control.pid();
            wait_until(|| {
                let stat = std::fs::read_to_string(format!("/proc/{late_pid}/stat")).unwrap();
                stat.contains(") T ")
            })
            .await;
            assert!(suspension.end() > Duration::ZERO);
            wait_until(|| states(&scene).iter().all(|state| *state != 'T')).await;
            for process in [process, late] {
                process.control.kill();
                collect(process).await;
            }
            assert_all_gone(&scene);
        },
    )];
    for (name, isolate) in [("", false), ("_in_a_namespace", true)] {
        trials.push(trial(
            format!("stop_leaves_no_survivor{name}"),
            move |scene| async move {
                let mut spec = scene.spec(&tree(&scene));
                spec.limits.interrupt_grace = Duration::from_millis(50);
                spec.limits.terminate_grace = Duration::from_millis(50);
                let process = spawn_ready(if isolate { isolated(spec) } else { spec }).await;
                process.control.stop();
                let (_, report) = collect(process).await;
                assert_eq!(report.exit, Exit::Cancelled);
                assert_all_gone(&scene);
            },
        ));
        trials.push(trial(
            format!("kill_leaves_no_survivor{name}"),
            move |scene| async move {
                let spec = scene.spec(&tree(&scene));
                let process = spawn_ready(if isolate { isolated(spec) } else { spec }).await;
                process.control.kill();
                let (_, report) = collect(process).await;
                assert_eq!(
                    (report.exit, report.status),
                    (Exit::Cancelled, Some(WaitStatus::Signal(9)))
                );
                assert!(report.survivors_killed >= 5, "{}", report.survivors_killed);
                assert_all_gone(&scene);
            },
        ));
        trials.push(trial(
            format!("exit_leaves_no_survivor{name}"),
            move |scene| async move {
                let pids = scene.path("pids");
                std::fs::create_dir(&pids).unwrap();
                let script = Script::new()
                    .record_process(&pids, "main")
                    .spawn_child(ChildKind::Daemon, &pids)
                    .spawn_child(ChildKind::DoubleFork, &pids)
                    .exit(7);
                let mut spec = scene.spec(&script);
                spec.limits.drain = Duration::from_millis(50);
                let (_, report) = run(if isolate { isolated(spec) } else { spec }).await;
                assert_eq!(report.exit, Exit::Code(7));
                assert_eq!(report.survivors_killed, 2);
                assert_eq!(recorded::alive(&pids).unwrap(), vec![]);
            },
        ));
        trials.push(trial(
            format!("signals_and_codes_come_through{name}"),
            move |scene| async move {
                let script = Script::new()
                    .on_signal(Signal::Interrupt, Script::new().emit("result").exit(5))
                    .then(waiting());
                let spec = scene.spec(&script);
                let process = spawn_ready(if isolate { isolated(spec) } else { spec }).await;
                process.control.interrupt();
                let (bytes, report) = collect(process).await;
                assert_eq!((bytes.as_slice(), report.exit), (&b"result\n"[..], Exit::Code(5)));
            },
        ));
        trials.push(trial(
            format!("a_suspended_child_can_still_terminate{name}"),
            move |scene| async move {
                let script = Script::new()
                    .ignore_signals([Signal::Interrupt])
                    .on_signal(Signal::Terminate, Script::new().emit("ended").exit(0))
                    .emit("ready")
                    .stop_self()
                    .sleep_forever();
                let mut spec = scene.spec(&script);
                spec.limits.interrupt_grace = Duration::from_millis(50);
                let process = spawn_ready(if isolate { isolated(spec) } else { spec }).await;
                process.control.stop();
                let (bytes, report) = collect(process).await;
                assert_eq!(bytes, b"ended\n");
                assert_eq!(report.stopped_by, Some(StopStep::Terminate));
            },
        ));
        trials.push(trial(
            format!("the_child_has_its_three_streams_and_nothing_else{name}"),
            move |scene| async move {
                let report = report_of(&scene, isolate).await;
                let open: Vec<&String> = report["descriptors"].as_object().unwrap().keys().collect();
                assert_eq!(open, ["0", "1", "2"], "{report}");
                assert_eq!(report["pid"], report["process_group"], "{report}");
                assert_eq!(report["pid"], report["session"], "{report}");
            },
        ));
    }
    trials.push(trial(
        "a_closed_output_is_noticed_in_a_namespace_too",
        |scene| async move {
            let mut spec = isolated(scene.spec(&Script::new().emit("bye").close_stdout().sleep_forever()));
            spec.limits.exit_after_end_of_output = Duration::from_millis(100);
            let (bytes, report) = run(spec).await;
            assert_eq!((bytes.as_slice(), report.exit), (&b"bye\n"[..], Exit::TimedOut));
        },
    ));
    trials.push(trial(
        "a_guard_holds_no_descriptor_that_we_inherited",
        |scene| async move {
            use rustix::event::{PollFd, PollFlags, Timespec, poll};
            // Not close-on-exec, like a pipe from the program that started us.
            let (reader, writer) = rustix::pipe::pipe().unwrap();
            let process = spawn_ready(scene.spec(&waiting())).await;
            drop(writer);
            let mut descriptors = [PollFd::new(&reader, PollFlags::IN)];
            let no_wait = Timespec {
                tv_sec: 0,
                tv_nsec: 0,
            };
            poll(&mut descriptors, Some(&no_wait)).unwrap();
            assert!(descriptors[0].revents().contains(PollFlags::HUP));
            process.control.kill();
            collect(process).await;
        },
    ));
    trials.push(trial(
        "an_unresponsive_guard_does_not_save_its_child",
        |scene| async move {
            let mut spec = scene.spec(&tree(&scene));
            spec.marker = Some(Marker::new(VARIABLE, format!("stuck-{}", std::process::id())));
            let process = spawn_ready(spec).await;
            signal_guard_of(process.control.pid(), rustix::process::Signal::STOP);
            process.control.kill();
            let (_, report) = collect(process).await;
            assert_eq!((report.exit, report.status), (Exit::Cancelled, None));
            assert_all_gone(&scene);
        },
    ));
    trials.push(trial(
        "a_shut_down_runtime_takes_its_children_along",
        |scene| async move {
            let spec = scene.spec(&tree(&scene));
            let thread = std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build()
                    .unwrap();
                let process = runtime.block_on(spawn_ready(spec));
                drop(runtime);
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build()
                    .unwrap();
                runtime.block_on(process.exit)
            });
            let report = thread.join().unwrap();
            assert_eq!(report.exit, Exit::Lost);
            recorded::wait_until_gone(&scene.path("pids"), Duration::from_secs(10))
                .unwrap()
                .unwrap();
        },
    ));
    trials.push(trial(
        "a_namespace_shows_the_child_its_own_processes_only",
        |scene| async move {
            let mut spec = agent_process::SpawnSpec::new("/bin/sh");
            spec.args = vec![
                "-c".into(),
                "echo $$; ls /proc | grep -c '^[0-9]*$'; cat /proc/1/comm".into(),
            ];
            spec.cwd = Some(scene.folder().into());
            let (bytes, report) = run(isolated(spec)).await;
            assert_eq!(report.exit, Exit::Code(0));
            let text = String::from_utf8(bytes).unwrap();
            let lines: Vec<&str> = text.lines().collect();
            assert_eq!(lines[0], "2", "the first process after the init");
            assert!(lines[1].parse::<u32>().unwrap() <= 5, "{text}");
            assert_eq!(lines[2], "agent-guard", "the init is a fork of the guard");
        },
    ));
    trials.push(trial(
        "the_guard_neither_changes_privileges_nor_traces",
        |scene| async move {
            let mut spec = agent_process::SpawnSpec::new("/bin/sh");
            let status = "grep -E 'NoNewPrivs|TracerPid|SigBlk|SigIgn|Seccomp:' /proc/self/status";
            spec.args = vec!["-c".into(), status.into()];
            spec.cwd = Some(scene.folder().into());
            let own = std::fs::read_to_string("/proc/self/status").unwrap();
            let (bytes, report) = run(spec).await;
            assert_eq!(report.exit, Exit::Code(0));
            let text = String::from_utf8(bytes).unwrap();
            assert_eq!(text.lines().count(), 5, "{text}");
            for line in text.lines().filter(|line| !line.starts_with("Sig")) {
                assert!(own.contains(line), "{line} differs from the parent's");
            }
            for mask in text
                .lines()
                .filter_map(|line| line.strip_prefix("Sig")?.split_once(':'))
            {
                // The C library keeps signals 32 and 33 to itself; they stay as our own parent left them.
                let standard = u64::from_str_radix(mask.1.trim(), 16).unwrap() & 0x7fff_ffff;
                assert_eq!(standard, 0, "{text}");
            }
        },
    ));
    trials.push(trial(
        "a_process_that_only_looks_like_a_zombie_is_killed",
        |_scene| async move {
            let mut spec = agent_process::SpawnSpec::new(std::env::current_exe().unwrap());
            spec.args = vec![END_FIRST_THREAD.into()];
            let process = spawn_ready(spec).await;
            let pid = process.control.pid();
            process.control.kill();
            let (_, report) = collect(process).await;
            assert_eq!(report.status, Some(WaitStatus::Signal(9)));
            assert_eq!(report.survivors_remaining, 0);
            assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists());
        },
    ));
    trials.push(trial(
        "a_process_that_only_looks_like_a_zombie_is_swept",
        |_scene| async move {
            let marker = Marker::new(VARIABLE, format!("headless-{}", std::process::id()));
            let mut command = std::process::Command::new(std::env::current_exe().unwrap());
            command
                .arg(END_FIRST_THREAD)
                .env(marker.variable(), marker.value());
            let mut child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
            let mut ready = [0_u8; 6];
            std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut ready).unwrap();
            let swept = agent_process::sweep(&marker);
            child.kill().unwrap();
            child.wait().unwrap();
            assert_eq!(swept, 1);
        },
    ));
    trials.push(trial(
        "a_killed_guard_is_noticed_and_its_child_swept",
        |scene| async move {
            let mut spec = scene.spec(&tree(&scene).step(test_support::script::Step::Report));
            let marker = Marker::new(VARIABLE, format!("test-{}", std::process::id()));
            spec.marker = Some(marker.clone());
            let process = spawn_ready(spec).await;
            kill_guard_of(process.control.pid());
            let (_, report) = collect(process).await;
            assert_eq!(report.exit, Exit::Lost);
            assert_all_gone(&scene);
            assert_eq!(agent_process::sweep(&marker), 0);
        },
    ));
    trials.push(trial(
        "a_killed_guard_takes_its_namespace_with_it",
        |scene| async move {
            let spec = isolated(scene.spec(&tree(&scene)));
            let process = spawn_ready(spec).await;
            kill_guard_of(parent_of(process.control.pid()));
            recorded::wait_until_gone(&scene.path("pids"), Duration::from_secs(10))
                .unwrap()
                .unwrap();
            let (_, report) = collect(process).await;
            assert_eq!(report.exit, Exit::Lost);
        },
    ));
    trials.push(trial(
        "sweep_ends_what_carries_the_marker_and_nothing_else",
        |scene| async move {
            let marker = Marker::new(VARIABLE, format!("sweep-{}", std::process::id()));
            let mut children = Vec::new();
            for (variable, value) in [
                (VARIABLE, marker.value()),
                (VARIABLE, "another"),
                ("ANOTHER_VARIABLE", marker.value()),
            ] {
                let mut command = std::process::Command::new("/bin/sleep");
                children.push(command.arg("600").env(variable, value).spawn().unwrap());
            }
            let _ = scene;
            // The marker is visible once the program has replaced the fork.
            wait_until(|| agent_process::sweep(&marker) != 0).await;
            assert!(!children[0].wait().unwrap().success());
            for other in &mut children[1..] {
                assert!(other.try_wait().unwrap().is_none(), "the others must live");
                other.kill().unwrap();
                other.wait().unwrap();
            }
        },
    ));
    trials.push(trial(
        "a_hundred_runs_leave_no_zombie_and_no_descriptor",
        |scene| async move {
            let descriptors = || std::fs::read_dir("/proc/self/fd").unwrap().count();
            let has_guards = || {
                // The children of every thread.
                let threads = std::fs::read_dir("/proc/self/task").unwrap();
                let children: String = threads
                    .map(|thread| thread.unwrap().path().join("children"))
                    .filter_map(|path| std::fs::read_to_string(path).ok())
                    .collect();
                children
                    .split_whitespace()
                    .filter_map(|pid| std::fs::read_to_string(format!("/proc/{pid}/stat")).ok())
                    .any(|stat| stat.contains("(agent-guard)") || stat.contains(") Z "))
            };
            let mut before = 0;
            for round in 0..100 {
                let mut spec = scene.spec(&Script::new().emit("x"));
                spec.raw_log = None;
                let process = spawn(spec).await.unwrap();
                collect(process).await;
                if round == 0 {
                    // The output ends before its guard does.
                    wait_until(|| !has_guards()).await;
                    before = descriptors();
                }
            }
            wait_until(|| !has_guards()).await;
            assert_eq!(descriptors(), before);
        },
    ));
    trials
}

fn parent_of(pid: u32) -> u32 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit_once(") ")
        .unwrap()
        .1
        .split(' ')
        .nth(1)
        .unwrap()
        .parse()
        .unwrap()
}

fn kill_guard_of(pid: u32) {
    signal_guard_of(pid, rustix::process::Signal::KILL);
}

/// The guard is the parent of the process it started.
fn signal_guard_of(pid: u32, signal: rustix::process::Signal) {
    let guard = parent_of(pid);
    let name = std::fs::read_to_string(format!("/proc/{guard}/comm")).unwrap();
    assert_eq!(name.trim(), "agent-guard");
    let pid = rustix::process::Pid::from_raw(i32::try_from(guard).unwrap()).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

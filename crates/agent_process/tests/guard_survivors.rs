//! No process survives a supervisor that is killed with SIGKILL.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use agent_process::{Isolation, Marker, SpawnSpec};
use libtest_mimic::{Arguments, Trial};
use tempfile::TempDir;
use test_support::recorded;
use test_support::script::{Script, Signal};

/// As the first argument, makes this program the supervisor that is killed.
const SUPERVISE: &str = "__supervise";

/// How long the processes of a killed supervisor may live. The benchmark holds us to 500 ms; a loaded machine may take
/// longer.
const GONE_TIMEOUT: Duration = Duration::from_secs(2);

/// Far more than any condition here takes to come true.
const WAIT_TIMEOUT: Duration = Duration::from_secs(30);

const VARIABLE: &str = "AGENT_PROCESS_TEST";

fn main() {
    if std::env::args().any(|argument| argument == "--reexec") {
        agent_process::guard_main_reexec();
    } else {
        agent_process::guard_main();
    }
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.get(1).map(String::as_str) {
        Some("__nested") => nested(),
        Some("__dropped") => dropped(),
        _ => {}
    }
    let is_root = rustix::process::geteuid().is_root();
    if arguments.get(1).is_some_and(|argument| argument == SUPERVISE) {
        supervise(Path::new(&arguments[2]), &arguments);
    }
    let trials = [
        ("a_killed_supervisor_leaves_nobody", &[][..]),
        (
            "a_killed_supervisor_leaves_nobody_with_reexecuted_guards",
            &["--reexec"][..],
        ),
        (
            "a_killed_supervisor_leaves_nobody_in_a_namespace",
            &["--namespace"][..],
        ),
        (
            "a_supervisor_that_is_killed_while_it_is_suspended_leaves_nobody",
            &["--suspended"][..],
        ),
    ]
    .map(|(name, options)| {
        Trial::test(name, move || {
            for round in 0..10 {
                kill_one_supervisor(options, round);
            }
            Ok(())
        })
    });
    // An agent that ends on SIGTERM: the rest of its grace is not waited for.
    let obedient = [
        ("a_long_grace_ends_with_the_agent", &["--obedient"][..]),
        (
            "a_long_grace_ends_with_the_agent_in_a_namespace",
            &["--obedient", "--namespace"][..],
        ),
    ]
    .map(|(name, options)| {
        Trial::test(name, move || {
            kill_one_supervisor(options, 0);
            Ok(())
        })
    });
    let next_start = Trial::test(
        "after_guard_and_supervisor_are_killed_the_next_start_sweeps",
        || {
            sweep_after_everything_was_killed();
            Ok(())
        },
    );
    let unprivileged = Trial::test("an_unprivileged_user_gets_a_namespace_too", || {
        isolate_unprivileged();
        Ok(())
    })
    .with_ignored_flag(!is_root);
    let nested = Trial::test("a_sweep_of_the_run_around_us_spares_our_own_guards", || {
        sweep_from_within();
        Ok(())
    });
    let dropped = Trial::test("a_child_has_the_privileges_of_its_parent_at_the_spawn", || {
        drop_privileges_late();
        Ok(())
    })
    .with_ignored_flag(!is_root);
    let replaced = Trial::test("a_killed_zygote_is_replaced", || {
        kill_the_zygote();
        Ok(())
    });
    let trials = trials
        .into_iter()
        .chain(obedient)
        .chain([next_start, unprivileged, nested, dropped, replaced])
        .collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit()
}

/// Starts the six-process tree in `folder` and then does nothing until it is killed.
fn supervise(folder: &Path, options: &[String]) -> ! {
    let has = |option: &str| options.iter().any(|given| given == option);
    let (namespace, obedient) = (has("--namespace"), has("--obedient"));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut script = Script::new().spawn_tree(folder.join("pids"));
        if obedient {
            script = script.on_signal(Signal::Terminate, Script::new().exit(0));
        }
        let agent = script.emit("ready").sleep_forever().install_in(folder).unwrap();
        let mut spec = SpawnSpec::new(agent.program);
        spec.args = agent.arguments;
        spec.marker = Some(Marker::new(VARIABLE, folder.to_str().unwrap()));
        spec.isolation = if namespace {
            Isolation::PidNamespace
        } else {
            Isolation::None
        };
        if obedient {
            spec.limits.orphan_grace = WAIT_TIMEOUT;
        }
        let mut process = agent_process::spawn(spec).await.unwrap();
        process.output.next_chunk().await.unwrap().unwrap();
        let _suspension = if has("--suspended") {
            Some(agent_process::Suspension::begin().await)
        } else {
            None
        };
        std::fs::write(folder.join("agent.tmp"), process.control.pid().to_string()).unwrap();
        std::fs::rename(folder.join("agent.tmp"), folder.join("agent")).unwrap();
        std::future::pending::<()>().await;
    });
    unreachable!("the future above never ends")
}

/// Polls a condition that another process makes true, for at most [`WAIT_TIMEOUT`].
fn wait_until<T>(what: &str, mut condition: impl FnMut() -> Option<T>) -> T {
    let deadline = std::time::Instant::now() + WAIT_TIMEOUT;
    loop {
        if let Some(value) = condition() {
            return value;
        }
        assert!(std::time::Instant::now() < deadline, "timed out: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn start_supervisor(folder: &Path, options: &[&str]) -> Child {
    std::fs::create_dir(folder.join("pids")).unwrap();
    wait_for_supervisor(folder, options, Command::new(std::env::current_exe().unwrap()))
}

fn wait_for_supervisor(folder: &Path, options: &[&str], mut command: Command) -> Child {
    command
        .arg(SUPERVISE)
        .arg(folder)
        .args(options)
        .stdin(Stdio::null());
    let mut supervisor = command.spawn().unwrap();
    wait_until("the agent runs", || {
        assert!(
            supervisor.try_wait().unwrap().is_none(),
            "the supervisor must not end by itself"
        );
        folder.join("agent").exists().then_some(())
    });
    assert!(recorded::alive(&folder.join("pids")).unwrap().len() >= 6);
    supervisor
}

fn kill_one_supervisor(options: &[&str], round: usize) {
    let folder = TempDir::with_prefix("survivors-").unwrap();
    let mut supervisor = start_supervisor(folder.path(), options);
    supervisor.kill().unwrap();
    let gone = recorded::wait_until_gone(&folder.path().join("pids"), GONE_TIMEOUT).unwrap();
    assert!(gone.is_ok(), "round {round}: alive: {gone:?}");
    supervisor.wait().unwrap();
}

fn sweep_after_everything_was_killed() {
    let folder = TempDir::with_prefix("survivors-").unwrap();
    let mut supervisor = start_supervisor(folder.path(), &[]);
    let agent: u32 = std::fs::read_to_string(folder.path().join("agent"))
        .unwrap()
        .parse()
        .unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{agent}/stat")).unwrap();
    let guard: i32 = stat
        .rsplit_once(") ")
        .unwrap()
        .1
        .split(' ')
        .nth(1)
        .unwrap()
        .parse()
        .unwrap();
    // Stopped first, so that it cannot notice the guard's death and sweep by itself.
    let own = rustix::process::Pid::from_child(&supervisor);
    rustix::process::kill_process(own, rustix::process::Signal::STOP).unwrap();
    let guard = rustix::process::Pid::from_raw(guard).unwrap();
    rustix::process::kill_process(guard, rustix::process::Signal::KILL).unwrap();
    supervisor.kill().unwrap();
    supervisor.wait().unwrap();
    let pids = folder.path().join("pids");
    assert!(
        !recorded::alive(&pids).unwrap().is_empty(),
        "without a guard some survive"
    );
    assert!(agent_process::sweep(&Marker::new(VARIABLE, folder.path().to_str().unwrap())) >= 5);
    assert!(
        recorded::wait_until_gone(&pids, Duration::from_secs(1))
            .unwrap()
            .is_ok()
    );
}

/// The same with the privileges of nobody, in a user namespace; only root can take on another user here.
fn isolate_unprivileged() {
    const NOBODY: u32 = 65_534;
    // Everything it executes must be where that user can reach it.
    let folder = TempDir::with_prefix("survivors-").unwrap();
    let own = std::env::current_exe().unwrap();
    for (program, name) in [
        (own, "supervisor"),
        (test_support::bin("fake_claude").unwrap(), "fake_claude"),
    ] {
        std::fs::copy(program, folder.path().join(name)).unwrap();
    }
    std::fs::create_dir(folder.path().join("pids")).unwrap();
    for path in [folder.path().to_owned(), folder.path().join("pids")] {
        std::os::unix::fs::chown(&path, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let mut command = Command::new(folder.path().join("supervisor"));
    command.uid(NOBODY).gid(NOBODY).current_dir("/");
    let mut supervisor = wait_for_supervisor(folder.path(), &["--namespace"], command);
    supervisor.kill().unwrap();
    let gone = recorded::wait_until_gone(&folder.path().join("pids"), GONE_TIMEOUT).unwrap();
    assert!(gone.is_ok(), "alive: {gone:?}");
    supervisor.wait().unwrap();
}

/// Runs a shell line to its end and gives what it printed.
fn run_line(line: &str) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut spec = SpawnSpec::new("/bin/sh");
        spec.args = vec!["-c".into(), line.into()];
        let mut process = agent_process::spawn(spec).await.unwrap();
        let mut text = Vec::new();
        while let Some(chunk) = process.output.next_chunk().await {
            text.extend_from_slice(&chunk.unwrap());
        }
        assert!(process.exit.await.exit.success());
        String::from_utf8(text).unwrap()
    })
}

/// In a process that was itself started in a run: sweeps that run while a child of its own lives.
fn nested() -> ! {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let swept = runtime.block_on(async {
        let mut spec = SpawnSpec::new("/bin/sh");
        spec.args = vec!["-c".into(), "echo ready; read line; echo $line".into()];
        spec.stdin = agent_process::StdinMode::Piped;
        spec.marker = Some(Marker::new(VARIABLE, "inner"));
        let mut process = agent_process::spawn(spec).await.unwrap();
        process.output.next_chunk().await.unwrap().unwrap();
        let swept = agent_process::sweep(&Marker::new(VARIABLE, std::env::var(VARIABLE).unwrap()));
        drop(process.stdin.take());
        while process.output.next_chunk().await.is_some() {}
        assert!(
            matches!(process.exit.await.exit, agent_process::Exit::Code(_)),
            "the child must not be lost"
        );
        swept
    });
    assert_eq!(
        agent_process::capabilities().guard,
        agent_process::GuardKind::Forked
    );
    std::process::exit(i32::try_from(swept).unwrap())
}

fn sweep_from_within() {
    let marker = format!("outer-{}", std::process::id());
    let mut command = Command::new(std::env::current_exe().unwrap());
    let status = command.arg("__nested").env(VARIABLE, marker).status().unwrap();
    assert_eq!(status.code(), Some(0), "nobody else carries the outer marker");
}

/// In a process that gives up being root after `guard_main`.
fn dropped() -> ! {
    let nobody = rustix::process::Uid::from_raw(65_534);
    rustix::thread::set_thread_res_uid(nobody, nobody, nobody).unwrap();
    let user = run_line("id -u");
    std::process::exit(i32::from(user.trim() != "65534"))
}

fn drop_privileges_late() {
    // The executable is started again, so it must be where that user can reach it.
    let folder = TempDir::with_prefix("survivors-").unwrap();
    let program = folder.path().join("dropper");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    std::os::unix::fs::chown(folder.path(), Some(65_534), Some(65_534)).unwrap();
    let status = Command::new(program)
        .arg("__dropped")
        .current_dir("/")
        .status()
        .unwrap();
    assert_eq!(
        status.code(),
        Some(0),
        "the child ran with the privileges of before"
    );
}

fn kill_the_zygote() {
    assert_eq!(
        agent_process::capabilities().guard,
        agent_process::GuardKind::Forked
    );
    let own = std::process::id();
    // It takes its name a moment after the fork.
    let zygote = wait_until("the zygote has its name", || {
        let children = std::fs::read_to_string(format!("/proc/{own}/task/{own}/children")).unwrap();
        let name = |pid: &str| std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        let zygote = children
            .split_whitespace()
            .find(|pid| name(pid).trim() == "agent-zygote")?;
        rustix::process::Pid::from_raw(zygote.parse().unwrap())
    });
    rustix::process::kill_process(zygote, rustix::process::Signal::KILL).unwrap();
    wait_until("the zygote is gone", || {
        (agent_process::capabilities().guard != agent_process::GuardKind::Forked).then_some(())
    });
    assert_eq!(run_line("echo alive"), "alive\n");
}

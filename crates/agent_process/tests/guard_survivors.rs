//! Nothing survives a supervisor that is killed: the one thing no destructor can see to.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use agent_process::{Isolation, SpawnSpec};
use libtest_mimic::{Arguments, Trial};
use tempfile::TempDir;
use test_support::recorded;
use test_support::script::{Script, Signal};

/// The first argument that makes this program the supervisor to be killed.
const SUPERVISE: &str = "__supervise";

/// What is promised; a machine under load gets some more in this test, the benchmark measures.
const PROMISED: Duration = Duration::from_millis(500);

fn main() {
    if std::env::args().any(|argument| argument == "--reexec") {
        agent_process::guard_main_reexec();
    } else {
        agent_process::guard_main();
    }
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.get(1).is_some_and(|argument| argument == SUPERVISE) {
        supervise(
            Path::new(&arguments[2]),
            arguments.iter().any(|argument| argument == "--namespace"),
        );
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
    ]
    .map(|(name, options)| {
        Trial::test(name, move || {
            for round in 0..10 {
                kill_one_supervisor(options, round);
            }
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
    });
    let trials = trials.into_iter().chain([next_start, unprivileged]).collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit()
}

/// Starts the six-process tree in `folder` and then does nothing until it is killed.
fn supervise(folder: &Path, namespace: bool) -> ! {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let script = Script::new()
            .ignore_signals([Signal::Terminate])
            .spawn_tree(folder.join("pids"));
        let agent = script.emit("ready").sleep_forever().install_in(folder).unwrap();
        let mut spec = SpawnSpec::new(agent.program);
        spec.args = agent.arguments;
        spec.marker = Some(folder.to_str().unwrap().to_owned());
        spec.isolation = if namespace {
            Isolation::PidNamespace
        } else {
            Isolation::None
        };
        let mut process = agent_process::spawn(spec).await.unwrap();
        process.output.next_chunk().await.unwrap().unwrap();
        std::fs::write(folder.join("agent.tmp"), process.control.pid().to_string()).unwrap();
        std::fs::rename(folder.join("agent.tmp"), folder.join("agent")).unwrap();
        std::future::pending::<()>().await;
    });
    unreachable!("the future above never ends")
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
    while !folder.join("agent").exists() {
        assert!(
            supervisor.try_wait().unwrap().is_none(),
            "the supervisor must not end by itself"
        );
        std::thread::yield_now();
    }
    assert!(recorded::alive(&folder.join("pids")).unwrap().len() >= 6);
    supervisor
}

fn kill_one_supervisor(options: &[&str], round: usize) {
    let folder = TempDir::with_prefix("survivors-").unwrap();
    let mut supervisor = start_supervisor(folder.path(), options);
    supervisor.kill().unwrap();
    let gone = recorded::wait_until_gone(&folder.path().join("pids"), 4 * PROMISED).unwrap();
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
        "without a guard somebody survives"
    );
    assert!(agent_process::sweep(folder.path().to_str().unwrap()) >= 5);
    assert!(
        recorded::wait_until_gone(&pids, Duration::from_secs(1))
            .unwrap()
            .is_ok()
    );
}

/// The same with the privileges of nobody, in a user namespace; only root can take on another user here.
fn isolate_unprivileged() {
    const NOBODY: u32 = 65_534;
    if !rustix::process::geteuid().is_root() {
        return;
    }
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
    let gone = recorded::wait_until_gone(&folder.path().join("pids"), 4 * PROMISED).unwrap();
    assert!(gone.is_ok(), "alive: {gone:?}");
    supervisor.wait().unwrap();
}

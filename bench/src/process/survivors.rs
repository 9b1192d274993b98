//! Who is left after a supervisor, or a guard, is killed.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use agent_process::{Isolation, Marker, SpawnSpec};
use test_support::recorded;
use test_support::script::{Script, Signal};

use super::{Folder, explain, milliseconds, percentile, runtime};
use crate::arguments::Arguments;

const LIMIT: Duration = Duration::from_secs(10);
const MARKER_VARIABLE: &str = "RALPH_BENCH_ID";

/// The process that gets killed: starts the six-process tree and waits.
pub fn supervise(mut given: impl Iterator<Item = String>) -> Result<(), String> {
    let folder = std::path::PathBuf::from(given.next().ok_or("the folder is missing")?);
    let isolated = given.next().is_some_and(|option| option == "namespace");
    runtime()?.block_on(async {
        let mut process = agent_process::spawn(tree(&folder, isolated)?)
            .await
            .map_err(explain)?;
        process.output.next_chunk().await;
        std::fs::write(folder.join("ready.tmp"), process.control.pid().to_string()).map_err(explain)?;
        std::fs::rename(folder.join("ready.tmp"), folder.join("ready")).map_err(explain)?;
        process.exit.await;
        Ok(())
    })
}

fn tree(folder: &Path, isolated: bool) -> Result<SpawnSpec, String> {
    let script = Script::new()
        .ignore_signals([Signal::Terminate])
        .spawn_tree(folder.join("pids"));
    let agent = script
        .emit("ready")
        .sleep_forever()
        .install_in(folder)
        .map_err(explain)?;
    let mut spec = SpawnSpec::new(agent.program);
    spec.args = agent.arguments;
    spec.marker = folder.to_str().map(|folder| Marker::new(MARKER_VARIABLE, folder));
    spec.isolation = if isolated {
        Isolation::PidNamespace
    } else {
        Isolation::None
    };
    Ok(spec)
}

fn start(folder: &Folder, option: &str) -> Result<Child, String> {
    std::fs::create_dir(folder.path("pids")).map_err(explain)?;
    let mut command = Command::new(std::env::current_exe().map_err(explain)?);
    command
        .arg("__supervise")
        .arg(&folder.0)
        .arg(option)
        .stdin(Stdio::null());
    let child = command.spawn().map_err(explain)?;
    let deadline = Instant::now() + LIMIT;
    while !folder.path("ready").exists() {
        if Instant::now() > deadline {
            return Err("the supervisor did not start".into());
        }
        std::thread::yield_now();
    }
    Ok(child)
}

/// One round: how many survived, and after how many milliseconds all were gone.
fn round(
    number: usize,
    option: &str,
    end: &dyn Fn(&Folder, &mut Child) -> Result<(), String>,
) -> Result<(usize, f64), String> {
    let folder = Folder::new(&format!("survivors-{number}"))?;
    let mut supervisor = start(&folder, option)?;
    let start = Instant::now();
    end(&folder, &mut supervisor)?;
    let gone = recorded::wait_until_gone(&folder.path("pids"), LIMIT).map_err(explain)?;
    let took = milliseconds(start.elapsed());
    let _ = supervisor.kill();
    let _ = supervisor.wait();
    let left = gone.err().map_or(0, |left| left.len());
    let _ = agent_process::sweep(&Marker::new(MARKER_VARIABLE, folder.0.to_string_lossy()));
    Ok((left, took))
}

fn kill_supervisor(_: &Folder, supervisor: &mut Child) -> Result<(), String> {
    supervisor.kill().map_err(explain)
}

/// Kills the guard while the supervisor is held still, so that it cannot help.
fn kill_guard(folder: &Folder, supervisor: &mut Child, levels: usize) -> Result<(), String> {
    use rustix::process::{Pid, Signal as Kill, kill_process};
    kill_process(Pid::from_child(supervisor), Kill::STOP).map_err(explain)?;
    let mut pid = std::fs::read_to_string(folder.path("ready")).map_err(explain)?;
    for _ in 0..levels {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).map_err(explain)?;
        pid = stat
            .rsplit_once(") ")
            .and_then(|(_, fields)| fields.split(' ').nth(1))
            .ok_or("no parent")?
            .to_owned();
    }
    let guard = pid.parse().ok().and_then(Pid::from_raw).ok_or("no guard")?;
    kill_process(guard, Kill::KILL).map_err(explain)
}

fn kill_guard_then_sweep(folder: &Folder, supervisor: &mut Child) -> Result<(), String> {
    kill_guard(folder, supervisor, 1)?;
    supervisor.kill().map_err(explain)?;
    // The next start.
    let _ = agent_process::sweep(&Marker::new(MARKER_VARIABLE, folder.0.to_string_lossy()));
    Ok(())
}

fn stop(_: &Folder, supervisor: &mut Child) -> Result<(), String> {
    // A terminal's way out: the guard sees the socket close and ends the family before anything else.
    let pid = rustix::process::Pid::from_child(supervisor);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).map_err(explain)
}

pub fn run(given: impl Iterator<Item = String>) -> Result<(), String> {
    let arguments = Arguments::parse(given, &["rounds"])?;
    let rounds = arguments.number("rounds", 100)?;
    println!("\n## Survivors of a six-process tree, {rounds} rounds each\n");
    println!("| what was killed | rounds without survivors | p50 ms | max ms |\n|---|---:|---:|---:|");
    let cases: [(&str, &str, &dyn Fn(&Folder, &mut Child) -> Result<(), String>); 5] = [
        ("the supervisor (kill -9)", "", &kill_supervisor),
        (
            "the supervisor (kill -9), namespace",
            "namespace",
            &kill_supervisor,
        ),
        ("the guard, namespace", "namespace", &|folder, supervisor| {
            kill_guard(folder, supervisor, 2)
        }),
        (
            "guard and supervisor, then the next start sweeps",
            "",
            &kill_guard_then_sweep,
        ),
        ("the supervisor (SIGTERM)", "", &stop),
    ];
    for (name, option, end) in cases {
        let mut times = Vec::new();
        let mut clean = 0;
        for number in 0..rounds {
            let (left, took) = round(number, option, end)?;
            clean += usize::from(left == 0);
            times.push(took);
        }
        let (half, most) = (percentile(&mut times, 50), percentile(&mut times, 100));
        println!("| {name} | {clean} of {rounds} | {half:.0} | {most:.0} |");
    }
    Ok(())
}
